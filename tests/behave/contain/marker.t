#!/bin/sh
# A marker and the events name a contained command as everybody outside does.
. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/contain.sh"
word=616.$$

one() { # WHO KIND
	who=$1 kind=$2 m=$T/$1.$2.json
	rm -f "$T/up" "$T/inner" "$T/events"
	: >"$T/events"
	chmod 666 "$T/events"
	as_exec "$who" fence-supervisor --create --attempt a --marker "$m" --contain "$kind" -q \
		--result "$T/r.$who.$kind" -- \
		sh -c "(setsid sleep $word &); sed 's/ .*//' /proc/self/stat >$T/inner; echo up >$T/up; exec sleep $word" &
	run=$!
	await file "$T/up"
	field() {
		fence-marker read "$m" --json | jq -r ".marker | $1"
	}
	pid=$(field .group.pid)
	while ! tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q "^sleep $word"; do :; done
	pass "$who, $kind: the group is the command, by the pid that it has out here"
	is "$who, $kind: the start time is that pid's" "$(field .group.start)" \
		"$(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f20)"
	[ "$kind" = pidns ] && ok "$who, $kind: in there it has another" test "$(cat "$T/inner")" -lt 10
	if [ "$kind" = cgroup ]; then
		is "$who, $kind: the marker has the inode of its cgroup" "$(field .group.cgroup)" \
			"$(stat -c %i "$CG_MOUNT$(sed -n 's/^0:://p' "/proc/$pid/cgroup")")"
	else
		is "$who, $kind: it names no cgroup" "$(field .group.cgroup)" null
	fi
	as "$who" fence-marker cancel "$m" >/dev/null
	wait $run
	is "$who, $kind: a cancel ends it" "$(field '"\(.status) \(.result.reap) \(.result.survivors)"')" \
		"cancelled reaped-term 0"
	is "$who, $kind: the record says how it was held" "$(jq -r '.contain, .cause, .endedCount' "$T/r.$who.$kind" | xargs)" \
		"$kind cancelled 2"
	ok "$who, $kind: all is gone" await -t 0 none "$word"

	as "$who" fence-run -q --contain "$kind" --events-fd 8 -- true 8>"$T/events"
	is "$who, $kind: the event says it too" \
		"$(jq -r 'select(.event == "started") | .contain, has("cgroup")' "$T/events" | xargs)" \
		"$kind $([ "$kind" = cgroup ] && echo true || echo false)"

	# A fence that is shut: the command's process was there, but never the command.
	fence-marker create "$m.3" --attempt a --pid $$ --json >"$T/made"
	chmod 666 "$m.3"*
	exits "$who, $kind: an active marker lets it start" 3 as "$who" fence-run -q --contain "$kind" \
		--fence "$m.3" --attempt a --approved "$(jq -c .approved "$T/made")" -- sh -c 'exit 3'
	fence-marker cancel "$m.3" >/dev/null
	chmod 666 "$m.3"*
	exits "$who, $kind: a cancelled marker lets nothing start" 77 as "$who" fence-run -q --contain "$kind" \
		--fence "$m.3" --attempt a --approved "$(jq -c .approved "$T/made")" -- touch "$T/ran"
	ok "$who, $kind: it did not" test ! -e "$T/ran"
	is "$who, $kind: no group is left" "$(groups)" ""
}
each_kind one
ok "nothing is left" await none "$word"
done_testing
