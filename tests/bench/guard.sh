# shellcheck shell=sh disable=SC2154
# What a launch of fence-guard costs beside its time: sourced by scripts/bench, which has
# set $work, $rounds, and takes $missed from here.

# cost FIELD LINE: a number of what launch_cost says
cost() {
	echo "$2" | sed -n "s/.*$1 \([0-9]*\).*/\1/p"
}

# bar WHAT GOT AT-MOST
bar() {
	if [ "$2" -le "$3" ]; then
		echo "  $1: $2 (at most $3)"
	else
		echo "  $1: $2, MORE THAN $3"
		missed=1
	fi
}

# guard_costs AS-WHOM...: system calls and memory, of all processes but the command's own.
guard_costs() {
	# shellcheck disable=SC2086 # words
	ours=$("$@" "$work/launch_cost" $guard_start -- /bin/true)
	# shellcheck disable=SC2086
	theirs=$("$@" "$work/launch_cost" $bwrap_start -- /bin/true)
	bar "system calls of fence-guard" "$(cost calls "$ours")" 130
	echo "  system calls of bwrap: $(cost calls "$theirs")"
	bar "peak memory of fence-guard in KiB, against bwrap's" \
		"$(cost peakKiB "$ours")" "$(cost peakKiB "$theirs")"
}

# The command's own calls under the filter, least of several runs, bare and confined in turn.
guard_calls() {
	for i in 1 2 3; do
		"$work/call_cost" | sed 's/^/bare /'
		"$work/fence-guard" exec --ro "$work" --cwd "$work/rw" -- "$work/call_cost" | sed 's/^/confined /'
		"$work/fence-guard" exec --strict --ro "$work" --cwd "$work/rw" -- "$work/call_cost" | sed 's/^/strict /'
	done | awk '
		{ for (i = 2; i < NF; i += 2) { k = $1 " " $i; if (!(k in least) || $(i + 1) < least[k]) least[k] = $(i + 1) } }
		END { split("getppid open+close", names, " ")
			for (i = 1; i <= 2; i++) { b = least["bare " names[i]]; c = least["confined " names[i]]
				s = least["strict " names[i]]
				printf "  %s: %d ns bare, %d ns confined (%.2f), %d ns with --strict (%.2f)\n", names[i], b, c, c / b, s, s / b } }'
}

# 2,000 denied files: how much longer than none, and how much that is for bwrap.
guard_masks() {
	mkdir -p "$work/rw/many"
	seq -f "$work/rw/many/%g" 1 2000 | while read -r name; do : >"$name"; done
	chmod -R a+rX "$work/rw/many"
	seq -f "--deny=$work/rw/many/%g" 1 2000 >"$work/denied"
	seq -f "$work/rw/many/%g" 1 2000 | sed 's,.*,--ro-bind\n/dev/null\n&,' >"$work/bound"
	{
		printf 'version: 1\nprofiles: {gate: {files: {deny: [\n'
		seq -f "$work/rw/many/%g," 1 2000
		echo ']}}}'
	} >"$work/denied.yaml"
	"$work/interleave" -n 10 -b none -d 2000-denied:none:100000 -d policy-2000:none:100000 \
		none "$guard_start -- /bin/true" \
		2000-denied "$work/args $work/denied $guard_start @ -- /bin/true" \
		policy-2000 "$guard_start --policy $work/denied.yaml -- /bin/true" || missed=1
	"$work/interleave" -n 2 -b bwrap-2000 -c guard-2000:bwrap-2000:0.02 \
		guard-2000 "$work/args $work/denied $guard_start @ -- /bin/true" \
		bwrap-2000 "$work/args $work/bound $bwrap_start @ -- /bin/true" || missed=1
	rm -r "$work/rw/many"
}
