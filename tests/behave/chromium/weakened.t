#!/bin/sh
# The proof can fail: a browser without its sandbox is told apart, and ended.
. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/browser.sh"

elf=$(fence-chromium --fence-browser=/nonexistent 2>&1 >/dev/null)
like "a browser that is not there is refused" "$elf" '*executable_missing*'

# The browser's own file, as our browser's command line shows it.
# shellcheck disable=SC2086
launch $QUIET --remote-debugging-port=0 "$PAGE"
ok "a sandboxed browser is proven" reaches sandboxed
elf=$(tr '\0' '\n' <"/proc/$BROWSER/cmdline" | head -n 1)
exits "and proven from outside" 0 fence-chromium --fence-prove="$BROWSER"
kill -9 "$BROWSER"
closes

mkdir "$T/home" "$T/home/tmp"
# shellcheck disable=SC2086
HOME=$T/home TMPDIR=$T/home/tmp "$elf" $QUIET --no-sandbox --user-data-dir="$T/home/profile" \
	--remote-debugging-port=0 "$PAGE" >/dev/null 2>&1 &
BROWSER=$!
ok "a browser without a sandbox runs" await some "--type=renderer"
exits "it is not proven" 1 fence-chromium --fence-prove="$BROWSER"
is "it is called weakened" "$(value state "$T/out")" weakened
is "every renderer is called weak" "$(value proven "$T/out")" 0
unlike "and at least one is" "$(value weak "$T/out")" 0
is "its command line is not clean" "$(value commandLineClean "$T/out")" false
kill -9 "$BROWSER"
wait "$BROWSER" 2>/dev/null
BROWSER=
ok "it is gone" await -t 5 none "$T/home"

# A program that has a child which calls itself a renderer and is in no sandbox.
fake sh
launch --fence-browser="$T/sh" -c 'sh -c "read x </dev/tty || sleep 1000" --type=renderer;
	exit 3' --user-data-dir="$T/tmp/profile"
closes
is "a browser with a weak renderer is ended" "$STATUS" 137
is "evidence calls it weakened" "$(value state "$T/ev.json")" weakened
is "and says who ended it" "$(value endedByMonitor "$T/ev.json")" true
rm -rf "$T/tmp/profile"

# A program that is started as the browser and becomes one with other words, or puts
# itself into namespaces: what it was at first proves nothing.
sh=$(command -v sh)
cat >"$T/launcher" <<-EOF
	exec "$elf" $(echo "$QUIET" | tr -d "\n") --remote-debugging-port=0 --no-zygote-sandbox \
		--user-data-dir="$T/tmp/profile" "$PAGE"
EOF
launch --fence-browser="$T/sh" "$T/launcher" --user-data-dir="$T/tmp/profile"
closes
is "a launcher's words are not taken for the browser's" "$(value commandLineClean "$T/ev.json")" false
is "such a browser is ended" "$STATUS" 137
rm -rf "$T/tmp/profile"

cat >"$T/launcher" <<-EOF
	exec unshare -U --map-current-user -n "$sh" -c \
		'"$sh" -c "read x </dev/tty || sleep 1000" --type=renderer; exit 3'
EOF
launch --fence-browser="$T/sh" "$T/launcher" --user-data-dir="$T/tmp/profile"
closes
is "a launcher's namespaces are not taken for a renderer's" \
	"$(grep -o '"userNamespace":false\|"netNamespace":false' "$T/ev.json" | wc -l)" 2
rm -rf "$T/tmp/profile"
leaves_nothing "and the weak renderer with it"
done_testing
