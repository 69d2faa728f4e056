# tap.sh: what every behaviour test sources. POSIX sh.
#
#   . "$(dirname "$0")/../../lib/tap.sh"
#
# It gives
#   $BIN     the programs under test         $HELP   helper programs (tests/lib/*.c)
#   $T       a private folder, removed at the end, world-readable so that a
#            confined or dropped process can enter it
#   $ROOT    "yes" when the test runs as root
#   $DROPS   "yes" when it can also become an unprivileged user: root that is confined
#            cannot
#   $SRC     the top of the sources
#
# and these words. A name is a sentence that a user would say.
#   ok NAME CMD...          passes when CMD succeeds
#   fails NAME CMD...       passes when CMD fails
#   is NAME GOT WANTED      passes when the two strings are the same
#   like NAME TEXT PATTERN  passes when TEXT matches the shell pattern
#   unlike NAME TEXT PATTERN
#   exits NAME WANTED CMD...  passes when CMD's exit status is WANTED; CMD's output
#                           is left in $T/out and $T/err
#   pass NAME / fail NAME   say it directly
#   lacks NAME MISSING      a check that cannot be made here for want of MISSING: a
#                           skip, and a failure when MUST_WORK=1
#   note TEXT               a diagnostic line, on standard error, where prove shows it
#   later CMD...            CMD is run at the end, whatever happens (clean-up)
#   forget PATH             removes what fence-guard kept aside of repositories below PATH;
#                           of those in $T it is done at the end
#
# Each result record of a run that a test reads with jq, or leaves in $T, is held against
# its schema; one that is not valid fails the test at its end.
#
# Waiting is done by the helper program `await` ($HELP/await), never by sleeping.
# A test ends by `done_testing`; one that does not get there has failed.

# No test runs for ever: a scenario has two minutes, then it and what it started in its
# process group are ended. And no core files.
if [ -z "${TAP_BOUNDED:-}" ]; then
	export TAP_BOUNDED=yes
	exec timeout --kill-after=10 120 sh "$0" "$@"
fi
unset TAP_BOUNDED
ulimit -S -c 0
umask 022
LC_ALL=C
export LC_ALL

SRC=$(cd "$(dirname "$0")" && pwd)
while [ ! -e "$SRC/tests/lib/tap.sh" ]; do
	SRC=${SRC%/*}
done
: "${FENCE_BUILD:=$SRC/build/release}"
BIN=$FENCE_BUILD/bin
HELP=$FENCE_BUILD/test
T=$(mktemp -d "${TMPDIR:-/tmp}/fence-test.XXXXXX") || exit 1
mkdir "$T.tap" || exit 1 # our own notes
chmod 755 "$T"
ROOT=no
[ "$(id -u)" = 0 ] && ROOT=yes
DROPS=no
[ $ROOT = yes ] && setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null && DROPS=yes
PATH=$BIN:$HELP:$PATH
export PATH BIN HELP T SRC

tap_count=0
tap_failed=0
tap_later=
tap_done=no

forget() {
	for tap_word in /var/lib/fenceline/kept /var/tmp/fenceline-*/kept; do
		[ -d "$tap_word" ] || continue
		grep -rlF --include=names "# what git did in $1/" "$tap_word" 2>/dev/null |
			sed "s|^\($tap_word/[^/]*\)/.*|\1|" | sort -u | xargs -r rm -rf
		rmdir "$tap_word" "${tap_word%/*}" 2>/dev/null
	done
	return 0
}

tap_end() {
	tap_status=$?
	trap - EXIT INT TERM HUP
	# Before anything that forks: a shell that cannot fork any more ends with status 2.
	[ "$tap_done" = yes ] ||
		echo "Bail out! ${0##*/} ended before done_testing (status $tap_status)"
	eval "$tap_later"
	forget "$T"
	chmod -R u+rwx "$T" 2>/dev/null
	rm -rf "$T" "$T.tap"
	[ "$tap_done" = yes ] || exit 1
	[ "$tap_failed" = 0 ] || exit 1
	exit 0
}
trap tap_end EXIT
trap 'exit 1' INT TERM HUP

