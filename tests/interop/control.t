#!/bin/sh
# Control lines of every shape, over pipes and over a socket: a line is 4096 bytes with
# its newline at most, an empty one is malformed, what is wrong before the release
# refuses the attempt, and afterwards changes nothing. An executor that does not listen,
# or that has stopped, keeps nothing alive.
. "$(dirname "$0")/../lib/tap.sh"
. "$SRC/tests/interop/interop.sh"
program control "$PYTHON" control.py

like "there is Python" "$languages" "*python*"
for way in pipe socket; do
	mkdir "$T/$way.d"
	"$T/control" "$T/$way.d" $way >"$T/$way.out" 2>"$T/$way.err" &
done
wait

# What is wanted: `end` is a whole end by request, `gone` by the executor's.
end='terminating:terminate-request terminated:terminate-request 143 terminated terminate-request'
gone='terminating:executor-gone terminated:executor-gone 143 terminated executor-gone'
bad=rejected:malformed
for way in pipe socket; do
	lines=0
	while IFS=: read -r name wanted; do
		wanted=$(echo "$wanted" | sed "s/ //; s/BAD/$bad/g; s/END/$end/; s/GONE/$gone/
			s/REFUSED/refused:malformed 77 active -/")
		is "$way: $name" "$(sed -n "s/^$name: //p" "$T/$way.out")" "$wanted"
		lines=$((lines + 1))
	done <<-WANTED
		4095 bytes: started END
		4096 bytes: started END
		4097 bytes: refused:too-long 77 active -
		4096 bytes later: started END
		4097 bytes later: started rejected:too-long END
		200000 bytes later: started rejected:too-long END
		NUL before: REFUSED
		NUL behind: REFUSED
		NUL later: started BAD END
		CRLF: started END
		empty line: REFUSED
		empty lines later: started BAD BAD END
		byte order mark: REFUSED
		two values: REFUSED
		two members: REFUSED
		no UTF-8: started BAD END
		deep: started BAD END
		odd graces: started BAD BAD BAD BAD BAD BAD BAD END
		released twice: rejected:out-of-order started END
		terminate behind the release: started END
		many in one write: started BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD END
		the end behind the release: started GONE
		the end in a line: started BAD GONE
		byte by byte: started END
		stopped reading: started 143 terminated terminate-request
		full standard error: started terminating:timeout terminated:timeout 124 terminated timeout
		never reads: 143 terminated terminate-request
		second request: started terminating:terminate-request terminated:terminate-request 137 terminated terminate-request
		both requests in one write: started terminating:terminate-request terminated:terminate-request 137 terminated terminate-request
	WANTED
	is "$way: that is all" "$(wc -l <"$T/$way.out")" $lines
	is "$way: nobody else spoke" "$(grep -v '^fence-supervisor: control line' "$T/$way.err")" ""
done

done_testing
