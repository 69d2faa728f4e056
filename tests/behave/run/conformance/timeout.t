#!/bin/sh
# The limits of a time-out, as fence-run and timeout(1) take them.
. "$(dirname "$0")/../../../lib/tap.sh"
. "$(dirname "$0")/tools.sh"

limited() { # LIMIT TOOL...: what becomes of a command that sleeps and exits with 4
	limit=$1
	case $tool in
	fence-run) set -- fence-run -q -t "$limit" -- ;;
	*) set -- timeout "$limit" ;;
	esac
	"$@" sh -c "await -t 0.3 file $T/no; exit 4" &
	finish $!
	echo "$how"
}
least() { limited 1e-10 "$@"; }
nano() { limited 0.000000001 "$@"; }
zero() { limited 0 "$@"; }

# The statuses of a hundred runs, each once.
hundred() {
	case $tool in
	fence-run) set -- fence-run -q -t .0001 --grace .0001 -- ;;
	*) set -- timeout -k .0001 .0001 ;;
	esac
	n=0
	while [ $n -lt 100 ]; do
		"$@" sleep "$word" >/dev/null 2>&1
		echo $?
		n=$((n + 1))
	done | sort -u | xargs
}

compare <<END
least   | a time-out of 1e-10                | 124 | 124 | - | - | -
nano    | a time-out of a nanosecond         | 124 | 124 | - | - | -
zero    | a time-out of 0                    | 4   | 4   | - | - | -
hundred | a hundred times .0001 and .0001    | 124 | 124 137/137 | - | - | -
END
is "units: a nanosecond may be written 1ns" "$(fence-run -q -t 1ns -- sleep "$word"; echo $?)" 124
done_testing
