#!/bin/sh
# A stage is over when its command is. What it leaves behind is named and ended.
. "$(dirname "$0")/../../lib/tap.sh"
. "$SRC/tests/behave/gate/gate.sh"
name=lingers$$

# It says that it is there, and then waits for a word that never comes.
mkfifo ready never
cat >$name <<'END'
#!/bin/sh
echo yes >ready
read -r _ <never
END
chmod +x $name

gates clean <<END
  - {id: clean, command: [sh, -c, "sleep 0"], leaks: fail, sandbox: none}
END
run_all
is "nothing left: PASS, and nothing is said" \
	"$status $(record '.stages[0] | .leftover.count, .leaked, .detail' | paste -sd' ')" "0 0 false null"

gates daemon <<END
  - {id: daemon, command: [sh, -c, "setsid ./$name >/dev/null 2>&1 & cat ready"], sandbox: none}
END
run_all
is "a daemon left behind: PASS, for leaks are a warning unless told" $status 0
like "it is named in the table" "$(cat "$T/err")" "*daemon *passed *left 1 process behind: $name?*"
is "and in the record" \
	"$(record '.stages[0].leftover | .count, .processes[0].name' | paste -sd' ')" "1 $name"
ok "and it is ended" await none "$name"

gates daemon <<END
  - {id: daemon, command: [sh, -c, "setsid ./$name >/dev/null 2>&1 & cat ready"], leaks: fail, sandbox: none}
END
run_all
is "with leaks: fail it is a FAIL" "$status $(record '.stages[0].result')" "1 leaked"
like "that names it and the field" "$(cat "$T/err")" \
	"*  daemon: left 1 process behind: $name?*; end them in the stage, or set leaks: warn (leaks)*"
ok "and it is ended as well" await none "$name"

# Six well-known runners wait here until the daemon closes the pipe.
gates holder <<END
  - {id: holder, command: [sh, -c, "./$name & cat ready"], sandbox: none, timeout: 60s}
END
run_all
is "one that holds the output open does not hold the stage" \
	"$status $(record '.stages[0] | .result, (.wallUs < 5000000)' | paste -sd' ')" "0 passed true"
ok "and it is ended too" await none "$name"

# In a sandbox it ends with the process namespace, and the guard's init names it.
gates clean <<END
  - {id: clean, command: [sh, -c, "true | cat"], leaks: fail, sandbox: gate}
END
run_all
is "nothing left in a sandbox: PASS" \
	"$status $(record '.stages[0] | .leftover.count, .detail' | paste -sd' ')" "0 0 null"

gates daemon <<END
  - {id: daemon, command: [sh, -c, "setsid ./$name >/dev/null 2>&1 & cat ready"], sandbox: gate}
END
run_all
is "a confined daemon left behind: PASS, and it is named" \
	"$status $(record '.stages[0].leftover | .count, .processes[0].name' | paste -sd' ')" "0 1 $name"
like "in the table too" "$(cat "$T/err")" "*daemon *passed *left 1 process behind: $name?*"
ok "and it is ended" await none "$name"

gates daemon <<END
  - {id: daemon, command: [sh, -c, "./$name & cat ready"], leaks: fail, sandbox: gate}
END
run_all
is "with leaks: fail a confined one is a FAIL" "$status $(record '.stages[0].result')" "1 leaked"
ok "and it is ended as well" await none "$name"
done_testing
