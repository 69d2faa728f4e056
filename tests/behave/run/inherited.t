#!/bin/sh
# The command starts clean, whatever fence-run was given.
. "$(dirname "$0")/../../lib/tap.sh"

show() { fence-run "$@" -- run_signals show; }

is "it leads a session, with three descriptors and no signal set" "$(show | xargs)" \
	"ignored: blocked: fds: 0 1 2 leads: yes"
is "ignored CHLD, PIPE, INT and RTMIN+1 are reset" \
	"$(run_signals with 17,13,2,35 - fence-run -- run_signals show | head -2 | xargs)" "ignored: blocked:"
is "blocked TERM, INT and CHLD are unblocked" \
	"$(run_signals with - 15,2,17 fence-run -- run_signals show | head -2 | xargs)" "ignored: blocked:"
run_signals with 17 - fence-run -- sh -c 'exit 3'
is "with CHLD ignored the status is still known" $? 3
run_signals with - 15 fence-run -q -t 200ms --grace 60s -- sleep 600
is "with TERM blocked a time-out still works" $? 124
is "with PIPE ignored a pipeline is silent" \
	"$(run_signals with 13 - fence-run -- sh -c 'yes | head -1' 2>&1)" y
is "--keep-signals keeps what was given" \
	"$(run_signals with 13 12 fence-run --keep-signals -- run_signals show | head -2 | xargs)" \
	"ignored: 13 blocked: 12"

fds() { run_signals open 17 18 19 -- "$@" </dev/null | grep fds; }
like "control: 17, 18 and 19 are open" "$(fds run_signals show)" "fds: 0 1 2*17 18 19*"
is "they are closed for the command" "$(fds fence-run -- run_signals show)" "fds: 0 1 2"
is "unless one is to be kept" "$(fds fence-run --keep-fd 17 -- run_signals show)" "fds: 0 1 2 17"
is "several may be, in any order" \
	"$(fds fence-run --keep-fd 19 --keep-fd 17 -- run_signals show)" "fds: 0 1 2 17 19"
is "also with captured output" \
	"$(fds fence-run --tee --keep-fd 17 --keep-fd 18 -- run_signals show)" "fds: 0 1 2 17 18"
is "missing descriptors 0 to 2 are /dev/null" \
	"$(run_signals close 0 2 -- fence-run -- sh -c 'readlink /proc/self/fd/0 /proc/$$/fd/2' | xargs)" \
	"/dev/null /dev/null"
is "standard input is ours" "$(echo hello | fence-run -- cat)" hello

mkdir "$T/dir"
is "--cwd" "$(fence-run --cwd "$T/dir" -- pwd)" "$T/dir"
printf '#!/bin/sh\necho found\n' >"$T/dir/tool"
chmod 755 "$T/dir/tool"
is "a relative command is looked for there" "$(fence-run --cwd "$T/dir" -- ./tool)" found
is "--umask" "$(fence-run --umask 027 -- sh -c umask)" 0027
is "--env sets" "$(fence-run --env A=1 --env A=2 -- sh -c 'echo $A')" 2
is "--unset removes" "$(A=1 fence-run --unset A -- sh -c 'echo ${A-none}')" none
is "--env-allow lets little through" \
	"$(A=1 LC_ALL=C HOME=/h fence-run --env-allow -- sh -c 'echo ${A-none} $HOME $LC_ALL')" "none /h C"
is "and --env a name more" "$(A=1 fence-run --env-allow --env A -- sh -c 'echo $A')" 1
is "the command is looked for in its own PATH" "$(fence-run --env PATH="$T/dir" -- tool)" found
done_testing
