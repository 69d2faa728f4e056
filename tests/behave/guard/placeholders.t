#!/bin/sh
# What is protected and does not exist yet cannot be made, and nothing of that stays on the
# host.
. "$(dirname "$0")/guard.sh"

newline='
'
registry=/var/tmp/fenceline-$(id -u)
[ "$ROOT" = yes ] && registry=/var/lib/fenceline

mkdir -p a/b
before=$(ls -AR)
ok "control: unprotected, it can be made" guard -- sh -c 'mkdir -p none a/b && : >none/x && rm -r none'

exits "a path that does not exist cannot be made" 0 guard --protect none/x -- sh -c '! mkdir none/x && ! mkdir -p none/x/y'
exits "nor its folder" 0 guard --protect none/x -- sh -c '! (: >none) && ! mkdir none'
says "nor what stands in for it be renamed" EBUSY --protect none/x -- guard_try rename none gone
says "nor the folder that it lies in" EBUSY --protect a/b/none -- guard_try rename a gone
says "nor be made writable" EROFS --protect none -- sh -c 'chmod 777 none 2>&1 | grep -q Read-only && echo EROFS'
exits "a file beside it can be made" 0 guard --protect a/b/none -- sh -c ': >a/b/other && rm a/b/other'
exits "two of one folder" 0 guard --protect none/x --protect none/y -- sh -c '! mkdir none/x && ! mkdir none/y'
exits "the evasion by way of a parent" 0 guard --protect a/b/none -- \
	sh -c 'mv a g 2>/dev/null; mkdir -p a/b/none; echo bad >a/b/none/x; true'
