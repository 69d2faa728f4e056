#!/bin/sh
# Started in the background of a shell with job control: it never stops for the terminal,
# never takes it, and the shell goes on.
. "$(dirname "$0")/../../lib/tap.sh"
word=614.$$

shell() { # STEP... -- SCRIPT: a shell with job control on a terminal
	steps=
	while [ "$1" != -- ]; do
		steps="$steps '$1'"
		shift
	done
	shift
	eval "pty_drive $steps -- sh -m -c '$1'" </dev/null >"$T/shown" 2>&1
}
shell -- 'stty tostop; fence-run -q -- sh -c "echo written" & wait $!; echo ended $?'
like "it writes, even where the terminal stops who does (stty tostop)" \
	"$(tr -d '\r' <"$T/shown")" "*written*ended 0"
shell file "$T/up" owner type 'hello\n' expect 'shell: hello' -- \
	"fence-run -q -- sh -c \"echo up >$T/up; exec sleep $word\" & read -r line; echo \"shell: \$line\"; kill %1; wait \$!; echo ended \$?"
like "the shell keeps the terminal and what is typed" "$(tr -d '\r' <"$T/shown")" \
	"*owner: leader*shell: hello*ended 143"
rm -f "$T/up"
shell file "$T/up" type 'hello\n' expect 'shell: hello' -- \
	"fence-run -q -- sh -c \"read -r line; echo \\\"command: \\\$line\\\"; echo up >$T/up\" & read -r line; echo \"shell: \$line\"; wait"
like "a command that reads gets the end at once, and the shell its line" \
	"$(tr -d '\r' <"$T/shown")" "*command: 
*shell: hello*"
rm -f "$T/up"
shell file "$T/up" type 'hello\n' expect 'command: hello' -- \
	"fence-run -q -- sh -c \"echo up >$T/up; read -r line; echo \\\"command: \\\$line\\\"\"; :"
like "control: in the foreground it reads" "$(tr -d '\r' <"$T/shown")" "*command: hello*"
shell -- 'fence-run -q --tee -- seq 3000 & wait $!; echo ended $?'
is "relayed output comes whole" "$(tr -d '\r' <"$T/shown" | tail -n 3 | xargs)" "2999 3000 ended 0"
# The terminal goes away: the shell's jobs hear HUP, and so does the command, once.
rm -f "$T/up"
shell file "$T/up" hangup -- "fence-run -q -- sh -c \"trap \\\"echo hup >>$T/hup; exit\\\" HUP; echo up >$T/up; while :; do await -t 0.1 file $T/no; done\"; :"
ok "a terminal that goes away is HUP for the command" await -t 5 file "$T/hup"
ok "nothing is left" await none "$T/no"
ok "of the others neither" await none "$word"
done_testing
