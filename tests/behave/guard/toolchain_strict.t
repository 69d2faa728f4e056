#!/bin/sh
# The same tools work where nothing but a list of system calls is allowed.
. "$(dirname "$0")/guard.sh"

inside() {
	guard --strict "$@"
}
is "control: the list holds" "$(inside -- guard_try call 101)/$(guard -- guard_try call 101)" EPERM/ok
. "$SRC/tests/behave/guard/toolchain.sh"
done_testing
