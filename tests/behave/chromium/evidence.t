#!/bin/sh
# Where evidence may go, and what a place that does not take it can do.
. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/browser.sh"

fake true
it="fence-chromium --fence-browser=$T/true"
mkdir "$T/dir"
mkfifo "$T/pipe"
echo kept >"$T/file"
ln -s "$T/file" "$T/link"
ln -s "$T/none" "$T/dangling"

# shellcheck disable=SC2086
exits "the control: a plain file is replaced" 0 $it --fence-evidence="$T/ev.json"
for place in dir pipe link dangling; do
	# As root a rename would put a file where a device was.
	# shellcheck disable=SC2086
	exits "a $place is not replaced" 125 $it --fence-evidence="$T/$place"
	like "a $place: one line says why" "$(cat "$T/err")" \
		"fence-chromium: evidence $T/$place: it is there, and no plain file; *"
done
is "what a link names is untouched" "$(cat "$T/file")" kept
is "nothing is made where a link leads" "$(ls "$T/none" 2>/dev/null)" ''

# A reader that does not read: a pipe holds 16 pages; with one less the first line fits
# and the last does not.
mkfifo "$T/full" "$T/fuller"
exec 7<>"$T/full"
timeout 5 head -c 65536 /dev/zero >&7
# shellcheck disable=SC2086
exits "a full pipe for evidence stops the launch" 125 timeout 20 $it --fence-evidence-fd=7
like "and one line says so" "$(cat "$T/err")" "fence-chromium: write evidence: *"
exec 7<&-
exec 7<>"$T/fuller"
timeout 5 head -c 61440 /dev/zero >&7
# shellcheck disable=SC2086
exits "one that fills later does not hold the browser" 0 \
	timeout 20 $it --fence-evidence-fd=7 --fence-evidence="$T/ev.json"
ok "nor the two beside it" await -t 10 none "$T/ev.json"
is "and the file has the last word" "$(value final "$T/ev.json")" true
exec 7<&-

umask 777
# shellcheck disable=SC2086
fence-chromium --fence-browser="$T/true"
is "a umask that takes everything does not matter to the private root" $? 0
umask 022
leaves_nothing "nothing is left"
done_testing
