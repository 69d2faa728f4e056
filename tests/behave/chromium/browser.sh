# browser.sh: what the tests of fence-chromium share; source it after tap.sh.
#
#   $QUIET           options for a headless browser that asks nobody for anything
#   $PAGE            a page of ours
#   value NAME FILE  a member of a record: the first of that name
#   launch WORD...   starts fence-chromium in the background: $BROWSER is its pid,
#                    its standard error goes to $T/log, its evidence to $T/ev.json
#   reaches STATE    waits until evidence says so (a line on a descriptor, not a poll)
#   closes           waits for the end of evidence: all is written and cleaned up then;
#                    $STATUS is the browser's
#   leaves_nothing NAME  no process of this test, no private root
#   fake NAME        a program that is no browser, as one: $T/NAME (a copy, for a link
#                    to a shell would be found to be the shell)
#
# Private roots are made in $T/tmp, so that what is left can be seen.

# shellcheck disable=SC2034 # the tests use these

QUIET="--headless --disable-gpu --disable-background-networking --disable-component-update
 --disable-sync --disable-quic --no-first-run --window-size=640,480"
TMPDIR=$T/tmp
export TMPDIR QUIET
mkdir -m 1777 "$T/tmp"
mkdir -m 777 "$T/pictures"
chmod 1777 "$T/tmp" && chmod 777 "$T/pictures"
PAGE=file://$T/page.html
echo '<!doctype html><title>fence</title><h1>A page of ours</h1>' >"$T/page.html"
unset FENCE_CHROMIUM_UID FENCE_CHROMIUM_EVIDENCE FENCE_CHROMIUM_BROWSER FENCE_CHROMIUM_STRICT \
	FENCE_CHROMIUM_EVIDENCE_FD FENCE_CHROMIUM_REASON_VOCABULARY
later kill_browser

# The browser's uid: root's browsers have a user of their own.
WHO=$(id -u)
[ "$ROOT" = yes ] && WHO=60600

kill_browser() {
	[ -z "${BROWSER:-}" ] || kill -9 "$BROWSER" 2>/dev/null
}

value() {
	tr '{,' '\n\n' <"$2" | sed -n "s/^\"$1\":\"\{0,1\}\([^\"}]*\).*/\1/p" | head -n 1
}

launch() {
	rm -f "$T/fifo" "$T/ev.json"
	mkfifo "$T/fifo"
	# shellcheck disable=SC2086
	fence-chromium --fence-evidence="$T/ev.json" --fence-evidence-fd=9 "$@" \
		9>"$T/fifo" >"$T/stdout" 2>"$T/log" &
	BROWSER=$!
	exec 8<"$T/fifo"
}

reaches() {
	timeout 30 sh -c 'while IFS= read -r line; do
		case $line in *"$1"*) exit 0 ;; esac
	done; exit 1' sh "\"state\":\"$1\"" <&8
}

closes() {
	timeout 30 cat <&8 >"$T/lines"
	exec 8<&-
	wait "$BROWSER"
	STATUS=$?
	BROWSER=
}

leaves_nothing() {
	if ! await -t 5 none "$T/"; then
		fail "$1"
		note "left: $(await -t 0.1 some "$T/")"
	elif [ -n "$(ls -A "$T/tmp")" ]; then
		fail "$1"
		note "left: $(ls -A "$T/tmp")"
	else
		pass "$1"
	fi
}

fake() {
	cp "$(PATH=/usr/bin:/bin which "$1")" "$T/$1"
}