later() {
	tap_words=
	for tap_word; do
		tap_words="$tap_words '$(printf %s "$tap_word" | sed "s/'/'\\\\''/g")'"
	done
	tap_later="$tap_words
$tap_later"
}

note() {
	printf '%s\n' "$*" | sed 's/^/# /' >&2
}

pass() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1"
}

fail() {
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $1"
	note "$(basename "$0"): not ok $tap_count - $1"
}

ok() {
	tap_name=$1
	shift
	tap_got=0
	"$@" >"$T/.ok" 2>&1 || tap_got=$?
	if [ $tap_got = 0 ]; then
		pass "$tap_name"
	else
		fail "$tap_name"
		note "exit status $tap_got: $*"
		note "$(head -c 2000 "$T/.ok")"
	fi
}

fails() {
	tap_name=$1
	shift
	if "$@" >"$T/.ok" 2>&1; then
		fail "$tap_name"
		note "command succeeded: $*"
	else
		pass "$tap_name"
	fi
}

is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1"
		note "got:    $2"
		note "wanted: $3"
	fi
}

like() {
	# shellcheck disable=SC2254 # the pattern is meant as a pattern
	case $2 in
	$3) pass "$1" ;;
	*)
		fail "$1"
		note "got:     $2"
		note "pattern: $3"
		;;
	esac
}

unlike() {
	# shellcheck disable=SC2254
	case $2 in
	$3)
		fail "$1"
		note "got:          $2"
		note "unwanted:     $3"
		;;
	*) pass "$1" ;;
	esac
}

exits() {
	tap_name=$1
	tap_wanted=$2
	shift 2
	"$@" >"$T/out" 2>"$T/err"
	tap_got=$?
	if [ "$tap_got" = "$tap_wanted" ]; then
		pass "$tap_name"
	else
		fail "$tap_name"
		note "exit status $tap_got, wanted $tap_wanted: $*"
		note "$(head -c 2000 "$T/err")"
	fi
}

# The faults of a result record, noted where a subshell can note them too. What is no
# record, or was looked at already, is passed over.
tap_record() {
	[ -f "$1" ] && [ -r "$1" ] && ! cmp -s "$1" "$T.tap/record" || return 0
	case $(head -c 60 "$1" 2>/dev/null | tr -d '\000') in
	'{"schema":"fence-run-result/v1"'*) ;;
	*) return 0 ;;
	esac
	cp "$1" "$T.tap/record" 2>/dev/null || return 0
	echo "$1" >>"$T.tap/records"
	command jq -r --slurpfile schema "$SRC/schemas/fence-run-result-v1.json" \
		-f "$SRC/tests/lib/schema.jq" "$T.tap/record" >>"$T.tap/faults" 2>&1 ||
		echo "$1: no JSON" >>"$T.tap/faults"
}

jq() {
	for tap_word; do
		case $tap_word in
		*/schema.jq) break ;; # the test itself does that
		/*) tap_record "$tap_word" ;;
		esac
	done
	command jq "$@"
}

tap_records() {
	for tap_word in "$T"/* "$T"/*/*; do
		tap_record "$tap_word"
	done
	[ -s "$T.tap/records" ] || return 0
	is "all $(grep -c . "$T.tap/records") result records are valid against their schema" \
		"$(cat "$T.tap/faults")" ""
}

lacks() {
	if [ "${MUST_WORK:-0}" = 1 ]; then
		fail "$1"
		note "missing, though MUST_WORK=1: $2"
	else
		tap_count=$((tap_count + 1))
		echo "ok $tap_count - $1 # SKIP missing: $2"
		note "skipped: $(basename "$0"): $1: missing: $2"
	fi
}

done_testing() {
	tap_records
	tap_done=yes
	echo "1..$tap_count"
	exit 0
}
