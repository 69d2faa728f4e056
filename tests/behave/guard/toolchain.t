#!/bin/sh
# What people build and test with works under profile gate, as it does outside.
. "$(dirname "$0")/guard.sh"

inside() {
	guard "$@"
}
. "$SRC/tests/behave/guard/toolchain.sh"

same "a debugger of one's own children" '
	python3 -B -c "import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
pid = os.fork()
if pid == 0:
    print(libc.ptrace(0, 0, 0, 0), flush=True); os.kill(os.getpid(), 19); os._exit(3)
os.waitpid(pid, 0); libc.ptrace(7, pid, 0, 0); print(os.waitpid(pid, 0)[1] >> 8)"'

# What does not work, as the manual says.
exits "git does not commit where the host lets nobody copy" 128 guard_filter no-overlay \
	fence-guard exec --ro "$FENCE_BUILD" -- git commit -q --allow-empty -m x
like "with the kernel's reason" "$(cat "$T/err")" "*Read-only file system*"
if [ "$ROOT" = yes ]; then
	mkdir theirs
	chown 65534 theirs
	echo x >theirs/file
	tar -cf owned.tar --owner=65534 theirs/file
	exits "root's command cannot give a file away: tar says so" 2 guard -- sh -c 'mkdir x && tar -xf owned.tar -C x'
	like "with its reason" "$(cat "$T/err")" "*Operation not permitted*"
	exits "--no-same-owner is for that" 0 guard -- sh -c 'mkdir y && tar -xf owned.tar --no-same-owner -C y'
	exits "nor write in another user's folder" 2 guard -- sh -c ': >theirs/new'
fi
done_testing
