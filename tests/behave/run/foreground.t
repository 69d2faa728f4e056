#!/bin/sh
# --foreground: the command has our terminal, as it would without us.
. "$(dirname "$0")/../../lib/tap.sh"
word=621.$$
words=622.$$

# job STEP... -- SHELL-SCRIPT: under a shell with job control, on a new terminal.
job() {
	steps=
	while [ "$1" != -- ]; do
		steps="$steps '$1'"
		shift
	done
	eval "pty_drive -t 10 $steps -- sh -m -c \"\$2\"" >"$T/shown" 2>&1
}
shown() { # how many lines end with $1
	tr -d '\r' <"$T/shown" | grep -c "$1\$"
}

pty_drive expect go type 'word\n' -- fence-run --foreground --result "$T/r" -- \
	sh -c 'tty; echo go; read -r line; echo "[$line]"; exit 3' >"$T/shown" 2>&1
is "the command reads the terminal; its status counts" "$? $(grep -c '\[word\]' "$T/shown")" "3 1"
is "it was in no group of its own" "$(jq -r .reap "$T/r")" inherited

pty_drive file "$T/up" type '\x03' expect 2 type '\x1c' expect 3 signal 15 -- \
	fence-run --foreground -- run_signals wait "$T/up" 2 3 >"$T/shown" 2>&1
is "one ^C is one INT, and one ^\\ one QUIT" "$(shown 2) $(shown 3)" "1 1"
rm -f "$T/up"
pty_drive file "$T/up" signal 2 expect 2 silence 0.1 signal 15 -- \
	fence-run --foreground -- run_signals wait "$T/up" 2 >"$T/shown" 2>&1
is "an INT that a process sends to us is passed on" "$(shown 2)" 1
rm -f "$T/up"
pty_drive file "$T/up" type '\x03' -- fence-run --foreground -- sh -c "echo up >$T/up; exec sleep $word" >"$T/shown"
is "^C ends what does not mind it" $? 130
pty_drive expect go type '\x03' expect caught type 'on\n' -- fence-run --foreground -- \
	sh -c 'trap "echo caught" INT; echo go; until read -r line; do :; done; echo "[$line]"' >"$T/shown" 2>&1
is "who goes on after ^C is left alone" "$? $(grep -c '\[on\]' "$T/shown")" "0 1"
rm -f "$T/up"
pty_drive file "$T/up" type '\x1c' -- fence-run --foreground -- sh -c "echo up >$T/up; exec sleep $word" >"$T/shown"
is "^\\ ends it with QUIT" $? 131

# ^Z: all of it stops, the time-out too; fg goes on.
rm -f "$T/pid" "$T/seen"
job file "$T/other" type '\x1a' expect waiting file "$T/seen" type '\n' -- \
	"fence-run -q --foreground -t 1500ms --result $T/r -- sh -c 'setsid sleep $word & echo \$\$ >$T/pid; echo \$! >$T/other; exec sleep $word'
	echo waiting; read -r line; fg >/dev/null; echo ended \$?" &
drive=$!
await file "$T/other"
pid=$(cat "$T/pid")
ok "^Z stops the command" await state "$pid" T
ok "what changed its session stops" await state "$(cat "$T/other")" T
ok "the time-out does not run on" sh -c "! await -t 2 gone $pid"
echo yes >"$T/seen"
wait $drive
like "fg goes on, and the time-out comes" "$(cat "$T/shown")" "*ended 124*"
is "it had what was left of it" "$(jq '.wallMs >= 3400' "$T/r")" true
ok "nothing is left" await none "$word"

# A full-screen program puts the screen in order and then stops its whole group itself.
job expect again type '\n' -- \
	"fence-run --foreground -- sh -c 'kill -TSTP 0; echo on; exit 4'
	echo again; read -r line; fg >/dev/null; echo ended \$?"
like "one that stops its group stops us, once" "$(tr -d '\r' <"$T/shown" | tail -n 2 | xargs)" "on ended 4"
# Continued by itself, it takes us along. (It forks nothing meanwhile: a shell in vfork(2) whose
# child has stopped cannot stop itself.)
mkfifo "$T/fifo"
rm -f "$T/pid" "$T/r"
job file "$T/pid" type '\x1a' expect continued -- \
	"fence-run --foreground --result $T/r -- sh -c 'echo \$\$ >$T/pid; read -r go <$T/fifo; exit 5'
	kill -CONT \$(cat $T/pid); echo go >$T/fifo; await file $T/r; echo continued"
