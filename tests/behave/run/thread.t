#!/bin/sh
# Started by a thread that ends: the command's life is not tied to it. (A parent-death
# signal would be: it is sent when the thread that forked ends.)
. "$(dirname "$0")/../../lib/tap.sh"

exits "a command started from a thread that has ended goes on" 6 \
	run_swarm from-thread "$T/over" fence-run -q -- sh -c "await -t 10 file $T/over && await -t 0.2 file /nonexistent; exit 6"
ok "control: the thread had ended before" test -s "$T/over"
done_testing
