#!/bin/sh
# The scenarios inside of fence-guard with profile none.
. "$(dirname "$0")/guard.sh"
. "$SRC/tests/behave/guard/nesting.sh"

outer() {
	fence-guard exec --profile none --env FENCE_BUILD -- "$@"
}
# A set-group-ID program gains nothing in a user namespace that has not its group.
cannot user escapes/scenarios "control: outside chage, which is setgid, reads what is root's"
all "profile none" outer
done_testing
