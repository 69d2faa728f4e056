#!/bin/sh
# The same tools work where nothing but a list of system calls is allowed.
. "$(dirname "$0")/guard.sh"

inside() {
	guard --strict --env ASAN_OPTIONS=detect_leaks=0 "$@"
}
is "control: the list holds" "$(inside -- guard_try call 101)/$(guard --env ASAN_OPTIONS=detect_leaks=0 -- guard_try call 101)" EPERM/ok
. "$SRC/tests/behave/guard/toolchain.sh"
done_testing
