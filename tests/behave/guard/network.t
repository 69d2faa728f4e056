#!/bin/sh
# No network but lo, unless the host's is asked for.
. "$(dirname "$0")/guard.sh"

mkfifo "$T/hold"
guard_try listen "@fence-guard-$$" <"$T/hold" >"$T/abstract" &
exec 9>"$T/hold"
await file "$T/abstract"

says "lo works, in both families" ok -- guard_try lo
says "there is no way out" ENETUNREACH -- guard_try connect 192.0.2.1 80
says "nothing listens on the host's addresses" ECONNREFUSED -- guard_try connect 127.0.0.1 1
is "control: the host's abstract socket answers outside" "$(guard_try unix "@fence-guard-$$")" ok
says "and is not there inside" ECONNREFUSED -- guard_try unix "@fence-guard-$$"
is "--net host is the host's network" "$(guard --net host -- readlink /proc/self/ns/net)" "$(readlink /proc/self/ns/net)"
landlock=$(guard --net host --status-fd 5 -- true 5>&1 | sed -n 's/.*"landlock":"\([a-z]*\)".*/\1/p')
if [ "$landlock" = enforced ]; then
	says "where the host's abstract sockets are still out of reach" EPERM --net host -- guard_try unix "@fence-guard-$$"
else
	lacks "where the host's abstract sockets are still out of reach" "Landlock ABI 6 (Linux 6.12)"
fi
is "no interface but lo" "$(guard -- sh -c 'grep -c : /proc/net/dev')" 1
exec 9>&-
wait

# A socket with a name in /tmp.
socket=$(mktemp -u /tmp/fence-guard-socket.XXXXXX)
later rm -f "$socket"
guard_try listen "$socket" <"$T/hold" >"$T/named" &
exec 9>"$T/hold"
await file "$T/named"
is "control: a host's socket in /tmp answers outside" "$(guard_try unix "$socket")" ok
says "and is not there inside" ENOENT -- guard_try unix "$socket"
says "pairs of sockets can be made" ok -- guard_try pair
exec 9>&-
wait

# Root may enter everybody's runtime folder; a session bus there starts programs outside.
if [ "$ROOT" = yes ]; then
	cat >"$T/other" <<'EOF'
mount -t tmpfs -o mode=755 none /run && mkdir -p /run/user/4711 || exit 1
guard_try listen /run/user/4711/bus <"$T/hold" >"$T/bus" &
exec 9>"$T/hold"
await file "$T/bus"
chown -R 4711:4711 /run/user/4711 && chmod 700 /run/user/4711 || exit 1
guard_try unix /run/user/4711/bus
fence-guard exec --ro "$FENCE_BUILD" --profile chromium -- guard_try unix /run/user/4711/bus
fence-guard exec --ro "$FENCE_BUILD" --profile chromium --rw /run/user/4711/bus -- guard_try unix /run/user/4711/bus
EOF
	is "another user's session bus: outside it answers, inside it does not, unless it is named" \
		"$(unshare --mount sh "$T/other" 2>&1 | xargs)" "ok ECONNREFUSED ok"
fi
done_testing
