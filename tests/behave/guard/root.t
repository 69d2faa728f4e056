#!/bin/sh
# --root: a folder of the host is the command's /, and the host's is out of reach.
. "$(dirname "$0")/guard.sh"
. "$SRC/tests/behave/guard/root.sh"

mkdir tree/dev tree/proc tree/tmp tree/etc tree/usr tree/home tree/home/me tree/work tree/run tree/var
echo "the tree's" >tree/etc/passwd
echo secret >tree/etc/shadow
mkdir tree/home/me/.ssh tree/home/me/sub
echo key >tree/home/me/.ssh/id
mkdir project outside
echo here >project/file
echo host >outside/secret
HOME=/home/me
export HOME
BUILD=$FENCE_BUILD

photo() {
	find tree project outside -exec ls -lidn --time-style=full-iso {} + | sha1sum
}
before=$(photo)

is "control: the host's /etc/passwd is another one" "$(fence-guard exec -- grep -c "the tree" /etc/passwd)" 0
shows "the root is the folder" "the tree's" -- cat /etc/passwd
shows "where the command begins" / -- pwd
shows "of the host nothing else is there" "ENOENT" -- guard_try open "$W/outside/secret"
shows "no way up leads to it" "bin" -- sh -c 'cd /; cd ../../../..; echo bin*'
shows "nor by the process's own root" "bin" -- sh -c 'cd -P /proc/self/root/.. && echo bin*'
shows "nor by that of process 1" EACCES -- guard_try open /proc/1/root
is "nor by an open descriptor (3 is the list itself)" "$(within -- ls /proc/self/fd 2>&1 | xargs)" "0 1 2 3"
shows "its mounts have the root once" 1 -- sh -c 'cut -d" " -f5 /proc/self/mountinfo | grep -cx /'
shows "nothing can be written: the root" EROFS -- guard_try write /etc/passwd
within -- sh -c 'for f in / /etc /home/me /usr /work /var /build; do : >$f/x; done' 2>/dev/null
is "nor anywhere else of it" "$(photo)" "$before"
shows "but in a private /tmp" "mine" -- sh -c 'echo mine >/tmp/x; cat /tmp/x'
shows "which is not the tree's" "" --ro-bind project:/work -- ls -A /tmp
shows "/dev is the small one" "$(guard -- sh -c 'ls /dev | xargs')" -- sh -c 'ls /dev | xargs'
shows "and works" ok -- sh -c 'echo >/dev/null && head -c 1 /dev/zero >/dev/null && echo ok'
shows "/proc has the command's own processes alone" "1 2" -- sh -c 'cd /proc && echo [0-9]*'
shows "secrets are those of the tree, masked: the home folder's" EACCES -- guard_try open /home/me/.ssh
shows "and the passwords" EACCES -- guard_try open /etc/shadow

exits "the command is looked up in the tree" 127 within -- "$(command -v fence-guard)"
exits "by PATH, too" 127 within -- nonesuch
mkdir tree/home/me/bin
echo '#!/bin/sh
echo from the tree' >tree/home/me/bin/tool
is "a file that cannot be executed is 126" "$(within -- /home/me/bin/tool 2>/dev/null; echo $?)" 126
chmod 755 tree/home/me/bin/tool
PATH_BEFORE=$PATH
PATH=/home/me/bin:$PATH
shows "PATH is kept, and is about the tree" "from the tree" -- tool
PATH=$PATH_BEFORE
exits "its status comes back" 7 within -- sh -c 'exit 7'

# Paths of rules are the command's.
shows "--rw opens a folder of the tree" ok --rw /home/me -- sh -c 'echo made >/home/me/made && echo ok'
is "which is the host's" "$(cat tree/home/me/made)" made
shows "where secrets stay masked" EACCES --rw /home/me -- guard_try open /home/me/.ssh
shows "--cwd too, and is worked in" "/home/me/sub ok" --cwd /home/me/sub -- sh -c 'echo x >y && echo $PWD ok'
shows "relative paths are relative to it" ok --cwd /home/me --deny sub/y -- \
	sh -c 'cat sub/y 2>/dev/null || echo ok'
