#!/bin/sh
# What evidence holds is what its schema says, and nothing that could tell on somebody.
. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/browser.sh"

faults() {
	jq -r --slurpfile schema "$SRC/schemas/fence-chromium-evidence-v1.json" \
		-f "$SRC/tests/lib/schema.jq" "$1" 2>&1
}

# shellcheck disable=SC2086
launch $QUIET --no-sandbox --disable-web-security --remote-debugging-port=0 "$PAGE#secret"
ok "a browser runs" reaches sandboxed
is "evidence before the end is as its schema says" "$(faults "$T/ev.json")" ""
exits "it is proven from outside" 0 fence-chromium --fence-prove="$BROWSER"
is "that record too" "$(faults "$T/out")" ""
kill -TERM "$BROWSER"
closes
is "the final one too" "$(faults "$T/ev.json")" ""
is "each line on the descriptor too" "$(faults "$T/lines")" ""
is "there is no text of the command line in it" "$(grep -c -E 'secret|headless' "$T/ev.json")" 0
is "and no path: the only slash is the schema's" "$(tr -cd / <"$T/ev.json")" /

fake true
exits "a refusal" 77 fence-chromium --fence-browser="$T/true" --fence-evidence="$T/ev.json" \
	--single-process
is "is as the schema says" "$(faults "$T/ev.json")" ""
exits "a program without renderers" 0 fence-chromium --fence-browser="$T/true" \
	--fence-evidence="$T/ev.json"
ok "is cleaned up" await -t 5 none "$T/"
is "is as the schema says too" "$(faults "$T/ev.json")" ""
is "and is pending" "$(value state "$T/ev.json")" pending

jq -c '.path = "/x"' "$T/ev.json" >"$T/bad"
unlike "the control: one member too many is seen" "$(faults "$T/bad")" ""
done_testing
