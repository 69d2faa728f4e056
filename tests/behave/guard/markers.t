#!/bin/sh
# The markers of the attempts that a command is part of, and fence-gate's records, stay as
# their programs wrote them, also in a folder that the command may write.
. "$(dirname "$0")/guard.sh"

# attempt COMMAND...: confined, in an attempt whose marker lies in the writable folder
attempt() {
	rm -f run.json
	fence-supervisor --create --attempt one --marker run.json -- fence-guard exec --ro "$FENCE_BUILD" "$@" 2>"$T/err"
}
says "control: without an attempt such a file can be written" ok -- sh -c ': >run.json; guard_try write run.json'
is "the marker of the attempt cannot be written" "$(attempt -- guard_try write run.json)" EROFS
is "nor its lock" "$(attempt -- guard_try write run.json.lock)" EROFS
is "nor the marker be renamed" "$(attempt -- guard_try rename run.json gone)" EBUSY
is "nor its lock" "$(attempt -- guard_try rename run.json.lock gone)" EBUSY
is "it can be read" "$(attempt -- cat run.json | jq -r .status)" active
is "which the supervisor ends as usual" "$(jq -r '.status + " " + .result.cause' run.json)" "terminated exited"
is "naming it opens it" "$(attempt --rw run.json -- guard_try write run.json)" ok

mkdir "sub:50% a" inner
cd "sub:50% a" || exit 1
for where in "$W/run.json" ../run.json; do
	is "named as <$where> from elsewhere it cannot be written either" "$(fence-supervisor --create --attempt two --marker "$where" -- \
		fence-guard exec --cwd "$W" --ro "$FENCE_BUILD" -- guard_try write run.json 2>&1)" EROFS
done
is "nor one with a name that has signs of the list's own" "$(fence-supervisor --create --attempt two --marker x -- \
	fence-guard exec --cwd "$W" --ro "$FENCE_BUILD" -- guard_try write "sub:50% a/x" 2>&1)" EROFS
cd "$W" || exit 1
nested() {
	fence-supervisor --create --attempt one --marker run.json -- \
		fence-supervisor --create --attempt two --marker inner/run.json -- \
		fence-guard exec --ro "$FENCE_BUILD" -- guard_try write "$1" 2>&1
}
is "of attempts within each other, the inner one" "$(nested inner/run.json)" EROFS
is "and the outer one" "$(nested run.json)" EROFS
fence-supervisor --create --attempt one --marker run.json -- fence-run -- sh -c 'echo "$FENCE_MARKERS"' >"$T/out"
is "a command finds its marker by the variable" "$(cat "$T/out")" "$(pwd -P)/run.json"
exits "a list that is none is refused" 125 env FENCE_MARKERS=run.json fence-guard exec -- true
is "by name" "$(cat "$T/err")" \
	"fence-guard: keep FENCE_MARKERS from the command: not a list of markers as fence-supervisor makes it; unset it"
exits "one whose markers are gone asks for nothing" 0 env FENCE_MARKERS="$W/none:$T/none" fence-guard exec -- true

mkdir -p .fence/runs
echo pass >.fence/runs/verdict
says "the gate's records cannot be written" EROFS -- guard_try write .fence/runs/verdict
says "nor be renamed" EBUSY -- guard_try rename .fence gone
says "naming them opens them" ok --rw .fence -- guard_try write .fence/runs/verdict
done_testing
