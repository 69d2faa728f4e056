#!/bin/sh
# A half of the scenarios inside of bwrap.
. "$(dirname "$0")/guard.sh"
. "$SRC/tests/behave/guard/nesting.sh"

if ! command -v bwrap >/dev/null; then
	lacks "inside of bwrap" bubblewrap
	done_testing
fi
# shellcheck disable=SC2086 # words
within bwrap $of_files
done_testing
