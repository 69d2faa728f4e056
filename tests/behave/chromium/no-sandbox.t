#!/bin/sh
# A client that asks for a browser without a sandbox gets one with it.
. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/browser.sh"

n=0
for word in --no-sandbox -no-sandbox ' --no-sandbox ' --no-sandbox=0; do
	n=$((n + 1))
	# shellcheck disable=SC2086
	launch $QUIET "$word" --screenshot="$T/pictures/$n.png" "$PAGE"
	closes
	is "with '$word' the browser ends well" "$STATUS" 0
	is "with '$word' its own command line is clean" "$(value commandLineClean "$T/ev.json")" true
	is "with '$word' every renderer is proven" "$(value state "$T/ev.json")" sandboxed
	is "with '$word' the word is counted" "$(value count "$T/ev.json")" 1
	is "with '$word' the picture is a PNG" "$(head -c 4 "$T/pictures/$n.png" | tail -c 3)" PNG
done
is "evidence is final" "$(value final "$T/ev.json")" true
is "every layer is seen" "$(grep -o '"layers":{[^}]*}' "$T/ev.json" | grep -c false)" 0
is "it runs as its own user" "$(value uid "$T/ev.json")" "$WHO"
leaves_nothing "nothing is left"
done_testing
