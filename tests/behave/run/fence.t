#!/bin/sh
# Within somebody else's attempt: the command starts only while the marker is the approved
# one and active, and ends with it.
. "$(dirname "$0")/../../lib/tap.sh"

m=$T/m.json
within() { # COMMAND...
	fence-run --fence "$m" --attempt a --approved "$approved" -- "$@"
}
make_marker() {
	rm -f "$m"
	fence-marker create "$m" --attempt a --pid $$ --json >"$T/made"
	approved=$(sed 's/.*"approved":\({[^}]*}\).*/\1/' "$T/made")
}

make_marker
exits "control: within an active attempt it runs" 7 within sh -c "touch '$T/ran'; exit 7"
ok "it did" test -e "$T/ran"
rm -f "$T/ran"
exits "of another attempt it does not" 77 \
	fence-run --fence "$m" --attempt b --approved "$approved" -- touch "$T/ran"
like "and that is said" "$(cat "$T/err")" "fence-run: the marker is not the approved one: it is of another attempt*"
cp "$m" "$T/kept"
cp "$T/kept" "$m.new" && mv "$m.new" "$m"
exits "with a copy in the marker's place it does not" 77 within touch "$T/ran"
make_marker
old=$approved
fence-marker replace "$m" --attempt a --approved "$approved" --status active --json >"$T/made"
exits "in another state than the approved one it does not" 77 within touch "$T/ran"
approved=$(sed 's/.*"approved":\({[^}]*}\).*/\1/' "$T/made")
exits "control: in the new one it does" 0 within true
fails "the states differ" [ "$old" = "$approved" ]
fence-marker cancel "$m" >/dev/null
exits "after a cancel it does not" 77 within touch "$T/ran"
rm -f "$m"
exits "nor without a marker" 77 within touch "$T/ran"
ok "in none of these cases did it run" test ! -e "$T/ran"
is "nothing is left beside the marker" "$(find "$T" -maxdepth 1 -name '.m*')" ""

# Afterwards.
for how in cancelled removed swapped; do
	make_marker
	mkfifo "$T/up.$how"
	within sh -c "trap 'echo term >\"$T/got.$how\"; exit 3' TERM; echo >'$T/up.$how'; while :; do sleep 1; done" \
		2>"$T/err.$how" &
	run=$!
	read -r _ <"$T/up.$how"
	case $how in
	cancelled) fence-marker cancel "$m" >/dev/null ;;
	removed) rm -f "$m" ;;
	swapped) cp "$m" "$m.new" && mv "$m.new" "$m" ;;
	esac
	wait $run
	is "a marker that is $how ends it, with a TERM first" "$? $(cat "$T/got.$how")" "3 term"
done
make_marker
mkfifo "$T/up"
within sh -c "echo >'$T/up'; read -r _ <'$T/up.go'; exit 5" &
run=$!
mkfifo "$T/up.go"
read -r _ <"$T/up"
fence-marker replace "$m" --attempt a --approved "$approved" --status terminating >/dev/null
echo >"$T/up.go"
wait $run
is "its supervisor's own next state does not" $? 5

exits "--fence wants the other two" 125 fence-run --fence "$m" -- true
exits "and they want it" 125 fence-run --attempt a -- true
done_testing
