#!/bin/sh
# The disk is full, or the folder may not be written any more, when the end is to be
# published: it is said, and nothing goes on running for that.
. "$(dirname "$0")/supervisor.sh"

ASAN_OPTIONS=detect_leaks=0 # not under a tracer
export ASAN_OPTIONS

# traced FAULT OPTIONS... -- COMMAND: the fault is counted in each process for itself
traced() {
	traced_fault=$1
	shift
	strace -f -o "$T/trace" -e trace=fsync,write -e "inject=$traced_fault" \
		fence-supervisor --create --attempt a --marker "$m" -q --result "$T/record" "$@"
}
exits "a slow disk is no fault" 3 traced fsync:delay_enter=1000:when=2+ -- sh -c 'exit 3'
is "it is published" "$(outcome)" "terminated supervisor exited clear"

exits "a disk that fails at the end makes it our failure" 125 \
	traced fsync:error=ENOSPC:when=2+ -- sh -c 'exit 3'
like "which is said" "$(cat "$T/err")" "fence-supervisor: *m.json*: No space left on device*"
is "the record has the command's end" "$(jq -r '"\(.cause) \(.exit.code // .exitCode // 3)"' "$T/record")" "exited 3"
is "the marker says that it may still run" "$(field .status)" active
ok "repair looks and says that it does not" fence-marker repair "$m" --apply
is "it is over then" "$(field .status)" terminated

# With processes that have to be ended: all are, though the supervisor cannot say so.
exits "with something left behind the same" 125 \
	traced fsync:error=EIO:when=2+ -- sh -c "sleep 1000 & echo \$! >$T/left"
ok "what was left is gone" await -t 1 gone "$(cat "$T/left")"
is "the runner could say that it ends it" "$(field .status)" terminating
ok "repair finds nothing" fence-marker repair "$m" --apply

# A folder that may not be written: for root there is none.
if [ $ROOT = yes ] && [ $DROPS = no ]; then
	lacks "a folder that may not be written makes it our failure" \
		"the capabilities to become another user"
	done_testing
fi
if [ $ROOT = yes ]; then
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	chown -R 65534:65534 "$T/m" "$T"
else
	as=
fi
rm -f "$m" "$m.lock" "$T/up"
# shellcheck disable=SC2086 # words
$as fence-supervisor --create --attempt a --marker "$m" --grace 100ms -- \
	sh -c "trap '' TERM; echo up >$T/up; while :; do sleep 1000; done" 2>"$T/err" &
supervisor=$!
await file "$T/up"
group=$(field .group.pid)
chmod 555 "$T/m"
kill -TERM $supervisor
ended
chmod 755 "$T/m"
is "a folder that may not be written makes it our failure" $status 125
like "which is said" "$(cat "$T/err")" "fence-supervisor: *m.json*: Permission denied*"
ok "the command is gone, deaf as it was" await -t 1 gone "$group"
is "the marker says that it may still run" "$(field .status)" active
# shellcheck disable=SC2086
ok "repair looks and says that it does not" $as fence-marker repair "$m" --apply
is "nothing is left beside the marker" "$(beside)" ""
done_testing
