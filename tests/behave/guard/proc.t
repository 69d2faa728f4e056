#!/bin/sh
# A /proc of the command's own; where the host forbids that, none.
. "$(dirname "$0")/guard.sh"

chmod 1777 "$W" "$T"
is "control: /proc is that of the processes inside" "$(guard -- cat /proc/1/comm)" fence-guard
ok "and has the machine's files" guard -- grep -q MemTotal /proc/meminfo

# A container engine covers parts of /proc; the kernel then gives no user namespace a
# new one that would show them.
if [ "$ROOT" = yes ]; then
	covered="unshare --mount"
	become="setpriv --reuid=65534 --regid=65534 --clear-groups"
else
	covered="unshare --map-root-user --mount"
	become="unshare --user --map-user=1000 --map-group=1000"
fi
hidden() {
	HOME=/nonexistent $covered sh -c 'mount --bind /dev/null /proc/cpuinfo && exec "$@"' - $become \
		fence-guard exec --status-fd 5 --ro "$FENCE_BUILD" "$@" 5>"$T/record" 2>"$T/err"
}
hidden -- true
is "with a covered /proc the command still starts" "$?" 0
like "and the record says what it lacks" "$(cat "$T/record")" '*"mounts":"degraded"*"proc":"masked"*'
hidden -- ls /proc
like "nothing can be read there" "$(cat "$T/err")" "*Permission denied*"
hidden -- cat /proc/1/cmdline
like "least of all the host's" "$(cat "$T/err")" "*Permission denied*"
exits "profile none has no /proc to hide: it refuses" 125 \
	$covered sh -c 'mount --bind /dev/null /proc/cpuinfo && exec "$@"' - $become \
	fence-guard exec --profile none -- true
like "with what to do" "$(cat "$T/err")" "*systempaths=unconfined"
done_testing
