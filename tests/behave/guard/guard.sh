# What the tests of fence-guard share: $W, a folder to be confined in, and the
# words for it. The programs under test are shown even where they lie below /tmp.
. "$(dirname "$0")/../../lib/tap.sh"

W=$T/work
mkdir "$W"
cd "$W" || exit 1

# guard OPTIONS -- COMMAND: fence-guard exec in $W
guard() {
	fence-guard exec --ro "$FENCE_BUILD" "$@"
}

# says NAME WANTED OPTIONS... : the output of the confined command
says() {
	says_name=$1
	says_wanted=$2
	shift 2
	is "$says_name" "$(guard "$@" 2>"$T/err")" "$says_wanted"
}