shows "--deny" EACCES --deny /etc/passwd -- guard_try open /etc/passwd
shows "--tmpfs" ok --tmpfs /var -- sh -c 'echo x >/var/x && echo ok'
shows "--overlay" "ok" --overlay /etc -- sh -c 'echo x >/etc/passwd && echo ok'
is "which changes nothing" "$(cat tree/etc/passwd)" "the tree's"
shows "--protect inside of what can be written" EROFS --rw /home/me --protect /home/me/made -- guard_try write /home/me/made
mkdir tree/home/me/.git tree/home/me/.git/hooks tree/home/me/.claude
echo '{}' >tree/home/me/.claude/settings.json
shows "what is protected unnamed is so there as well" EROFS --rw /home/me -- guard_try write /home/me/.claude/settings.json
shows "a protected path that is missing gets a placeholder" no --rw /home/me --protect /home/me/new/x -- \
	sh -c 'mkdir -p /home/me/new/x 2>/dev/null || echo no'
ok "which is removed from the tree" test ! -e tree/home/me/new
exits "a rule about what the tree lacks is refused" 125 within --rw "$W/project" -- true
exits "also when the host has it" 125 within --ro "$W/project" -- true

# Links of the tree lead within it.
ln -s /etc/passwd tree/home/me/absolute
ln -s ../../../../../../../../../etc/passwd tree/home/me/dots
ln -s "$W/outside" tree/home/me/out
shows "an absolute link leads within" "the tree's" -- cat /home/me/absolute
shows "one with dots, too" "the tree's" -- cat /home/me/dots
exits "a rule through one that leads out finds nothing" 125 within --rw /home/me/out -- true
is "and says where" "$(cat "$T/err")" "fence-guard: --rw /home/me/out: No such file or directory; create it first"
ln -s /home/me/sub tree/link
shows "a rule through one that leads within holds for what it names" ok --rw /link -- \
	sh -c 'echo z >/home/me/sub/z && echo ok'
exits "but not through one that the command could have put there" 125 within --rw /home/me --rw /home/me/absolute -- true

# What is brought in.
shows "--ro-bind brings a folder in" here --ro-bind project:/work -- cat /work/file
shows "to be read alone" EROFS --ro-bind project:/work -- guard_try write /work/file
shows "--bind to be written" ok --bind project:/work --cwd /work -- sh -c 'echo new >made && echo ok'
is "as on the host" "$(cat project/made)" new
mkdir colon:
echo name >colon:/x
shows "the last :/ is the colon between" name --ro-bind "colon:/x:/etc/passwd" -- cat /etc/passwd
shows "a file, too" here --ro-bind project/file:/etc/passwd -- cat /etc/passwd
shows "also below /tmp" here --ro-bind project:/tmp/p -- cat /tmp/p/file
refuses "a file does not go on a folder" "mount on /work: Is a directory" within --ro-bind project/file:/work -- true
refuses "a source that is missing" "--bind nope: No such file or directory" within --bind nope:/work -- true
refuses "no DEST" "--bind project: not of the form SOURCE:DEST; DEST is absolute: --bind .:/work" within --bind project -- true
refuses "no root" "--bind project:/work: it takes a root of the command's own; use --root, or --rw or --ro for a path as it is" \
	fence-guard exec --bind project:/work -- true
mkdir "$T/home" "$T/home/.ssh" "$T/home/.aws"
echo key >"$T/home/.ssh/id"
ln -s "$T/home" "$T/home.link"
is "the caller's secrets are masked by whatever name they come in" \
	"$(HOME=$T/home within --bind "$T/home:/work" -- guard_try open /work/.ssh 2>&1)" EACCES
