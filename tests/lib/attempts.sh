# attempts.sh: attempts whose supervisor a test can kill. Source it after tap.sh.
#
#   begin PATH ATTEMPT [OPTION...] [-- COMMAND...]
#       starts marker_attempt run: $supervisor, $group; what is written to descriptor 3
#       is its input, and what it answers is read from descriptor 4
#   publish LINE    gives it a line, and waits for the answer in $answer
#   die             kills it
#
# Commands sleep for $W seconds, a number that is this test's alone.

W=71$$.5
later sh -c 'for pid in $(cat "$0"); do kill -KILL "$pid"; done 2>/dev/null' "$T/pids"
: >"$T/pids"
supervisor=

begin() {
	exec 3>&- 4<&-
	rm -f "$T/in" "$T/news"
	mkfifo "$T/in" "$T/news"
	# Both ends, so that opening waits for nobody.
	exec 3<>"$T/in" 4<>"$T/news"
	marker_attempt run "$@" <"$T/in" >"$T/news" 2>"$T/begin-err" 3>&- 4<&- &
	exec 3>"$T/in"
	read -r supervisor group <&4
	[ "$supervisor" != 0 ] || {
		note "$(cat "$T/begin-err")"
		exit 1
	}
	echo "$supervisor" >>"$T/pids"
}
publish() {
	echo "$1" >&3
	read -r answer <&4
}
die() {
	kill -KILL "$supervisor"
	wait "$supervisor" 2>/dev/null
	exec 3>&- 4<&-
}
# How many processes sleep for $W seconds. A shell that was told to start them has the
# word as well.
sleepers() {
	pgrep -xf "sleep $W" | wc -l | tr -d ' '
}
await_sleepers() { # COUNT
	tap_tries=0
	until [ "$(sleepers)" = "$1" ] || [ $tap_tries = 500 ]; do
		tap_tries=$((tap_tries + 1))
		await -t 0.01 file "$T/none-such" || :
	done
	[ "$(sleepers)" = "$1" ]
}
