#!/bin/sh
# SIGKILL at every system call of a launch with --root: what is left on the host is a
# placeholder, until the next one.
. "$(dirname "$0")/guard.sh"
. "$SRC/tests/behave/guard/root.sh"

mkdir tree/usr tree/dev tree/proc tree/tmp tree/srv project
ln -s srv tree/link
B="--ro-bind /usr:/usr $(sort -u "$T/binds" | tr '\n' ' ')"
before=$(ls -AR tree project)

torn=$(guard_torn project/new fence-guard exec --root tree $B --bind project:/link --protect /link/new/x \
	-- /bin/true 2>"$T/err")
note "$torn"
[ -n "$torn" ] || note "$(cat "$T/err")"
like "killed at each of its calls, no launch leaves anything for longer than until the next" "$torn" \
	"moments [1-9][0-9][0-9] left * litter 0"
unlike "control: some of them did leave it till then" "$torn" "*left 0*"
is "the tree and the project have what they had" "$(ls -AR tree project)" "$before"
is "no mount of it is left" "$(grep -c "$W" /proc/self/mountinfo)" 0
done_testing
