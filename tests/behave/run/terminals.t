#!/bin/sh
# What holds on a terminal, whichever of the three ways the command has to do with it.
. "$(dirname "$0")/../../lib/tap.sh"
word=615.$$

shell() { # STEP... -- SCRIPT COMMAND...: a shell with job control on a terminal, 30x90
	steps=
	while [ "$1" != -- ]; do
		steps="$steps '$1'"
		shift
	done
	script=$2
	shift 2
	eval "pty_drive -s 30x90 $steps -- sh -m -c '$script' sh \"\$@\"" </dev/null >"$T/shown" 2>&1
	tr -d '\r' <"$T/shown" >"$T/lines"
}
ended() { # nothing of the row is there
	rm -f "$T/up"
	ok "nothing is left ($1)" await -t 3 none "$T/up"
}

for way in "" --foreground --pty; do
	name=${way:-an own session}
	# shellcheck disable=SC2086 # an option, or none
	set -- fence-run -q --grace 300ms $way --

	shell file "$T/up" type '\x03' expect 2 silence 0.3 signal 9 -- '"$@"; :' "$@" run_signals wait "$T/up" 2
	is "one ^C is one INT ($name)" "$(grep -c '2$' "$T/lines")" 1
	ended "^C, $name"

	shell file "$T/up" resize 11x22 expect resized type 'done\n' expect '11 22' -- '"$@"; :' "$@" \
		sh -c "trap 'echo resized' WINCH; echo up >$T/up; until read -r line; do :; done; stty size"
	is "a new size of the window is heard of and seen ($name)" \
		"$(grep -c '^11 22$' "$T/lines")" 1
	ended "size, $name"

	shell file "$T/up" hangup -- '"$@"; :' "$@" run_signals wait "$T/up" 10
	ended "the terminal went away, $name"

	shell file "$T/up" owner type '\n' -- '"$@" & read -r line; kill %1; wait' "$@" sh -c "echo up >$T/up; exec sleep $word"
	like "a start in the background leaves the terminal to the shell ($name)" \
		"$(cat "$T/lines")" "*owner: leader*"
	ended "background, $name"
done

for way in --foreground --pty; do
	rm -f "$T/up"
	shell file "$T/up" silence 0.2 type 'hello\n' expect 'shell: hello' silence 0.2 -- \
		'"$@" & read -r line; echo "shell: $line"; await -t 0.3 file /nonexistent; kill %1; kill -CONT %1; wait' \
		fence-run -q $way -- sh -c "echo up >$T/up; read -r line; echo \"command: \$line\"; exec sleep $word"
	unlike "in the background it does not read what is typed for the shell ($way)" \
		"$(cat "$T/lines")" "*command: hello*"
	ok "nothing is left ($way)" await -t 3 none "$T/up"
done
done_testing
