#!/bin/sh
# Processes, what they share, sockets, privileges, the environment: the whole table of
# guard_escape_procs.
. "$(dirname "$0")/escapes.sh"

if [ "$ROOT" = yes ]; then
	cp "$(command -v id)" set-id
	chown 65533 set-id
	chmod 4755 set-id
fi
mkfifo "$T/hold"
guard_escape_procs world "$T/world" "$HIDDEN" <"$T/hold" &
exec 8>"$T/hold"
await file "$T/world" || exit 1
read -r victim port <"$T/world"

for name in LD_AUDIT BASH_ENV ENV GIT_SSH_COMMAND GIT_CONFIG_GLOBAL NODE_OPTIONS PYTHONSTARTUP PERL5OPT \
	SSH_AUTH_SOCK DBUS_SESSION_BUS_ADDRESS TERMINFO; do
	export "$name="
done
# "$@" is the launcher, if any. What is held belongs to whoever starts it.
attempts() {
	attempts_mode=$1
	shift
	LD_PRELOAD='' guard_escape_procs hold "$victim" "$@" \
		guard_escape_procs "$attempts_mode" "$WHO" "$victim" "$port" "$HIDDEN" </dev/null
}
shared_is_there() {
	kill -0 "$victim" && grep -q "fence-escape-$victim" /proc/net/unix
}

attempts outside env >"$T/outside"
judge outside <"$T/outside"
tried outside "$T/outside" guard_escape_procs
attempts inside fence-guard exec --status-fd 95 --ro "$FENCE_BUILD" -- >"$T/inside"
judge inside <"$T/inside"
tried inside "$T/inside" guard_escape_procs
attempts inside fence-guard exec --explain --ro "$FENCE_BUILD" -- >"$T/explained" 2>"$T/told"
same "while they are explained the answers are the same" "$T/explained"
lenient >"$T/lenient.yaml"
attempts inside fence-guard exec --policy "$T/lenient.yaml" --ro "$FENCE_BUILD" -- >"$T/lenient"
is "with every call allowed that a policy can allow nothing more is reached" "$(changed "$T/lenient")" \
	"read-memory-of-host ESRCH"
attempts inside fence-guard exec --strict --env ASAN_OPTIONS=detect_leaks=0 --ro "$FENCE_BUILD" -- >"$T/strict"
is "nor with the list of --strict" "$(changed "$T/strict")" "trace-host EPERM posix-mq ENOSYS"
attempts inside fence-guard exec --profile none -- fence-guard exec --ro "$FENCE_BUILD" -- >"$T/none"
same "within another fence-guard the answers are the same" "$T/none"
# Root's is in a user namespace of one user then.
# shellcheck disable=SC2086 # words
attempts inside $nesting -- fence-guard exec --ro "$FENCE_BUILD" -- | alone >"$T/nesting"
same "within one that lets others nest" "$T/nesting"
if command -v bwrap >/dev/null; then
	attempts inside bwrap --bind / / --dev-bind /dev /dev --proc /proc --unshare-user --unshare-pid --cap-add ALL \
		--uid "$(id -u)" --gid "$(id -g)" -- fence-guard exec --ro "$FENCE_BUILD" -- | alone >"$T/bwrap"
	same "within bwrap" "$T/bwrap"
else
	lacks "within bwrap" bubblewrap
fi
ok "the host's process is as it was" shared_is_there
exec 8>&-
wait
done_testing
