#!/bin/sh
# With hardly a descriptor to be had, nothing is started that could not be ended.
. "$(dirname "$0")/../../lib/tap.sh"
word=612.$$
# A sanitized program looks for leaks through /proc, for which it has no descriptor either.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS

few() { # N OPTION...
	limit=$1
	shift
	prlimit --nofile="$limit" fence-run -q -t 300ms --grace 50ms "$@" -- \
		sh -c "setsid sleep $word & exec sleep $word" 2>/dev/null
}

bad=
for n in 5 6 7 8 9 10 11 12; do
	few $n || status=$?
	[ $status = 124 ] || [ $status = 125 ] || bad="$bad $n:$status"
	await -t 1 none $word || bad="$bad $n:left"
	few $n --capture 1KiB || status=$?
	[ $status = 124 ] || [ $status = 125 ] || bad="$bad $n:capture:$status"
	await -t 1 none $word || bad="$bad $n:capture:left"
done
is "with 5 to 12 descriptors all is ended, or nothing was started" "$bad" ""
few 16
is "with 16 it runs" $? 124
done_testing
