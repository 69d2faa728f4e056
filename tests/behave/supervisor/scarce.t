#!/bin/sh
# What a user can run out of, processes and inotify instances, keeps the command from
# starting; it does not end it a moment later, and no marker is left to say that it may run.
. "$(dirname "$0")/supervisor.sh"

# A leak check needs a process, which is not to be had.
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS

as=
if [ $ROOT = yes ] && [ $DROPS = no ]; then
	lacks "without a process to be had it fails" "the capabilities to become another user"
	done_testing
fi
if [ $ROOT = yes ]; then # whom no limit binds
	as="setpriv --reuid=65533 --regid=65533 --clear-groups"
	chmod 777 "$T/m"
fi
run="touch $T/m/ran"
# shellcheck disable=SC2086 # words
{
	exits "control: it runs" 0 $as fence-supervisor --create --attempt a --marker "$m" -- $run
	ok "it ran" rm "$T/m/ran"
	exits "without a process to be had it fails" 125 $as prlimit --nproc=1:1 \
		fence-supervisor --create --attempt b --marker "$m" -- $run
	like "which is said" "$(cat "$T/err")" \
		"fence-supervisor: start the monitor: Resource temporarily unavailable"
	is "the end is published" "$($as fence-marker read "$m" --json |
		jq -r '.marker | "\(.attemptId) \(.status) \(.result.cause) \(.result.reap)"')" \
		"b terminated not-started no-session"
	exits "and the place is free" 0 $as \
		fence-supervisor --create --attempt c --marker "$m" -- true
}
rm -f "$m" "$m.lock"

# As a shell's job that is spoken to.
# shellcheck disable=SC2086
$as prlimit --nproc=1:1 fence-supervisor --attempt a --marker "$m" -- $run \
	<"$T/in" >"$T/events" 2>"$T/err" &
supervisor=$!
exec 8>"$T/in"
await file "$T/events"
# shellcheck disable=SC2086
made=$($as fence-marker create "$m" --attempt a --pid $supervisor --json)
printf '{"release":%s}\n' "$(printf %s "$made" | jq -c .approved)" >&8
ended
is "an executor's attempt fails the same" $status 125
is "the executor hears of it" "$(event refused .reason)" cannot-execute
# shellcheck disable=SC2086
is "and the marker says so" "$($as fence-marker read "$m" --json | jq -r '.marker.status')" terminated
rm -f "$m" "$m.lock"

if unshare --user --map-root-user sh -c 'echo 0 >/proc/sys/user/max_inotify_instances' 2>"$T/why"; then
	exits "without an inotify instance it fails" 125 unshare --user --map-root-user sh -c "
		echo 0 >/proc/sys/user/max_inotify_instances
		exec fence-supervisor --create --attempt a --marker $m -- $run"
	like "which is said" "$(cat "$T/err")" "fence-supervisor: prepare to watch a marker: *"
	ok "no marker was made" test ! -e "$m"
	exits "without a watch it is ended" 143 unshare --user --map-root-user sh -c "
		echo 0 >/proc/sys/user/max_inotify_watches
		exec fence-supervisor --create --attempt a --marker $m -- sleep 1000"
	like "which is said, too" "$(cat "$T/err")" "fence-supervisor: watch folder $T/m: *"
	is "and published" "$(outcome)" "terminated supervisor marker-lost reaped-term"
else
	lacks "a limit on inotify" "a user namespace ($(cat "$T/why"))"
fi
ok "nothing was run" test ! -e "$T/m/ran"

# Whoever waited for the end comes before the ended supervisor has gone: here it has yet to
# write its record, for which there is no room.
mkfifo "$T/record"
exec 7<>"$T/record"
dd if=/dev/zero of="$T/record" bs=65536 count=1 oflag=nonblock 2>"$T/out"
fence-supervisor --create --attempt first --marker "$m" --result-fd 7 -- true &
supervisor=$!
echo $supervisor >>"$T/pids"
ok "it is over" fence-marker wait "$m" --attempt first --over
fence-supervisor --create --attempt next --marker "$m" -- true 2>"$T/err" 7>&- &
next=$!
ok "a next one waits for who is about to go" await state $next S
head -c 65536 <&7 >"$T/out"
wait $next
is "and then it runs" "$? $(cat "$T/err")" "0 "
is "it is the next one's marker" "$(field .attemptId)" next
wait $supervisor
is "nothing was taken from the first" $? 0
done_testing
