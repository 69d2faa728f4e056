#!/bin/sh
# Whatever holds a command, it starts and ends as without: statuses, streams, identity.
. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/contain.sh"
word=611.$$

one() { # WHO KIND
	r=$T/$1.$2
	run() {
		as "$who" fence-run -q --contain "$kind" --result "$r" "$@"
	}
	who=$1 kind=$2
	exits "$who, $kind: an exit status is handed back" 7 run -- sh -c 'exit 7'
	ok "$who, $kind: the record is as its schema says" check "$r"
	is "$who, $kind: it says what was in force, and that nothing was ended" \
		"$(jq -r '.contain, .reap, .endedCount, .leftover.count' "$r" | xargs)" "$kind clear 0 0"
	exits "$who, $kind: a signal too" 139 run -- sh -c 'kill -SEGV $$'
	exits "$who, $kind: a command that is not there" 127 run -- no-such-command
	exits "$who, $kind: nor its folder" 125 run --cwd "$T/none" -- true
	printf 'echo hello\n' >"$T/plain"
	chmod 755 "$T/plain"
	exits "$who, $kind: one that cannot be executed" 126 run -- "$T/plain"
	ok "$who, $kind: that record is as its schema says" check "$r"
	is "$who, $kind: streams are the caller's" \
		"$(echo in | run -- sh -c 'cat; echo err >&2' 2>&1 | xargs)" "in err"
	is "$who, $kind: captured ones are whole" \
		"$(run --capture 1KiB -- sh -c 'echo out; echo err >&2'
			jq -r '.output.stdout.tail, .output.stderr.tail, .output.leaked' "$r" | xargs)" \
		"out err false"
	is "$who, $kind: the folder stays" "$(cd "$T" && run -- pwd)" "$T"
	is "$who, $kind: so does who we are, and what we may do" \
		"$(run -- sh -c 'id -u; id -g; grep -E "^Cap(Inh|Prm|Eff|Amb)" /proc/self/status' | xargs)" \
		"$(as "$who" sh -c 'id -u; id -g; grep -E "^Cap(Inh|Prm|Eff|Amb)" /proc/self/status' | xargs)"
	is "$who, $kind: it gets no descriptor of ours" "$(run -- run_signals show | grep fds)" "fds: 0 1 2"
	is "$who, $kind: it leads its session" \
		"$(run -- sh -c 'ps -o sid= -p $$ | xargs test $$ = && echo leads')" leads
	pid=$(run -- sh -c 'exec sed "s/ .*//" /proc/self/stat')
	if [ "$kind" = pidns ]; then
		is "$who, $kind: /proc is that of the namespace" "$(run -- sh -c '[ /proc/$$ -ef /proc/self ] && set -- /proc/[0-9]* && echo $#')" 2
		ok "$who, $kind: its number in there is small" test "$pid" -lt 10
		ok "$who, $kind: and the record has the one out here" test "$(jq .process.pid "$r")" -gt 10
		fails "$who, $kind: process 1 in there is not to be ended by it" run -- sh -c 'kill -KILL 1; kill -TERM 1; kill -STOP 1; exit 3; false'
		is "$who, $kind: it went on" "$(jq -r .exitStatus "$r")" 3
	else
		is "$who, $kind: the record has its pid" "$(jq .process.pid "$r")" "$pid"
	fi
	if [ "$kind" = cgroup ]; then
		like "$who, $kind: it is in a group of its own" "$(run -- grep '^0::' /proc/self/cgroup)" "0::*/fence.[0-9]*"
		like "$who, $kind: only its owner may look into that" \
			"$(run -- sh -c "stat -c %a:%u '$CG_MOUNT'\$(sed -n 's/^0:://p' /proc/self/cgroup)")" \
			"700:$(as "$who" id -u)"
	fi
	is "$who, $kind: no group is left" "$(groups)" ""
}
each_kind one
is "without the option it is subreaper" \
	"$(fence-run --result "$T/r" -- true && jq -r .contain "$T/r")" subreaper
ok "nothing is left" await none "$word"
done_testing
