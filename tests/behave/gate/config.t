#!/bin/sh
# gates.yaml is read strictly: every fault at once, each with its place, exit 65.
. "$(dirname "$0")/../../lib/tap.sh"
. "$SRC/tests/behave/gate/gate.sh"

faults() {
	fence-gate check 2>&1
	echo "exit $?"
}

gates a <<'END'
  - {id: a, command: ["true"], sandbox: none}
END
is "a good file: exit 0 and silence" "$(faults)" "exit 0"

cat >gates.yaml <<'END'
version: 1
stages:
  - id: unit
    command: [make, check]
    timout: 5s
    timeout: 5
    timeout: 500
    needs: [biuld]
    select: {file: ["{value}"]}
  - id: build
    command: make all
    timeout: soon
gates:
  - {id: full, stages: [unit, nothing-like-it]}
END
is "all faults at once, by line and column" "$(faults)" \
	"fence-gate: gates.yaml:5:5: unknown key \"timout\"; did you mean \"timeout\"
fence-gate: gates.yaml:7:5: key \"timeout\" on line 7 is on line 6 already
fence-gate: gates.yaml:8:13: needs unknown stage \"biuld\"; did you mean \"build\"
fence-gate: gates.yaml:9:5: unknown key \"select\"; this version cannot do that yet
fence-gate: gates.yaml:11:14: \"command\" must be a list, not a scalar
fence-gate: gates.yaml:12:14: \"timeout\" is no duration: \"soon\"; write 250ms, 5s or 10m
fence-gate: gates.yaml:14:31: names the unknown stage \"nothing-like-it\"
exit 65"
exits "run refuses it" 65 fence-gate run full
ok "and has made nothing" test ! -e .fence

gates a <<'END'
  - {id: a, command: ["true"], needs: [b]}
  - {id: b, command: ["true"], needs: [c]}
  - {id: c, command: ["true"], needs: [a]}
END
is "a circle prints its path" "$(faults)" \
	"fence-gate: gates.yaml:5:40: needs go in a circle: a -> b -> c -> a
exit 65"

gates a <<'END'
  - {id: a, command: [./args, no, 3.10, 010, "10"], sandbox: none}
END
is "scalars stay strings, with a warning" "$(faults)" \
	"fence-gate: gates.yaml:3:31: warning: \"no\" stays the string \"no\"; quote it to say so
fence-gate: gates.yaml:3:35: warning: \"3.10\" stays the string \"3.10\"; quote it to say so
fence-gate: gates.yaml:3:41: warning: \"010\" stays the string \"010\"; quote it to say so
exit 0"
printf '#!/bin/sh\nprintf "%%s\\n" "$@"\n' >args
chmod +x args
run_all
is "and reach the command so" "$(record '.stages[0].output.stdoutTail' | paste -sd' ')" "no 3.10 010 10 "

gates a <<'END'
  - {id: a, command: [sh, -c, "false | tee log"], sandbox: none}
END
like "a pipe that hides a failure is warned of" "$(faults)" \
	"fence-gate: gates.yaml:3:31: warning: a pipe without pipefail passes when*exit 0"

{
	printf 'stages: '
	head -c 80000 /dev/zero | tr '\0' '['
} >gates.yaml
is "80,000 brackets are refused, before anything is spent on them" \
	"$(timeout 2 fence-gate check 2>&1; echo "exit $?")" \
	"fence-gate: gates.yaml:1:40: nested deeper than 32
exit 65"

head -c 300000 /dev/zero | tr '\0' '#' >gates.yaml
is "so is a file over 256 KiB" "$(faults)" \
	"fence-gate: read gates.yaml: larger than 256 KiB
exit 65"

# More faults than are shown, in a file whose name would act on a terminal.
name=$(printf 'a\033]0;b')
{
	printf 'version: 1\nstages: []\ngates:\n'
	seq 100 | sed 's/.*/  - {id: g&, stages: [none&]}/'
} >"$name"
exits "more faults than are shown" 65 fence-gate check --config "$name"
is "the last line counts the rest" "$(tail -n 1 "$T/err")" \
	"fence-gate: a\\x1b]0;b: more faults than are shown; mend these; $((101 - $(wc -l <"$T/err"))) more are left"
is "and nothing acts on a terminal" "$(tr -cd '\033' <"$T/err" | wc -c)" 0
rm "$name"

printf 'version: 1\nstages:\n\t- id: a\n' >gates.yaml
like "a tab is named" "$(faults)" \
	"fence-gate: gates.yaml:3:1: a tab in the indentation; use spaces*exit 65"

rm gates.yaml
is "no file" "$(faults)" \
	"fence-gate: open gates.yaml: No such file or directory; name the file with --config
exit 65"
mkfifo gates.yaml
is "a FIFO in its place does not hang" "$(timeout 5 fence-gate check 2>&1; echo "exit $?")" \
	"fence-gate: read gates.yaml: not a regular file
exit 65"
rm gates.yaml

# Usage.
gates a <<'END'
  - {id: a, command: ["true"], sandbox: none}
END
exits "an unknown gate: exit 64" 64 fence-gate run al
like "with the nearest" "$(cat "$T/err")" 'fence-gate: al: no such gate; did you mean "all"'
exits "no gate: exit 64" 64 fence-gate run
exits "two gates: exit 64" 64 fence-gate run all all
exits "an unknown option: exit 64" 64 fence-gate run all --job 3
exits "no jobs: exit 64" 64 fence-gate run all --jobs 0
exits "an unknown verb: exit 64" 64 fence-gate rnu all
exits "options after the gate count" 0 fence-gate run all --jobs 3
exits "and before it" 0 fence-gate run --jobs 3 all

# A file elsewhere: its folder is the root.
mkdir sub
cat >sub/other.yaml <<'END'
version: 1
stages: [{id: a, command: [pwd], sandbox: none}]
gates: [{id: all, stages: [a]}]
END
exits "a file elsewhere" 0 fence-gate run all --config sub/other.yaml
is "its folder is the root" "$(cat sub/.fence/runs/*/a.log)" "$(pwd -P)/sub"

# The folder of records is no link: an earlier run's stage could have made one.
mkdir linked elsewhere
cp gates.yaml linked/
ln -s ../elsewhere linked/.fence
exits "records do not go through a link" 70 fence-gate run all --config linked/gates.yaml
like "that says so" "$(cat "$T/err")" "fence-gate: open folder .fence: *"
is "and nothing was written there" "$(ls -A elsewhere)" ""
rm linked/.fence
mkdir linked/.fence
ln -s ../../elsewhere linked/.fence/runs
exits "nor through one below it" 70 fence-gate run all --config linked/gates.yaml
is "that says which, and what to do" "$(cat "$T/err")" \
	"fence-gate: open folder .fence/runs: Not a directory; records go into a folder and through no link; remove it"
is "nothing was written there either" "$(ls -A elsewhere)" ""

exits "a missing PATH is an error" 65 env -u PATH "$BIN/fence-gate" run all
like "that says so" "$(cat "$T/err")" "fence-gate: environment of stage a: PATH is not set; *"
done_testing
