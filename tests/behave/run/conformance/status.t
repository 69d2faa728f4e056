#!/bin/sh
# The exit status, as fence-run and its peers hand it back.
. "$(dirname "$0")/../../../lib/tap.sh"
. "$(dirname "$0")/tools.sh"

printf 'not a program' >"$T/noexec"

status() {
	"$@" >/dev/null
	echo $?
}
exit7() { status "$@" sh -c 'exit 7'; }
segv() { status "$@" sh -c 'kill -SEGV $$'; }
# Without folders that somebody may not look into: those make it 126 for execvp(3).
not_found() { PATH=$BIN:/usr/bin:/bin status "$@" no-such-command; }
not_executable() { status "$@" "$T/noexec"; }

compare <<END
exit7          | exit 7               | 7   | 7   | 7   | 7   | 7
segv           | death of SIGSEGV     | 139 | 139 | 139 | 139 | 139
not_found      | no such command      | 127 | 127 | 127 | 2   | 1
not_executable | not executable       | 126 | 126 | 126 | 2   | 1
END
done_testing
