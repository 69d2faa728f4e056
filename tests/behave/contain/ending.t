#!/bin/sh
# Whatever holds a command, all of it ends: polite or deaf, in its group or escaped.
. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/contain.sh"
word=612.$$

one() { # WHO KIND
	who=$1 kind=$2 r=$T/$1.$2
	run() {
		as "$who" fence-run -q --contain "$kind" --result "$r" "$@"
	}
	# All of them hold the pipe: it ends with the last of them.
	rm -f "$T/up"* "$T/fifo" "$T/eof"
	mkfifo "$T/fifo"
	{ cat "$T/fifo" && echo eof >"$T/eof"; } &
	exits "$who, $kind: 200 descendants, half of them deaf, half daemons" 124 \
		run -t 1s --grace 200ms --keep-fd 9 -- sh -c "
			run_swarm daemons 100 $T/up1 & run_swarm deaf-daemons 100 $T/up2 & wait" 9>"$T/fifo"
	ok "$who, $kind: they ran" test -s "$T/up1" -a -s "$T/up2"
	ok "$who, $kind: the pipe that all of them held is at its end" await -t 1 file "$T/eof"
	ok "$who, $kind: none is left" await -t 0 none "$T/up"
	ok "$who, $kind: the record is as its schema says" check "$r"
	# 200, the two that started them and sh; what the two had not reaped is in it too.
	is "$who, $kind: it counts them" \
		"$(jq -r '.contain, .cause, .reap, (.endedCount >= 203), .survivors.count' "$r" | xargs)" \
		"$kind timeout reaped-kill true 0"
	note "$(jq -c '{contain, sent, wallMs, endedCount}' "$r")"

	for swarm in hoppers setsid-hoppers; do
		rm -f "$T/up"*
		exits "$who, $kind: 10 $swarm are ended" 124 run -t 200ms --grace 100ms -- \
			run_swarm $swarm 10 "$T/up"
		ok "$who, $kind: they ran" test -s "$T/up"
		ok "$who, $kind: none is left" await -t 0 none "$T/up"
	done

	exits "$who, $kind: what is left behind is ended" 0 run --grace 10s -- \
		sh -c "(setsid sleep $word &); await some '$word' >/dev/null"
	is "$who, $kind: politely, and it is named" \
		"$(jq -r '.leftover.count, (.leftover.names | length), .reap, .endedCount' "$r" | xargs)" "1 1 reaped-term 1"
	exits "$who, $kind: a deaf one by KILL" 0 run --grace 50ms -- \
		sh -c "trap '' TERM; (setsid sleep $word &); exit 0"
	is "$who, $kind: by us" "$(jq -r '.reap, .sent.killAtMs >= 50' "$r" | xargs)" "reaped-kill true"
	exits "$who, $kind: leftovers can be a failure" 125 run --leftover fail -- \
		sh -c "(setsid sleep $word &); exit 0"
	exits "$who, $kind: they can be waited for" 0 run --leftover wait -- \
		sh -c "(setsid sh -c 'await -t 0.1 file /nonexistent; echo late' &); exit 0"
	is "$who, $kind: until they end by themselves" \
		"$(jq -r '.reap, .leftover.action, .leftover.count >= 1' "$r" | xargs) $(cat "$T/out")" "clear wait true late"
	exits "$who, $kind: but not beyond the time-out" 124 run -t 200ms --leftover wait -- \
		sh -c "(setsid sleep $word &); exit 0"
	exits "$who, $kind: a command that reaps nothing leaves nothing" 4 run --grace 20s --leftover fail -- \
		sh -c 'true & true & (true &); await -t 0.3 file /nonexistent; exit 4'
	is "$who, $kind: and is over at once" "$(jq '.wallMs < 2000 and .leftover.count == 0' "$r")" true
	exits "$who, $kind: a stopped one acts on TERM" 124 run -t 100ms --grace 60s -- sh -c 'kill -STOP $$; exit 9'
	is "$who, $kind: no group is left" "$(groups)" ""
}
each_kind one
exits "what is to be left cannot be held" 125 fence-run --leftover leave --contain pidns -- touch "$T/ran"
like "that is said" "$(cat "$T/err")" "fence-run: --leftover leave with --contain: *; use --contain subreaper*"
ok "nothing was run" test ! -e "$T/ran"
ok "nothing is left" await none "$word"
done_testing
