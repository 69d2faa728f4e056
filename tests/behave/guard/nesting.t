#!/bin/sh
# Inside of other sandboxes: confined as much as asked, or refused.
. "$(dirname "$0")/guard.sh"

none="fence-guard exec --profile none"
exits "profile none leaves files alone" 0 $none -- sh -c 'echo x >"$1"' - "$T/outside"
is "the host has it" "$(cat "$T/outside")" x
is "it still has its own processes" "$($none -- sh -c 'echo $$')" 2
exits "and can be nested" 5 $none -- $none -- sh -c 'exit 5'
exits "profile gate works inside of it" 5 $none -- fence-guard exec -- sh -c 'exit 5'
exits "profile none takes no rules" 125 $none --deny . -- true
exits "inside of profile gate there is no further sandbox, and no pretence" 125 \
	guard -- fence-guard exec -- true
like "which is said with its reason" "$(cat "$T/err")" "fence-guard: create namespaces: Operation not permitted; a seccomp filter*"
if command -v bwrap >/dev/null; then
	exits "inside of bwrap" 5 bwrap --bind / / --dev-bind /dev /dev --proc /proc --unshare-user --unshare-pid \
		--cap-add ALL -- fence-guard exec --cwd "$W" -- sh -c 'exit 5'
	# Who starts next outside looks where the registry is; nowhere else would do.
	exits "where no placeholder can be registered one is refused" 125 bwrap --ro-bind / / --bind "$W" "$W" --dev-bind /dev /dev \
		--proc /proc --unshare-user --unshare-pid --cap-add ALL -- fence-guard exec --cwd "$W" --protect none -- true
	like "which is said with the remedy" "$(cat "$T/err")" \
		"fence-guard: register a placeholder in */fenceline*: Read-only file system; create it first, or protect a folder above it"
	fails "and none is left" test -e none
else
	lacks "inside of bwrap" bubblewrap
fi

# What holds of paths holds there: the same scenarios, each once more.
inside() {
	for scenario in protect deny hostile overlay; do
		ok "$scenario.t inside of $1" "$@" sh "$SRC/tests/behave/guard/$scenario.t"
	done
}
if command -v bwrap >/dev/null; then
	inside bwrap --bind / / --dev-bind /dev /dev --proc /proc --unshare-user --unshare-pid --cap-add ALL --
fi
inside fence-guard exec --profile none --env FENCE_BUILD --
done_testing
