#!/bin/sh
# The other half of the scenarios inside of fence-guard with --allow-nesting.
. "$(dirname "$0")/guard.sh"
. "$SRC/tests/behave/guard/nesting.sh"

# shellcheck disable=SC2086 # words
within guard $of_the_rest
done_testing
