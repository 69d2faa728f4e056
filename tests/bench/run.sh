# run.sh: the rows of `scripts/bench run` after the launch; sourced by it. POSIX sh.
#
# Each prints numbers beside its bar and sets missed=1 when that is not met. No swarm has
# more than a few thousand processes at a time, and all of them end by themselves or here.

at_most() { # WHAT VALUE LIMIT UNIT
	if awk "BEGIN { exit !($2 <= $3) }"; then
		echo "  bar: $1: $2 $4 <= $3 $4, met"
	else
		echo "  bar: $1: $2 $4 <= $3 $4, MISSED"
		missed=1
	fi
}

median() { # COLUMN FILE
	awk "{ print \$$1 }" "$2" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

most() { # COLUMN FILE
	awk "\$$1 > most { most = \$$1 } END { print most + 0 }" "$2"
}

# once LABEL ARGUMENTS-OF-ending...: one measurement, kept beside the others.
once() {
	label=$1
	shift
	timeout -k 5 30 ending "$@" >>"$work/ending.$label"
}

told() { # LABEL: its median in ms and the largest number of survivors
	ms=$(awk "BEGIN { printf \"%.1f\", $(median 1 "$work/ending.$1") / 1000 }")
	left=$(most 2 "$work/ending.$1")
	printf '  %-26s %10s ms %8s left\n' "$1" "$ms" "$left"
}

# Bazel's own runners, where scripts/setup could get them.
bazel() { # PROGRAM ARGUMENT...
	echo "env LD_LIBRARY_PATH=build/peers build/peers/$*"
}

bench_endings() {
	echo "1,000 descendants, half of them daemons, after a time-out (median of 10)"
	up=$work/swarm
	peers=
	[ -x build/peers/process-wrapper ] && peers="process-wrapper linux-sandbox"
	for round in 1 2 3 4 5 6 7 8 9 10; do
		once fence-run 800 "$up" fence-run -q -t 800ms -- run_swarm daemons 1000 "$up"
		once timeout 800 "$up" timeout .8 run_swarm daemons 1000 "$up"
		once tini-g -s 800 "$up" tini -s -g -- run_swarm daemons 1000 "$up"
		if [ -n "$peers" ]; then
			# Whole seconds are all that they know.
			# shellcheck disable=SC2046 # a tool and its options
			once process-wrapper 1000 "$up" $(bazel process-wrapper -t 1 -k 1 --) run_swarm daemons 1000 "$up"
			# shellcheck disable=SC2046
			once linux-sandbox 1000 "$up" $(bazel linux-sandbox -w "$work" -T 1 -t 1 --) run_swarm daemons 1000 "$up"
		fi
		[ $((round % 2)) = 0 ] || continue
		once deaf 900 "$up" fence-run -q -t 800ms --grace 100ms -- run_swarm deaf-daemons 1000 "$up"
		once forking 500 "$up" fence-run -q -t 500ms --grace 0 -- run_swarm setsid-hoppers 20 "$up"
	done
	told timeout
	told tini-g
	for peer in $peers; do
		told "$peer"
		[ "$peer" != process-wrapper ] || bazel_ms=$ms
	done
	told fence-run
	if [ -n "$peers" ]; then
		at_most "fence-run, to process-wrapper" "$(awk "BEGIN { printf \"%.2f\", $ms / $bazel_ms }")" 0.5 times
	else
		echo "  process-wrapper and linux-sandbox: not here (scripts/setup bench says why)"
	fi
	at_most "fence-run, time" "$ms" 60 ms
	at_most "fence-run, survivors" "$left" 0 processes
	told deaf
	at_most "fence-run, all ignore TERM, after the grace" "$ms" 60 ms
	at_most "survivors" "$left" 0 processes
	told forking
	at_most "fence-run, a swarm that forks and exits" "$ms" 100 ms
	at_most "survivors" "$left" 0 processes
}

switches() { # PID...: how often they have been woken
	for pid; do cat "/proc/$pid/status"; done | awk '/ctxt_switches/ { n += $2 } END { print n }'
}

bench_idle() {
	echo "idle, while the command sleeps (2 s)"
	for tool in "fence-run -q" "tini -s" catatonit dumb-init; do
		name=${tool%% *}
		# shellcheck disable=SC2086 # a tool and its option
		$tool -- sleep 600 &
		eval "idle_$(echo "$name" | tr - _)=$!"
	done
	sleep 1
	for name in fence-run tini catatonit dumb-init; do
		eval "pid=\$idle_$(echo "$name" | tr - _)"
		pids=$pid
		[ $name = fence-run ] && pids="$pid $(pgrep -P "$pid")"
		# shellcheck disable=SC2086 # pids
		echo "$name $pid $(switches $pids) $pids"
	done >"$work/idle.out"
	sleep 2
	while read -r name pid before pids; do
		# shellcheck disable=SC2086
		woken=$(($(switches $pids) - before))
		rss=$(for one in $pids; do awk '/^VmRSS/ { print $2 }' "/proc/$one/status"; done |
			sort -n | tail -n 1)
		printf '  %-26s %10s KiB %7s wake-ups\n' "$name" "$rss" "$woken"
		kill "$pid"
		[ "$name" = fence-run ] && idle_rss=$rss && idle_woken=$woken
	done <"$work/idle.out"
	wait
	at_most "fence-run, the larger of its two processes" "$idle_rss" 781 KiB
	at_most "fence-run, both" "$idle_woken" 0 wake-ups
}

# 3 GiB/s, or 1.8 times as fast as a plain loop in the same run.
bench_relay() {
	echo "1 GiB of output"
	write="relay_loop write 1073741824"
	interleave -n 5 -b loop \
		loop "relay_loop relay $write" \
		fence-run "fence-run --capture 64KiB -- $write" \
		fence-run-tee "fence-run --capture 64KiB --tee -- $write" >"$work/relay.out"
	cat "$work/relay.out"
	us=$(awk '$1 == "fence-run" { print $2 }' "$work/relay.out")
	if [ "$us" -le 333333 ]; then
		at_most "fence-run --capture 64KiB" "$us" 333333 us
	else
		at_most "fence-run --capture 64KiB, to the loop" \
			"$(awk '$1 == "fence-run" { print $4 }' "$work/relay.out")" 0.56 times
	fi
}

bench_zombies() {
	echo "10,000 orphans that die under a long run, unreaped"
	for tool in "fence-run -q" "tini -s" dumb-init; do
		# shellcheck disable=SC2086 # a tool and its option
		timeout -k 5 40 zombies 10000 $tool -- >"$work/zombies.out" || missed=1
		read -r seen last looks <"$work/zombies.out"
		printf '  %-26s %10s at most %6s at the end (%s looks)\n' "${tool%% *}" "$seen" "$last" "$looks"
		[ "${tool%% *}" = fence-run ] && zombies_seen=$seen && zombies_last=$last
	done
	# Those in flight: each is reaped at once when the monitor has its turn on a processor.
	echo "  (what is seen in flight depends on the load: $(cut -d' ' -f1 /proc/loadavg) now, on $(nproc) processors)"
	at_most "fence-run, at any time" "$zombies_seen" 100 zombies
	at_most "fence-run, at the end" "$zombies_last" 0 zombies
}

bench_run_on() {
	PATH=$work:$PATH
	export PATH
	bench_endings
	bench_idle
	bench_relay
	bench_zombies
}
