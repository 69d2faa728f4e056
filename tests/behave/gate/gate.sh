# Shared by the tests of fence-gate. Each has a project of its own in $T/p.
mkdir "$T/p"
cd "$T/p" || exit 1

# gates STAGES: reads the stages' lines from standard input and makes gates.yaml of
# them, with one gate "all" of the named stages.
gates() {
	{
		printf 'version: 1\nstages:\n'
		cat
		printf 'gates:\n  - {id: all, stages: [%s]}\n' "$*"
	} >gates.yaml
}

# run_all ARGS...: runs the gate. Status in $status, streams in $T/out and $T/err.
run_all() {
	fence-gate run all "$@" >"$T/out" 2>"$T/err"
	# shellcheck disable=SC2034 # for the test
	status=$?
}

# record FILTER: the record of the last run, through jq.
record() {
	# shellcheck disable=SC2012 # ids sort by time and are plain
	jq -r "$1" ".fence/runs/$(ls .fence/runs | tail -n 1)/record.json"
}
