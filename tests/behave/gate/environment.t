#!/bin/sh
# What a stage is given is exactly what the manual says, whatever we were given.
. "$(dirname "$0")/../../lib/tap.sh"
. "$SRC/tests/behave/gate/gate.sh"

cat >show <<'END'
#!/bin/sh
case $1 in
env) cat "/proc/$$/environ" | tr '\0' '\n' | sort ;;
fds) ls /proc/self/fd | grep -v -e '^[012]$' -e '^3$' ;;
stdin) readlink /proc/self/fd/0 ;;
cwd) pwd -P ;;
umask) umask ;;
signals) grep -E '^Sig(Blk|Ign)' /proc/self/status | awk '{ print $2 }' | sort -u ;;
session) awk '{ print $1 - $6 }' "/proc/$$/stat" ;;
esac
exit 0
END
chmod +x show
gates 'env, fds, stdin, cwd, umask, signals, session' <<'END'
  - {id: env, command: [./show, env], sandbox: none, env: {keep: [KEPT, NOT_SET], set: {LANG: C.UTF-8, ADDED: "a b"}}}
  - {id: fds, command: [./show, fds], sandbox: none}
  - {id: stdin, command: [./show, stdin], sandbox: none}
  - {id: cwd, command: [./show, cwd], sandbox: none}
  - {id: umask, command: [./show, umask], sandbox: none}
  - {id: signals, command: [./show, signals], sandbox: none}
  - {id: session, command: [./show, session], sandbox: none}
END
(
	trap '' PIPE QUIT
	umask 077
	mkdir elsewhere
	cd elsewhere || exit 1
	env -i PATH="$PATH" HOME=/home/x LANG=C TZ=UTC KEPT=1 SECRET_TOKEN=s GIT_DIR=/g \
		MAKEFLAGS='-j --jobserver-auth=8,9' LD_LIBRARY_PATH=/l TERM=vt100 \
		fence-gate run all --config ../gates.yaml 8</dev/null 9>/dev/null <../show >"$T/out" 2>"$T/err"
)
is "it passes" $? 0
tail_of() { record ".stages[] | select(.id == \"$1\") | .output.stdoutTail"; }
is "the environment is the list, kept and set names" "$(tail_of env)" "ADDED=a b
HOME=/home/x
KEPT=1
LANG=C.UTF-8
PATH=$PATH
TZ=UTC"
is "the record has the names" "$(record '.stages[0].environment | sort | join(" ")')" \
	"ADDED HOME KEPT LANG PATH TZ"
is "and the names of what was withheld" "$(record '.withheld | sort | join(" ")')" \
	"GIT_DIR KEPT LD_LIBRARY_PATH MAKEFLAGS SECRET_TOKEN TERM"
is "no descriptor above 2, the lister's own left out" "$(tail_of fds)" ""
is "standard input is /dev/null" "$(tail_of stdin)" /dev/null
is "the working directory is the root" "$(tail_of cwd)" "$(pwd -P)"
is "the umask is 022" "$(tail_of umask)" 0022
is "no signal is blocked or ignored" "$(tail_of signals)" 0000000000000000
is "it leads a session of its own" "$(tail_of session)" 0

# Bytes in, bytes out: no locale is asked what they mean.
gates blob <<'END'
  - {id: blob, command: [sh, -c, "printf %s \"$BLOB\""], sandbox: none, env: {keep: [BLOB]}}
END
BLOB=$(printf 'caf\351 \342\202\254')
export BLOB
run_all
is "a value that is no UTF-8 reaches the stage as it is" \
	"$status $(cat .fence/runs/*/blob.log)" "0 $BLOB"
is "and the record shows it" "$(record '.stages[0].output.stdoutTail')" "$(printf 'caf\\xe9 \342\202\254')"
done_testing