is "also when HOME is a link" "$(HOME=$T/home.link within --bind "$T/home:/work" -- guard_try open /work/.ssh 2>&1)" EACCES
is "but for who names them" "$(HOME=$T/home within --ro-bind "$T/home/.ssh:/work" -- cat /work/id 2>&1)" key
ln -s "$T/home" project/planted
refuses "a source through a link that an earlier command could have put there is refused" \
	"project/planted leads through the link /work/planted: a confined command could have put it there; name what it leads to" \
	within --bind project:/work --bind project/planted:/var -- true
rm project/planted

# Places that the tree lacks are made in memory.
before=$(photo)
plant bare
mkdir bare/usr bare/mnt
echo there >bare/mnt/file
bare() {
	PATH=$PATH:/build/test fence-guard exec --root bare $B "$@"
}
is "a tree without dev, proc and tmp works" "$(bare -- sh -c 'echo x >/tmp/x; ls / | grep -c -e dev -e proc -e tmp' 2>&1)" 3
is "and stays read-only" "$(bare -- sh -c ': >/x' 2>/dev/null || echo no)" no
is "a missing DEST is made, with what is above it" "$(bare --bind project:/a/b/c -- sh -c 'cat /a/b/c/file; echo more >/a/b/c/more' 2>&1)" here
is "and is the host's all the same" "$(cat project/more)" more
is "also beside what is there" "$(bare --ro-bind project:/mnt/p -- sh -c 'cat /mnt/file /mnt/p/file | xargs' 2>&1)" "there here"
is "for a file, too" "$(bare --ro-bind project/file:/etc/x -- cat /etc/x 2>&1)" here
is "nothing of it is on the host" "$(cd bare && echo *)" "$(ls bare | xargs)"
ok "nor below" test ! -e bare/mnt/p -a ! -e bare/a -a ! -e bare/dev
refuses "what is made in memory cannot be opened for writing: it would be lost" \
	"let /mnt be written: it is not there, or something in it is not that a mount goes to; create it on the host" \
	bare --ro-bind project:/mnt/p --rw /mnt -- true
refuses "nor can a folder above it" \
	"let /a be written: it is not there, or something in it is not that a mount goes to; create it on the host" \
	bare --ro-bind project:/a/b --rw /a -- true
rm -f project/more
mkdir bare/many
(cd bare/many && seq 513 | xargs touch)
refuses "a folder with too many entries is not taken" \
	"make a place for /many/x: the folder that it would be in has too many entries; create $W/bare/many/x" \
	bare --ro-bind project:/many/x -- true
rm -r bare/many

# A repository that is brought in is protected, or a copy, as it is in place.
if command -v git >/dev/null; then
	git init -q repo
	echo "[core]" >>repo/.git/config
	config=$(cat repo/.git/config)
	within --bind repo:/work --cwd /work -- sh -c 'echo "fsmonitor = evil" >>.git/config; mkdir -p .git/hooks; echo x >.git/hooks/post-commit' 2>/dev/null
	is "git's settings stay as they were" "$(cat repo/.git/config)" "$config"
	ok "and no hook is there" test ! -e repo/.git/hooks/post-commit
fi

# The folder itself.
is "a trailing slash" "$(PATH=$PATH:/build/test fence-guard exec --root tree/ $B -- cat /etc/passwd 2>&1)" "the tree's"
ln -s tree tree.link
is "a link to it" "$(fence-guard exec --root tree.link $B -- cat /etc/passwd 2>&1)" "the tree's"
odd=$(printf 'a b\n\\ :\377')
for name in "$odd" "-rf" "--" "~"; do
	mv -- tree "./$name"
	is "a hostile name" "$(fence-guard exec "--root=$name" $B -- cat /etc/passwd 2>&1)" "the tree's"
	mv -- "./$name" tree
done
refuses "a folder that is missing" "--root nope: No such file or directory" fence-guard exec --root nope -- true
refuses "a file" "--root project/file: Not a directory" fence-guard exec --root project/file -- true
refuses "an empty name" "--root : No such file or directory" fence-guard exec --root '' -- true
refuses "/ itself" "--root /: it is the root already; leave the option out" fence-guard exec --root / -- true
refuses "profile none" "--root: profile none confines neither files nor system calls; use --profile gate" \
	fence-guard exec --profile none --root tree -- true
