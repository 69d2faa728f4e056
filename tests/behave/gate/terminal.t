#!/bin/sh
# On a terminal: colours unless NO_COLOR says no; a stage can neither take the
# terminal nor be stopped by it.
. "$(dirname "$0")/../../lib/tap.sh"
. "$SRC/tests/behave/gate/gate.sh"

# on_terminal COMMAND: runs it with a terminal of its own; what it shows in $T/seen.
on_terminal() {
	TERM=xterm timeout 30 script -qec "$1" /dev/null >"$T/seen" 2>&1 </dev/null
	status=$?
}
colours() {
	tr -cd '\033' <"$T/seen" | wc -c
}

gates bad <<'END'
  - {id: bad, command: ["false"], sandbox: none}
END
on_terminal "fence-gate run all"
is "colours on a terminal" "$status $(test "$(colours)" -gt 0 && echo some)" "1 some"
on_terminal "NO_COLOR=1 fence-gate run all"
is "none with NO_COLOR" "$status $(colours)" "1 0"
on_terminal "TERM=dumb fence-gate run all"
is "none on a terminal that has none" "$status $(colours)" "1 0"

gates shell, password, reader <<'END'
  - {id: shell, command: [bash, -ic, "true"], sandbox: none, timeout: 20s}
  - {id: password, command: [sh, -c, "if (exec </dev/tty) 2>/dev/null; then exit 1; fi"], sandbox: none, timeout: 20s}
  - {id: reader, command: [cat], sandbox: none, timeout: 20s}
END
on_terminal "fence-gate run all"
is "an interactive shell, a prompt and a reader do not hang the run" "$status" 0
done_testing
