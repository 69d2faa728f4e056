#!/bin/sh
# --root with a tree that somebody hostile made, and with what of the machine no bind may
# open.
. "$(dirname "$0")/guard.sh"
. "$SRC/tests/behave/guard/root.sh"

plant bare
mkdir bare/usr tree/usr tree/dev tree/proc tree/tmp tree/etc tree/work tree/srv tree/srv/deep tree/var
echo "the tree's" >tree/etc/passwd
mkdir tree/work/sub project project/sub
echo here >project/file

# While a root is entered the host's lies on it, and is what ".." finds there.
mkdir host
echo secret >host/secret
mkdir -p "tree/$W/host"
echo "the tree's" >"tree/$W/host/own"
ln -s "../../../../../../../../..$W/host" tree/dots
ln -s "../..$W/host" tree/srv/deep/dots
ln -s ../etc/passwd tree/srv/passwd
ln -s "../$(basename "$T")-nowhere" tree/gone
is "control: from outside such a link leads to the host's" "$(cd tree && cat "dots/secret")" secret
for link in /dots /srv/deep/dots; do
	shows "--cwd through $link stays within" own --cwd "$link" -- ls
	shows "--rw through it does" ENOENT --rw "$link" -- guard_try open "$link/secret"
	within --rw "$link" -- sh -c ': >"$1/made"' - "$link"
	ok "what is written through it is the tree's" test -e "tree/$W/host/made" -a ! -e host/made
	rm -f "tree/$W/host/made"
	shows "--tmpfs through it does" "" --tmpfs "$link" -- ls "$link"
	shows "--overlay through it does" own --overlay "$link" -- ls "$link"
	shows "a bind on it does" file --ro-bind project/file:"$link/own" -- sh -c 'read x <"$1/own" && [ "$x" = here ] && echo file' - "$link"
done
shows "--cwd with dots of its own" own --cwd "/work/../..$W/host" -- ls
shows "--deny through a short one holds within" EACCES --deny /srv/passwd -- guard_try open /etc/passwd
exits "one that leads nowhere within is refused" 125 within --rw /gone -- true
is "the host's folder is as it was" "$(ls -A host)" secret

# A file is made in the place of a folder, in memory.
bare() {
	PATH=$PATH:/build/test fence-guard exec --root bare $B "$@"
}
is "a file in the root itself, which lacks it" "$(bare --ro-bind "project/file:/$(basename "$T")" -- cat "/$(basename "$T")" 2>&1)" here
ok "is not made in the host's" test ! -e "/$(basename "$T")"

# What is found on the host has the name that it has inside, also where a link leads there.
ln -s /srv/deep tree/link
exits "control: a placeholder in a bound folder" 0 within --bind project:/work --protect /work/new/x -- true
ok "goes" test ! -e project/new
shows "through a link it is one, too" "Read-only file system" --bind project:/link --protect /link/new/x -- sh -c \
	'mkdir /srv/deep/new/x 2>&1 | sed "s/.*: //"'
ok "and goes as well" test ! -e project/new
shows "likewise where a later bind covers an earlier one" "Read-only file system" --bind host:/work/sub --bind project:/work \
	--protect /work/sub/new/x -- sh -c 'mkdir /work/sub/new/x 2>&1 | sed "s/.*: //"'
ok "it goes as well" test ! -e project/sub/new
if [ "$ROOT" = yes ]; then
	registry=/var/lib/fenceline
else
	registry=/var/tmp/fenceline-$(id -u)
fi
for dest in /work /link; do
	shows "the registry of placeholders cannot be looked at by way of $dest" EACCES --bind "$(dirname $registry):$dest" -- \
		guard_try open "$dest/$(basename $registry)"
done

