# interop.sh: what the tests of executors in other languages share; source it after
# tap.sh. Each language's executor is a program of its own here, $T/python and $T/node,
# so that its process is the interpreter itself.
#
#   languages      those that are there; one that is not is said
#   events         the names of the events that the executor printed to $T/said
#   said FILTER    what jq says about all of its lines
#   outcome        of the attempt: cause, code or signal, reap, exit status, marker status

: "${PYTHON:=/usr/bin/python3}" "${NODE:=/usr/bin/node}"
interop=$SRC/tests/interop
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

program() { # NAME INTERPRETER FILE
	printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$2" "$interop/$3" >"$T/$1"
	chmod 755 "$T/$1"
}
program python "$PYTHON" executor.py
program node "$NODE" executor.mjs

languages=
for language in python node; do
	case $language in
	python) interpreter=$PYTHON ;;
	node) interpreter=$NODE ;;
	esac
	if [ -x "$interpreter" ]; then
		languages="$languages $language"
	else
		lacks "an executor in $language" "$interpreter"
	fi
done

said() {
	jq -rs "$1" "$T/said"
}
events() {
	said '[.[].event // empty] | join(" ")'
}
outcome() {
	said '(map(select(.event == "terminated")) | .[0]) as $done | last as $last |
		[$done.result.cause, ($done.result.code // "-"), ($done.result.signal // "-"),
		$done.result.reap, $last.exitStatus, $last.marker.status] | join(" ")'
}
# The executor's own reader and ours see the same.
same_marker() { # NAME MARKER
	is "$1" "$(said 'last.marker | tojson | fromjson' | jq -cS .)" \
		"$(fence-marker read "$2" --json | jq -cS .marker)"
}
