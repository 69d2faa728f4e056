#!/bin/sh
# fence-escapes(7) lists the attempts that are made, each with the layer and the answer
# that its test asks for.
. "$(dirname "$0")/../lib/tap.sh"
cd "$SRC" || exit 1

if [ "$(uname -m)" != x86_64 ]; then
	lacks "the page lists x86_64's" x86_64
	done_testing
fi
# rows PAGE: NAME LAYER ANSWER
rows() {
	sed -n 's/^\.It \([^ ]*\) Ta \([a-z-]*\) Ta \([^ ]*\)$/\1 \2 \3/p' "$1" | sort
}
{
	for table in calls files procs nest; do
		"guard_escape_$table" list | tr '\t' ' '
	done
	sed -n 's/^# attempt: //p' tests/behave/guard/escapes/*.t
} | sort >"$T/made"
rows man/fence-escapes.7 >"$T/listed"
is "each row is made, each attempt is listed" "$(diff "$T/made" "$T/listed")" ""
is "no name comes twice" "$(sed 's/ .*//' "$T/listed" | uniq -d)" ""
ok "there are more than two hundred" test "$(wc -l <"$T/listed")" -gt 200
sed '/^\.It chroot Ta/d' man/fence-escapes.7 >"$T/short"
like "a row that is missing is seen" "$(rows "$T/short" | diff "$T/made" -)" "*chroot seccomp EPERM*"
done_testing
