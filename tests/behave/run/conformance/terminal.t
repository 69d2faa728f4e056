#!/bin/sh
# On a real terminal, under a shell with job control.
. "$(dirname "$0")/../../../lib/tap.sh"
. "$(dirname "$0")/tools.sh"

# job STEP... -- SHELL-SCRIPT TOOL... COMMAND...: the script starts "$@"; what is shown.
job() {
	steps=
	while [ "$1" != -- ]; do
		steps="$steps '$1'"
		shift
	done
	script=$2
	shift 2
	eval "pty_drive -t 3 $steps -- sh -m -c '$script' sh \"\$@\"" >"$T/shown" 2>&1
}

# How often the command hears INT when one ^C is typed: the most of two times.
ctrl_c() {
	[ "$tool" = fence-run ] && set -- fence-run -q --grace 300ms --
	most=0
	for try in 1 2; do
		rm -f "$T/up"
		job file "$T/up" type '\x03' expect 2 silence 0.3 signal 9 -- '"$@"; :' \
			"$@" run_signals wait "$T/up" 2
		n=$(tr -d '\r' <"$T/shown" | grep -c '2$')
		[ "$n" -gt "$most" ] && most=$n
		clean
	done
	echo "$most"
}

# ^Z gives the shell its terminal back, with the command stopped; after fg ^\\ ends it.
ctrl_z() {
	rm -f "$T/seen" "$T/again"
	job file "$T/pid" type '\x1a' file "$T/seen" type '\n' expect again file "$T/again" type '\x1c' -- \
		'"$@"; read -r line; echo again; fg >/dev/null; echo ended $?' \
		"$@" sh -c "echo \$\$ >$T/pid; exec sleep $word" &
	drive=$!
	await file "$T/pid"
	state=$(stopped "$(cat "$T/pid")")
	echo yes >"$T/seen"
	# Before fg has given it the terminal, the key would be the shell's.
	await -t "$(within 0.5)" state "$(cat "$T/pid")" S
	echo yes >"$T/again"
	wait $drive
	case $(cat "$T/shown") in
	*"ended 131"*) echo "$state, then ends" ;;
	*) echo "$state, the shell hangs" ;;
	esac
}

background() {
	job file "$T/up" owner signal 9 -- '"$@" & wait' "$@" run_signals wait "$T/up" 10
	case $(cat "$T/shown") in
	*"[owner: leader]"*) echo kept ;;
	*"[owner: other]"*) echo taken ;;
	esac
}

# What asks for a password asks the terminal itself, whatever its standard input is.
password() {
	job expect over signal 9 -- '"$@"; echo over; read -r line' \
		"$@" sh -c 'if true </dev/tty; then echo reached; fi'
	case $(cat "$T/shown") in
	*reached*) echo reached ;;
	*over*) echo not reached ;;
	esac
}

compare <<END
ctrl_c     | one ^C, times that the command hears INT   | 1 | 1/2/3 | 1 | 1 | 1
ctrl_z     | ^Z and fg, the command                     | stopped, then ends | stopped, then ends | stopped, the shell hangs | stopped, then ends | runs, the shell hangs
background | the terminal after a start in the background | kept | kept | taken | kept | taken
password   | the terminal, for who asks for a password  | not reached | reached | reached | not reached | reached
END
done_testing