is "a command that is continued alone takes us along" "$(jq .exitStatus "$T/r")" 5

# In the background: as without us, and as it is.
for how in "" "fence-run --foreground --"; do
	rm -f "$T/pid" "$T/seen"
	job file "$T/pid" file "$T/seen" owner type '\n' expect again silence 0.2 type 'text\n' type '\x04' -- \
		"$how sh -c 'echo \$\$ >$T/pid; exec cat' & read -r line; echo again; fg >/dev/null; echo ended \$?" &
	drive=$!
	await file "$T/pid"
	ok "${how:-control: bare}: in the background it is stopped when it reads" await state "$(cat "$T/pid")" T
	echo yes >"$T/seen"
	wait $drive
	like "the terminal is still the shell's" "$(cat "$T/shown")" "*owner: leader*"
	like "and after fg it reads" "$(tr -d '\r' <"$T/shown" | xargs)" "*again text text ended 0*"
done

# A shell that goes away with a job that it had stopped: the kernel ends an orphaned group.
for how in "" "fence-run --foreground --"; do
	rm -f "$T/pid"
	job file "$T/pid" type '\x1a' -- "$how sh -c 'echo \$\$ >$T/pid; exec sleep $word'; await -t 5 state \$(cat $T/pid) T"
	ok "${how:-control: bare}: stopped, it ends with its shell" await -t 2 none "$word"
done

# The end of it is not the end of our group.
sleep $word &
bystander=$!
exits "a time-out ends it and what it started" 124 \
	fence-run -q --foreground -t 200ms --grace 100ms --result "$T/r" -- \
	sh -c "trap '' TERM; setsid sleep $words & (trap '' TERM; sleep $words) & sleep $words; sleep $words"
ok "all of it" await -t 1 none "$words"
is "with KILL" "$(jq -r '.reap, .cause, .survivors.count' "$T/r" | xargs)" "reaped-kill timeout 0"
ok "what else is in our group lives" kill -0 $bystander
kill $bystander
rm -f "$T/up"
fence-run -q --foreground --result "$T/r" -- sh -c "trap '' TERM; sleep $words & echo up >$T/up; sleep $words" &
run=$!
await file "$T/up"
sleep $word &
bystander=$!
kill -KILL "$(sed 's/ .*//' /proc/$run/task/$run/children)"
wait $run
is "when the monitor is killed we fail" $? 125
ok "and end it" await -t 1 none "$words"
ok "but not our group" kill -0 $bystander
kill $bystander

# In one session with us, what is to be ended may have gone into another job's group.
for way in "-t 200ms --grace 0" "-t 200ms"; do
	job -- "sleep $word & fence-run -q --foreground $way -- perl -e 'setpgrp(0, \$ARGV[0]) or die; sleep 60' \$!
		echo ended \$?; kill -0 \$! && echo lives; kill \$!"
	like "one that went into another job's group is ended alone ($way)" "$(tr -d '\r' <"$T/shown" | xargs)" "ended 124 lives*"
done

pty_drive -- sh -c "stty -g >$T/before; fence-run -q --foreground -t 300ms -- sh -c 'stty raw -echo; sleep $word'; stty -g >$T/after"
ok "a terminal that a command left raw when it was ended is put in order" cmp "$T/before" "$T/after"
pty_drive -- sh -c "fence-run -q --foreground -- stty -echo; stty -a | grep -o ' -*echo '" >"$T/shown"
like "one that ended by itself has the last word" "$(cat "$T/shown")" " -echo*"
rm -f "$T/up"
pty_drive file "$T/up" hangup -- fence-run --foreground -- sh -c "echo up >$T/up; exec sleep $word" >/dev/null
is "a lost terminal is HUP for the command" $? 129
exits "without any terminal it works as well" 6 setsid -w fence-run --foreground -- sh -c 'exit 6'
exits "it does not go with --pty" 125 fence-run --foreground --pty -- true
ok "nothing is left" await none "$word"
done_testing