is "the host has what it had" "$(ls -AR)" "$before"
# Others may have theirs in it, and may sweep at any moment.
ours() {
	grep -alsF "$W/" "$registry"/*
}
is "and nothing of it is registered" "$(ours)" ""
exits "the command cannot read the registry" 0 guard --protect none -- sh -c "! ls $registry"
exits "a folder of somebody's that looks like one stays" 0 sh -c 'mkdir -m 1555 mine && fence-guard exec --protect mine -- true && test -d mine && rmdir mine'
ln -s none/deep dangling
exits "where a dangling link leads nothing can be made" 0 guard --protect dangling -- sh -c '! mkdir -p none/deep'
rm dangling
exits "a way back out of what does not exist is refused" 125 guard --protect a/../none/../x -- true
like "says so" "$(cat "$T/err")" "fence-guard: protect *"

for name in "a b" "a${newline}b" 'a\b' '-rf' "$(printf 'caf\351')" "$(printf '%0255d' 0)"; do
	shown=$(printf %.20s "$name" | tr '\n\351' '|?')
	exits "below <$shown> nothing can be made" 0 guard --protect "./$name/x" -- \
		sh -c '! mkdir "./$1/x" && ! rmdir "./$1" && ! mv "./$1" moved' - "$name"
done
long=$W
while [ ${#long} -lt 3700 ]; do
	long=$long/$(printf '%0200d' 0)
done
mkdir -p "$long"
exits "at the end of nearly 4,000 bytes" 0 guard --protect "$long/none" -- sh -c '! mkdir "$1/none"' - "$long"
rm -r "${W:?}/$(printf '%0200d' 0)"
is "the host has what it had after these" "$(ls -AR)" "$before"

# What tools see.
if command -v git >/dev/null; then
	git init -q repo
	is "git sees no difference" "$(cd repo && fence-guard exec --ro "$FENCE_BUILD" --protect .codex --protect x/y -- \
		git -c safe.directory='*' status --porcelain)" ""
	rm -rf repo
fi

# Two commands, one path: it stays as long as one of them needs it.
fence-guard exec --protect none -- sh -c 'echo up >ready1; exec sleep 98765' &
one=$!
await file ready1
fence-guard exec --protect none/deeper -- sh -c 'echo up >ready2; exec sleep 98765' &
two=$!
await file ready2
kill "$one"
wait "$one" 2>/dev/null
exits "one ends: it is still there" 0 test -d none
exits "and a third can share it" 0 guard --protect none -- sh -c '! mkdir none/x'
kill -9 "$two"
wait "$two" 2>/dev/null
await none 98765
# Init is the last to hold it.
for entry in $(ours); do
	flock "$entry" true 2>/dev/null # or it is swept already
done
rm ready1 ready2
exits "the other is killed: an empty folder is all that there is" 0 sh -c '! test -e none || { test -d none && test -z "$(ls -A none)"; }'
exits "until the next start of anything" 0 fence-guard exec -- true
is "when it is gone" "$(ls -AR)" "$before"

# SIGKILL at every system call of the launcher and of init.
torn=$(guard_torn none fence-guard exec --protect none/x -- true 2>"$T/err")
note "$torn"
like "killed at each of its system calls, no launch leaves anything for longer than until the next" "$torn" \
	"moments [1-9][0-9][0-9] left * litter 0"
unlike "control: some of them did leave it till then" "$torn" "*left 0*"
is "the host has what it had after all of them" "$(ls -AR)" "$before"
is "and nothing of it is registered then" "$(ours)" ""

# A command that may write where the registry lies could forge what is written there, and
# have the next start take away what stands in for another command's protected path.
forge="ls $registry || mkdir $registry || mv $registry $registry.x || rmdir $registry"
ok "control: such a command can write beside it" guard --rw "${registry%/*}" -- \
	sh -c ': >"$1/$2" && rm "$1/$2"' - "${registry%/*}" "beside.$$"
exits "but neither look at the registry, nor make, move or remove it" 0 guard --rw "${registry%/*}" -- sh -c "! ($forge) 2>/dev/null"
fails "and nothing is held in it afterwards" test -e "$registry/held"

# What is kept of repositories may be removed at any time, and the registry goes with it: a
# command that starts meanwhile does so as if there had been none. (One in eight did not.)
(
	umask 077
	until [ -e "$T/enough" ]; do
		mkdir -p "$registry/kept/$$" 2>/dev/null
		rmdir "$registry/kept/$$" "$registry/kept" "$registry" 2>/dev/null
	done
) &
refused=0
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32; do
	guard -- true 2>"$T/err" || refused=$((refused + 1))
done
: >"$T/enough"
wait
is "a registry that comes and goes keeps no command from starting" "$refused/$(cat "$T/err")" 0/

# A registry that is somebody else's.
# In a user namespace with one user there is nobody else.
if [ "$ROOT" = yes ] && : >given && chown 65534:65534 given 2>/dev/null; then
	rm given
	rm -rf /var/tmp/fenceline-65534
	mkdir -m 777 /var/tmp/fenceline-65534
	later rmdir /var/tmp/fenceline-65534
	chown 65534:65534 "$W"
	exits "where somebody else holds the registry's place it is refused" 125 setpriv --reuid=65534 --regid=65534 \
		--clear-groups fence-guard exec --protect none -- true
	is "with the reason" "$(cat "$T/err")" \
		"fence-guard: register a placeholder in /var/tmp/fenceline-65534: it is somebody else's, or others may write it; have it removed, or create what is protected first"
	chown 65534 /var/tmp/fenceline-65534
	exits "so is one that others may write" 125 setpriv --reuid=65534 --regid=65534 \
		--clear-groups fence-guard exec --protect none -- true
	# What root can do beforehand: it stays, since it is not empty.
	chmod 700 /var/tmp/fenceline-65534
	: >/var/tmp/fenceline-65534/.keep
	later rm -f /var/tmp/fenceline-65534/.keep
	exits "one that root has made for the user is used" 0 setpriv --reuid=65534 --regid=65534 \
		--clear-groups fence-guard exec --protect none -- sh -c '! mkdir none/x'
	is "and stays" "$(stat -c '%U %a' /var/tmp/fenceline-65534)" "$(id -un 65534) 700"
	is "and nothing is made" "$(ls -AR)" "$before"
fi
done_testing
