#!/bin/sh
# --new-session: a session without the terminal. Unasked, the terminal is kept.
. "$(dirname "$0")/guard.sh"

G="fence-guard exec --ro $FENCE_BUILD"
# The command's process group and session, and whether it has a controlling terminal.
cat >where <<'END'
read -r pid name state parent group session tty rest </proc/$$/stat
[ "$tty" = 0 ] || tty=terminal
echo "$group $session $tty"
END
on_terminal() {
	pty_drive -- "$@" | tr -d '\r'
}

is "control: unasked it is in our session, with the terminal" "$(on_terminal $G -- sh where)" "2 0 terminal"
is "and opens it" "$(on_terminal $G -- guard_try open /dev/tty)" ok
is "asked for, it leads a session of its own, with none" "$(on_terminal $G --new-session -- sh where)" "2 2 0"
is "/dev/tty is there and leads nowhere" "$(on_terminal $G --new-session -- guard_try open /dev/tty)" ENXIO
is "nor does it get the terminal that it was handed" \
	"$(on_terminal $G --new-session -- guard_try call 16 0 0x540e 0)" EPERM
is "nor becomes its foreground" "$(on_terminal $G --new-session -- guard_try foreground)" ENOTTY
is "it reads and writes it all the same" \
	"$(pty_drive type 'word\n' expect 'got word' -- $G --new-session -- \
		sh -c 'read -r word; echo "got $word"' | tr -d '\r' | tail -n 1)" "got word"
is "without a terminal it works as well" "$($G --new-session -- sh where </dev/null)" "2 2 0"

seen=$(pty_drive expect up owner type '\x03' expect heard -- $G --new-session -- \
	bash -c 'trap "echo heard; exit 9" INT; echo up; while :; do read -r -t 0.05 x; done')
is "Ctrl-C reaches the command, through us" "$?" 9
like "to whom the terminal belongs" "$seen" "*owner: leader*"
seen=$(pty_drive expect up type '\x1a' type 'on\n' expect 'went on' -- $G --new-session -- \
	sh -c 'echo up; read -r word; echo "went $word"')
is "Ctrl-Z stops nobody: an orphaned group is not stopped from the terminal" "$?" 0

$G --new-session -- sh -c 'kill -STOP $$; exit 4' &
pid=$!
ok "when the command is stopped otherwise, so are we" await state $pid T
kill -CONT $pid
wait $pid
is "and go on when told" "$?" 4
$G --new-session -- sh -c 'trap "exit 7" TERM; echo up >ready; while :; do sleep 0.05; done' &
pid=$!
await file ready
kill -TERM $pid
wait $pid
is "TERM is passed on" "$?" 7

printf 'version: 1\nprofiles:\n  gate: {newSession: true}\n' >policy.yaml
is "a policy's newSession does the same" "$(on_terminal $G --policy policy.yaml -- sh where)" "2 2 0"
exits "profile landlock has no session to give" 125 fence-guard exec --profile landlock --new-session -- true
like "and says so" "$(cat "$T/err")" "fence-guard: --new-session: profile landlock does without what that takes; *"
done_testing
