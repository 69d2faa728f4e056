# What the tests of fence-bwrap share. Each check is made of fence-bwrap, and of
# bubblewrap itself where that is installed: the control, which says that the check is
# about what bubblewrap does. POSIX sh.
#
#   says NAME WANTED OPTIONS... COMMAND   what the command prints; a line that begins with
#                           "!" is put at the end: the exit status when it is not 0
#   ours NAME WANTED ...    the same where we differ from bubblewrap on purpose
#   IN=FILE                 the file that each of them has as descriptor 3
#   refuses NAME PATTERN OPTIONS...   exit status 1, and the line on standard error
. "$(dirname "$0")/../../lib/tap.sh"

W=$T/work
mkdir "$W"
cd "$W" || exit 1
PEER=$(command -v bwrap) || PEER=
[ -n "$PEER" ] || note "no bwrap here: its answers are not compared"

IN=/dev/null
answer() { # PROGRAM ARGUMENTS...: what it says
	"$@" 2>"$T/err" 3<"$IN"
	answer_status=$?
	[ $answer_status = 0 ] || echo "!$answer_status"
}
ours() {
	ours_name=$1
	ours_wanted=$2
	shift 2
	is "$ours_name" "$(answer fence-bwrap "$@")" "$ours_wanted"
	[ ! -s "$T/err" ] || note "$(head -c 1000 "$T/err")"
}
says() {
	ours "$@"
	[ -n "$PEER" ] || return 0
	says_name=$1
	says_wanted=$2
	shift 2
	is "$says_name (bubblewrap)" "$(answer "$PEER" "$@")" "$says_wanted"
}
refuses() {
	refuses_name=$1
	refuses_pattern=$2
	shift 2
	exits "$refuses_name" 1 fence-bwrap "$@"
	# shellcheck disable=SC2254
	like "$refuses_name: in a line" "$(cat "$T/err")" "fence-bwrap: $refuses_pattern"
	is "$refuses_name: nothing ran" "$(cat "$T/out")" ""
	[ -n "$PEER" ] || return 0
	exits "$refuses_name (bubblewrap)" 1 "$PEER" "$@"
}
