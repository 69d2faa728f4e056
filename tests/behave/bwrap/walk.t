#!/bin/sh
# Where there is no openat2, as inside of fence-guard, names in the root are looked up by
# hand, and lead where they lead elsewhere.
. "$(dirname "$0")/bwrap.sh"

fails "control: there is none" guard_filter no-openat2 fence-guard exec --profile none -- \
	sh -c 'exec 2>/dev/null; python3 -c "import ctypes, struct
if ctypes.CDLL(None).syscall(437, -100, b\"/\", struct.pack(\"QQQ\", 0, 0, 0), 24) < 0: exit(1)"'
for scenario in root files; do
	ok "$scenario.t there" guard_filter no-openat2 sh "$SRC/tests/behave/bwrap/$scenario.t"
done
if [ "$ROOT" = no ]; then
	is "inside of fence-guard, too" "$(fence-guard exec --allow-nesting --ro "$FENCE_BUILD" -- \
		fence-bwrap --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --unshare-all echo inside 2>&1)" inside
fi
done_testing
