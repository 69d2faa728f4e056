#!/bin/sh
# SIGKILL to any of the three processes leaves nothing behind.
. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/browser.sh"

start() {
	# shellcheck disable=SC2086
	launch $QUIET --remote-debugging-port=0 "$PAGE"
	ok "a proven browser runs" reaches sandboxed
	monitor=$(tr ',' '\n' <"$T/ev.json" | sed -n 's/^"monitor":{"pid"://p')
	keeper=$(value keeperPid "$T/ev.json")
}

# Before the monitor runs: held up, with a root made, by evidence that is not taken.
fake true
mkfifo "$T/full"
exec 7<>"$T/full"
timeout 5 head -c 65536 /dev/zero >&7
fence-chromium --fence-browser="$T/true" --fence-evidence-fd=7 2>/dev/null &
BROWSER=$!
ok "a private root is made early" timeout 5 sh -c 'until [ -n "$(ls "$1")" ]; do :; done' sh "$T/tmp"
kill -9 "$BROWSER"
wait "$BROWSER" 2>/dev/null
exec 7<&-
ok "its keeper ends" await -t 5 none "$T/true"
leaves_nothing "nothing is left after SIGKILL at the start"

start
kill -9 "$BROWSER"
closes
is "a killed browser has the status of a kill" "$STATUS" 137
is "its evidence stays what was proven" "$(value state "$T/ev.json")" sandboxed
is "its evidence is final" "$(value final "$T/ev.json")" true
leaves_nothing "nothing is left after SIGKILL of the browser"

start
kill -9 "$monitor"
closes
is "without its monitor the browser is ended" "$STATUS" 137
is "evidence says that it is not proven" "$(value state "$T/ev.json")" unproven
is "evidence says that the monitor was lost" "$(value lost "$T/ev.json")" true
leaves_nothing "nothing is left after SIGKILL of the monitor"

start
kill -9 "$keeper"
ok "without its keeper the browser runs on" kill -0 "$BROWSER"
kill -TERM "$BROWSER"
closes
is "and ends well" "$STATUS" 0
leaves_nothing "nothing is left after SIGKILL of the keeper"
done_testing
