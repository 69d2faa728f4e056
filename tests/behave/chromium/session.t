#!/bin/sh
# A browser that a client holds: what it is in /proc, and how it ends.
. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/browser.sh"

# With more words than anybody writes, which must all be read again from /proc.
# shellcheck disable=SC2046,SC2086
launch $QUIET $(seq -f --x%g 5000) --no-sandbox --disable-setuid-sandbox \
	--remote-debugging-port=0 "$PAGE"
ok "every renderer is proven" reaches sandboxed
tr '\0' '\n' <"/proc/$BROWSER/cmdline" >"$T/cmdline"
is "the browser has the pid that the client started" "$(value pid "$T/ev.json")" "$BROWSER"
like "it is the real program, not a wrapper" "$(head -n 1 "$T/cmdline")" '*/chrom*'
is "no word of its command line takes the sandbox off" "$(grep -c sandbox "$T/cmdline")" 0
is "no word of its command line is ours" "$(grep -c -e --fence- "$T/cmdline")" 0
is "it is of its user" "$(sed -n 's/^Uid:\t\([0-9]*\)\t.*/\1/p' "/proc/$BROWSER/status")" "$WHO"
is "it has no groups" "$(sed -n 's/^Groups:[ \t]*//p' "/proc/$BROWSER/status" | tr -d ' ')" \
	"$([ "$ROOT" = yes ] || sed -n 's/^Groups:[ \t]*//p' /proc/self/status | tr -d ' ')"
is "its process group is the client's choice" "$(cut -d ' ' -f 5 "/proc/$BROWSER/stat")" \
	"$(cut -d ' ' -f 5 "/proc/$$/stat")"
is "there is one private root" "$(find "$T/tmp" -mindepth 1 -maxdepth 1 | wc -l)" 1
is "the root is private" "$(stat -c '%a %u' "$T"/tmp/fc-*)" "700 $WHO"
exits "another look from outside agrees" 0 fence-chromium --fence-prove="$BROWSER"
like "and says why" "$(cat "$T/out")" '*"state":"sandboxed"*'

kill -TERM "$BROWSER"
closes
is "the exit status is the browser's" "$STATUS" 0
is "evidence is final" "$(value final "$T/ev.json")" true
is "it was cleaned up" "$(value cleanup "$T/ev.json")" "done"
leaves_nothing "nothing is left after a quiet end"
done_testing
