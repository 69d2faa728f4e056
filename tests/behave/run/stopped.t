#!/bin/sh
# A command can stop the monitor that keeps its time: it is continued.
. "$(dirname "$0")/../../lib/tap.sh"
mark=608$$

exits "a command that stops its monitor ends with its time-out" 124 \
	timeout -k 1 20 fence-run --timeout 300ms --grace 0 -- sh -c "kill -STOP \$PPID; exec sleep $mark"
ok "and is gone" await -t 2 none "$mark"
exits "one that stops it and ends is noticed" 7 \
	timeout -k 1 20 fence-run -- sh -c "kill -STOP \$PPID; exit 7"
done_testing
