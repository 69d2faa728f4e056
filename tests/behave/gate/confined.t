#!/bin/sh
# A stage runs confined by fence-guard unless it says otherwise. What it is refused it
# sees as an errno; a sandbox that cannot be set up is no failure of the stage.
. "$(dirname "$0")/../../lib/tap.sh"
. "$SRC/tests/behave/gate/gate.sh"
mark=5$$

# Not below /tmp, of which a confined stage has one of its own.
outside=$(mktemp -d /var/tmp/fence-test.XXXXXX)
if [ -z "$outside" ] || ! fence-guard exec -- true; then
	lacks "stages are confined" "a writable /var/tmp, and namespaces for fence-guard"
	done_testing
fi
later rm -rf "$outside"
mkdir "$outside/home" "$outside/home/.ssh"
echo secret >"$outside/home/.ssh/id"
HOME=$outside/home
export HOME

# The positive control: the same commands without a sandbox succeed.
stages() {
	cat <<END
  - {id: write, command: [sh, -c, "echo x >$outside/file"], sandbox: $1}
  - {id: read, command: [cat, "$outside/home/.ssh/id"], sandbox: $1}
  - {id: connect, command: [bash, -c, "exec 3<>/dev/tcp/127.0.0.1/\$PORT"], sandbox: $1, env: {keep: [PORT]}}
END
}
mkfifo hold
tcp_listen <hold >"$T/port" &
listener=$!
exec 7>hold
await file "$T/port"
PORT=$(cat "$T/port")
export PORT

stages none | gates write, read, connect
run_all
is "without a sandbox they all pass" "$status $(record '[.stages[].result] | join(" ")')" \
	"0 passed passed passed"
rm -f "$outside/file"

stages gate | gates write, read, connect
run_all
is "in the sandbox each fails: FAIL" "$status $(record '[.stages[].result] | join(" ")')" \
	"1 failed failed failed"
err=$(cat "$T/err")
like "writing outside of the root: EROFS in the tail" "$err" "*write: all of *Read-only file system*"
ok "nothing was written" test ! -e "$outside/file"
like "reading a denied file: EACCES in the tail" "$err" "*  | cat: *: Permission denied*"
unlike "the secret is not in the tail" "$err" "*| secret*"
like "opening a connection: ECONNREFUSED in the tail" "$err" "*/dev/tcp/127.0.0.1/$PORT: Connection refused*"
is "the record has the layers" \
	"$(record '.stages[0].guard | .executed, .layers.mounts, .layers.seccomp' | paste -sd' ')" \
	"true enforced enforced"
exec 7>&-
wait $listener

gates inside, records <<'END'
  - {id: inside, command: [sh, -c, "echo x >made && cat made"]}
  - {id: records, command: [sh, -c, "echo x >>.fence/runs/forged || mv .fence .f2 || rm -rf .fence"]}
END
run_all
is "the root is writable, the records are not" \
	"$status $(record '[.stages[].result] | join(" ")')" "1 passed failed"
ok "they are where they were" test -d .fence/runs -a ! -e .f2 -a ! -e .fence/runs/forged

gates env, end, signal, own <<'END'
  - {id: env, command: [sh, -c, "echo ${SET}-${SECRET_TOKEN}"], env: {set: {SET: here}}}
  - {id: end, command: [sh, -c, "exit 7"]}
  - {id: signal, command: [sh, -c, "kill -SEGV $$"]}
  - {id: own, command: [sh, -c, "exit 125"]}
END
SECRET_TOKEN=x run_all --keep-going
is "the environment is the stage's" "$(record '.stages[0].output.stdoutTail')" "here-"
is "a status comes through" "$(record '.stages[1] | .result, .exit.code' | paste -sd' ')" "failed 7"
is "a signal is a signal" "$(record '.stages[2] | .result, .exit.signal, .killedBy' | paste -sd' ')" "signalled 11 other"
is "a command's own 125 is a failure" "$(record '.stages[3] | .result, .exit.code' | paste -sd' ')" "failed 125"

gates missing <<'END'
  - {id: missing, command: [no-such-program]}
END
PATH=$BIN:$HELP:/usr/bin:/bin run_all
is "a command that is not there degrades" \
	"$status $(record '.stages[0] | .result, .detail, .exit' | paste -sd' ')" \
	"3 not-executed could not be executed: find no-such-program: No such file or directory null"

# What a stage may is a policy's matter: here, to confine others itself. As root that takes
# set-id files to be allowed as well, since the root may be written.
cp "$BIN/fence-guard" .
cat >policy.yaml <<'END'
version: 1
profiles:
  gate: {allowNesting: true, allowSetId: true}
END
gates nest, shut <<'END'
  - {id: nest, command: [./fence-guard, exec, --, sh, -c, "echo inner >nested"], policy: policy.yaml}
  - {id: shut, command: [./fence-guard, exec, --, "true"]}
END
run_all
is "a stage whose policy has allowNesting confines others, another one does not" \
	"$status $(record '[.stages[].result] | join(" ")') $(cat nested)" "1 passed failed inner"
like "which says what it takes" "$(cat "$T/err")" "*it is inside of fence-guard exec*--allow-nesting*"
is "the record names the policy" "$(record '[.stages[] | .policy // "-"] | join(" ")')" "policy.yaml -"
like "so does the plan" "$(fence-gate plan all)" "*policy: policy.yaml*"
gates a <<'END'
  - {id: a, command: ["true"], policy: none.yaml}
END
run_all
is "a policy that is not there is no failure of the stage: exit 3" "$status" 3
gates a <<'END'
  - {id: a, command: ["true"], policy: policy.yaml, sandbox: none}
END
exits "a policy without a sandbox is a fault" 65 fence-gate check
like "with its place" "$(cat "$T/out" "$T/err")" '*"policy" with sandbox none: nothing is confined*'

mkdir "$T/alone"
cp "$BIN/fence-gate" "$T/alone/"
gates a <<'END'
  - {id: a, command: ["true"]}
END
"$T/alone/fence-gate" run all >"$T/out" 2>"$T/err"
is "without fence-guard nothing runs unconfined: exit 3" $? 3
like "it says so" "$(cat "$T/err")" "*  a: could not be executed: fence-guard: not found; install it beside fence-gate*"

gates stubborn, daemon <<END
  - {id: stubborn, command: [sh, -c, "trap '' TERM; setsid sleep $mark & sleep $mark"], timeout: 300ms, grace: 100ms}
  - {id: daemon, command: [sh, -c, "setsid sleep $mark & exit 0"]}
END
run_all
is "a time-out and a daemon in the sandbox" "$status $(record '[.stages[].result] | join(" ")')" \
	"3 timed-out passed"
ok "nothing of them runs" await none "$mark"

gates a, b <<END
  - {id: a, command: [sh, -c, "trap '' TERM; setsid sleep $mark & echo up >a.up; wait"]}
  - {id: b, command: [sh, -c, "echo up >b.up; exec sleep $mark"]}
END
fence-gate run all --jobs 2 >"$T/out" 2>"$T/err" &
gate=$!
await file a.up
await file b.up
kill -9 $gate
ok "kill -9 leaves nothing after a second" await -t 1 none "$mark"
done_testing