exits "profile landlock" 125 fence-guard exec --profile landlock --root tree -- true
refuses "--allow-nesting" "--root with --allow-nesting: the two do not go together; leave one of them out" \
	within --allow-nesting -- true
within --explain --deny /home/me/made -- sh -c 'echo x >/etc/passwd; cat /home/me/made; chroot / true' >/dev/null 2>"$T/err"
like "--explain tells of refusals by the paths inside" "$(grep -a explain: "$T/err")" \
	"*/etc/passwd: EROFS by mount: in no writable folder*/home/me/made: EACCES by mount: --deny /home/me/made*EPERM by seccomp*"
is "and only of those" "$(within --explain -- cat /etc/passwd 2>&1)" "the tree's"
exits "also where nothing is started" 127 within --explain -- nonesuch
is "profile evaluator writes in /tmp alone" "$(within --profile evaluator --bind project:/work --cwd /work -- \
	sh -c 'echo x >$TMPDIR/x; echo $TMPDIR' 2>&1)" /tmp

if [ $ROOT = yes ]; then
	mkdir other
	mount -t tmpfs none other
	later umount "$W/other"
	cp -a tree other/tree
	mkdir other/tree/inner
	mount -t tmpfs none other/tree/inner
	later umount "$W/other/tree/inner"
	echo below >other/tree/inner/file
	is "on another mount, with one below" "$(fence-guard exec --root other/tree $B -- cat /inner/file 2>&1)" below
	is "which is read-only as well" "$(fence-guard exec --root other/tree $B -- sh -c ': >/inner/x' 2>/dev/null || echo no)" no
	ok "from within a user namespace, whose mounts are locked" \
		unshare --user --map-root-user --mount "$(command -v fence-guard)" exec --root other/tree $B -- cat /inner/file
fi

# The policy and the record.
printf 'version: 1\nprofiles:\n  gate:\n    root: tree\n    files: {roBind: ["/usr:/usr", "%s:/build"], bind: ["project:/work"]}\n' "$BUILD" >policy.yaml
sort -u "$T/binds" | sed -n 's/^--ro-bind //p' | while read -r line; do
	sed -i "s|roBind: \\[|&\"$line\", |" policy.yaml
done
is "a policy's root, bind and roBind do the same" "$(fence-guard exec --policy policy.yaml --cwd /work -- \
	sh -c 'cat /etc/passwd; echo by policy >made' 2>&1)" "the tree's"
is "with what they bring in" "$(cat project/made)" "by policy"
like "an option takes the place of its root" "$(fence-guard exec --policy policy.yaml --root bare -- ls / 2>&1 | xargs)" "*mnt*"
is "explain looks there" "$(fence-guard explain --policy policy.yaml --path /work/file 2>&1)" \
	"/work/file: allow: rw /work (policy.yaml:5:$(awk 'NR == 5 { print index($0, "\"project:") }' policy.yaml)); enforced by none"
like "and finds the rest read-only" "$(fence-guard explain --policy policy.yaml --path /etc/passwd 2>&1)" \
	"/etc/passwd: read-only: the root file system; enforced by mount"
printf 'version: 1\nprofiles:\n  gate: {root: nope}\n' >wrong.yaml
refuses "a policy's root that is missing is named with its place" "wrong.yaml:3:16: root nope: No such file or directory" \
	fence-guard exec --policy wrong.yaml -- true
cp policy.yaml project/policy.yaml
is "the policy is protected by whatever name it comes in" \
	"$(fence-guard exec --policy project/policy.yaml -- sh -c ': >/work/policy.yaml' 2>/dev/null || echo no)" no
within --status-fd 5 -- true 5>"$T/record"
is "the record names the root" "$(jq -r 'select(.event == "exec") | .root' "$T/record")" tree
fence-guard exec --root nope --status-fd 5 -- true 5>"$T/failed" 2>/dev/null
is "and the stage that failed" "$(jq -r '.stage' "$T/failed")" root
rm -f project/made project/policy.yaml
done_testing
