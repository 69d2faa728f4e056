#!/bin/sh
# System calls: the whole table of guard_escape_calls, outside and inside.
. "$(dirname "$0")/escapes.sh"

if [ "$(uname -m)" != x86_64 ]; then
	lacks "the table is x86_64's" x86_64
	done_testing
fi
guard_escape_calls outside "$WHO" >"$T/outside" </dev/null
judge outside <"$T/outside"
tried outside "$T/outside" guard_escape_calls
guard -- guard_escape_calls inside "$WHO" >"$T/inside" </dev/null
judge inside <"$T/inside"
tried inside "$T/inside" guard_escape_calls
guard --net host -- guard_escape_calls inside "$WHO" >"$T/net" </dev/null
same "with the host's network the answers are the same" "$T/net"
guard --env-all --rw "$W" -- guard_escape_calls inside "$WHO" >"$T/wide" </dev/null
same "with everything that can be named" "$T/wide"
guard --explain -- guard_escape_calls inside "$WHO" >"$T/explained" </dev/null 2>"$T/told"
same "while they are explained" "$T/explained"
ok "which they are" test "$(grep -c ' by seccomp: ' "$T/told")" -gt 50
guard --strict --env ASAN_OPTIONS=detect_leaks=0 -- guard_escape_calls inside "$WHO" >"$T/strict" </dev/null
same "with the list of --strict" "$T/strict"
in_none fence-guard exec --ro "$FENCE_BUILD" -- guard_escape_calls inside "$WHO" >"$T/none" </dev/null
same "within another fence-guard" "$T/none"
# shellcheck disable=SC2086 # words
$nesting -- fence-guard exec --ro "$FENCE_BUILD" -- guard_escape_calls inside "$WHO" >"$T/nesting" </dev/null
same "within one that lets others nest" "$T/nesting"
if command -v bwrap >/dev/null; then
	in_bwrap fence-guard exec --ro "$FENCE_BUILD" -- guard_escape_calls inside "$WHO" >"$T/bwrap" </dev/null
	same "within bwrap" "$T/bwrap"
else
	lacks "within bwrap" bubblewrap
fi
done_testing
