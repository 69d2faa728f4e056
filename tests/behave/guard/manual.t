#!/bin/sh
# The manual's table of refused calls is the program's.
. "$(dirname "$0")/guard.sh"

mandoc -Tascii "$SRC/man/fence-guard.1" | sed 's/.\x08//g' >page
calls=$(sed -n 's/^[[:space:]]*{ "\([a-z_0-9]*\)", E.*/\1/p' "$SRC/guard/policy/calls.h")
like "there is a table" "$calls" "*clone3*mount*"
missing=
for call in $calls; do
	grep -qw "$call" page || missing="$missing $call"
done
is "every refused call is in the manual" "$missing" ""
mandoc -Tascii "$SRC/man/fence-policy.5" | sed 's/.\x08//g' >page5
kept=$(sed -n 's/^[[:space:]]*{ "\([a-z_0-9]*\)", GUARD_KEPT.*/\1/p' "$SRC/guard/policy/calls.h")
ours=$(sed -n '/guard_init_calls/,/};/s/"\([a-z_0-9]*\)",/\1/gp' "$SRC/guard/policy/calls.h")
judged=$(sed -n '/guard_judged_nesting/,/};/d; /guard_judged/,/};/s/"\([a-z_0-9]*\)",/\1/gp' "$SRC/guard/policy/calls.h")
like "there are words about what no policy can say" "$kept/$ours/$judged" "*mount*/*read*execve*/*ioctl*listen*"
missing=
for call in $kept $ours $judged; do
	grep -qw "$call" page5 || missing="$missing $call"
done
is "every call that no policy can allow or deny is in its manual" "$missing" ""
max=$(sed -n 's/^#define GUARD_KNOWN_MAX \([0-9]*\).*/\1/p' "$SRC/guard/policy/calls.h")
ok "and the highest known number" grep -qw "$max" page
missing=
for path in $(grep -o '"\(\.[a-z][^"]*\|/etc/[^"]*[a-z]\)"' "$SRC/guard/policy/profiles.c" | tr -d '"'); do
	grep -qF -- "$path" page || missing="$missing $path"
done
is "so are the files that are protected and masked unnamed, but for shells' own" \
	"$(echo "$missing" | tr ' ' '\n' | grep -v 'rc$\|profile$\|login$\|logout$\|zsh\|fish')" ""
done_testing