# What --rw cannot open in the machine's own root comes in to be read alone.
closed=EACCES
[ "$ROOT" = no ] || closed=EROFS
core=$(cat /proc/sys/kernel/core_pattern)
shows "control: the machine's /proc comes in to be read" EROFS --ro-bind /proc:/work -- guard_try write /work/self/comm
refuses "but not to be written" "let /work be written: it is of the machine's /proc; use --ro-bind" within --bind /proc:/work -- true
refuses "nor a part of it" "let /work be written: it is of the machine's /proc; use --ro-bind" within --bind /proc/sys:/work -- true
refuses "nor by a rule" "let /work/sys be written: it is of the machine's /proc; use --ro-bind" \
	within --ro-bind /proc:/work --rw /work/sys -- true
refuses "the machine's root does not either" "let /work be written: it is the machine's root; use --ro-bind" within --bind /:/work -- true
shows "control: but to be read" EROFS --ro-bind /:/work -- guard_try write /work/proc/self/comm
shows "nor does the command work in the machine's /proc" $closed --ro-bind /:/work --cwd /work/proc/sys/kernel -- guard_try write core_pattern
shows "nor in its /sys" $closed --ro-bind /sys:/work --cwd /work/kernel -- guard_try write profiling
is "the setting is as it was" "$(cat /proc/sys/kernel/core_pattern)" "$core"
refuses "nothing is brought in over the root itself" "mount on /: it is the root itself" within --bind project:/ -- true
refuses "by whatever name" "mount on /work/..: it is the root itself" within --ro-bind project:/work/.. -- true
refuses "the option is named that was used" "--ro-bind nope: No such file or directory" within --ro-bind nope:/work -- true

# A policy's words are told with the place of the guilty one, also when others come after it.
cat >policy.yaml <<YAML
version: 1
profiles:
  proc:
    root: $W/tree
    files: {bind: ["/proc:/work"],
      ro: [/etc]}
  link:
    root: $W/tree
    files: {bind: ["$W/project:/work"],
      ro: [/work/planted, /etc]}
YAML
ln -s /etc project/planted
refuses "a bind of the policy" "policy.yaml:5:20: let /work be written: it is of the machine's /proc; use --ro-bind" \
	fence-guard exec --policy policy.yaml --profile proc -- true
refuses "a link" \
	"policy.yaml:10:12: /work/planted leads through the link /work/planted: a confined command could have put it there; name what it leads to" \
	fence-guard exec --policy policy.yaml --profile link -- true
rm project/planted

# What would have to be made in memory is bounded.
cp -a tree many
binds=
for n in 1 2 3 4 5 6 7 8; do
	mkdir many/$n
	binds="$binds --ro-bind project:/$n/x"
done
refuses "eight folders beside the root that lack a place" "make a place for /8/x: too many folders lack one; create $W/many/8/x" \
	fence-guard exec --root many $B $binds -- true
rmdir many/dev
(cd many && seq 100 612 | xargs touch)
refuses "a root with too many entries" "make places in a copy of many: it has too many entries; create dev, proc and tmp in it" \
	fence-guard exec --root many $B -- true
rm -r many

# Places of the tree that are no folders.
hostile() {
	hostile_name=$1
	rm -rf bad
	cp -a tree bad
	rm -r "bad/$hostile_name"
	shift
	"$@"
}
for name in dev proc; do
	for what in "ln -s /work bad/$name" "ln -s ../../../$name bad/$name" "mkfifo bad/$name" "touch bad/$name"; do
		hostile $name $what
		refuses "a hostile $name: $what" "mount on /$name of the root: it must be a folder" \
			fence-guard exec --root bad $B -- true
	done
done
hostile tmp mkfifo bad/tmp
refuses "a pipe for tmp" "mount on /tmp: Not a directory" fence-guard exec --root bad $B -- true
hostile tmp ln -s ../../../../work bad/tmp
is "a link for tmp leads within" "$(fence-guard exec --root bad $B -- sh -c ': >/tmp/x && ls /work' 2>&1)" x
is "and nothing is written to the tree" "$(ls bad/work)" sub
rm -rf bad
done_testing
