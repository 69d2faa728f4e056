#!/bin/sh
# A marker's creation, its replacement and its creation over an ended one, killed before
# and after each of their system calls, leave the whole old or the whole new state. A
# reader that looks all the time never sees anything else, and the next writer leaves no
# trace of the killed one.
. "$(dirname "$0")/../../lib/tap.sh"

# A leak check at the end of a traced program would need to trace it too.
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS

# In memory where there is some: a thousand rounds are synced, and nothing is to be learned
# from how busy the disk is.
memory=$(mktemp -d /dev/shm/fence-test.XXXXXX 2>/dev/null) || memory=$T
[ "$memory" = "$T" ] || later rm -rf "$memory"

number() { # WORD: what was counted under it
	sed -n "s/.*\<$1 \([0-9]*\).*/\1/p" "$T/count" | tail -n 1
}
counted() { # STEP: the trace is done; what it counted is kept
	marker_torn kill "$1" "$memory/$1.json" >"$T/count" 2>&1
	done=$?
	note "$1: $(cat "$T/count")"
	return $done
}

if ! marker_step probe; then
	lacks "a marker cannot be torn" "a tracer for this processor"
	done_testing
fi

# The control: a writer that opens the marker itself and writes.
counted naive
ok "a naive writer that is killed tears it" test "$(number torn)" -gt 0
ok "and a reader sees that" grep -q '^reader: .* torn [1-9]' "$T/count"

for step in create replace over; do
	case $step in
	create) what="a creation" ;;
	replace) what="a replacement" ;;
	over) what="a creation over an ended one" ;;
	esac
	counted $step
	is "$what leaves the old or the new state, whenever it is killed" $? 0
	is "$what: never is the marker torn" "$(number torn)" 0
	is "$what: it was killed each time" "$(number survived)" 0
	ok "$what: at every call, from both sides" \
		test "$(number rounds)" -ge $(($(number each) * ($(number calls) - $(number from)) - 1))
	ok "$what: there were enough of them" test "$(number rounds)" -gt 60
	ok "$what: it was killed before it was out" test "$(number old)" -gt 10
	ok "$what: and afterwards" test "$(number new)" -gt 0
	ok "$what: the killed one left temporaries" test "$(number temporaries)" -gt 0
	is "$what: the next writer removes them" "$(number littered)" 0
	like "$what: a reader saw nothing but whole states" "$(cat "$T/count")" \
		"*reader: looks *[0-9] states *[0-9] absent *[0-9] torn 0 *"
done

done_testing
