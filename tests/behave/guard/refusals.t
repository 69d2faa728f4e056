#!/bin/sh
# A step that the host forbids ends the launch before the command; none is skipped.
. "$(dirname "$0")/guard.sh"

# A sanitizer's own look for leaks needs the calls that are taken away here.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS

if [ "$(uname -m)" != x86_64 ]; then
	lacks "the numbers below are x86_64's" x86_64
	done_testing
fi

# refused NAME NUMBER ERRNO [OPTION...]
refused() {
	refused_name=$1
	refused_number=$2
	refused_errno=$3
	shift 3
	rm -f ran
	guard_refuse "$refused_number" "$refused_errno" fence-guard exec "$@" -- sh -c ': >ran' 2>"$T/err"
	is "without $refused_name: refused, and nothing was run" "$?/$(ls ran 2>/dev/null)" 125/
	like "with one line that says so" "$(cat "$T/err")" "fence-guard: *"
}

ok "control: a refused call that is not needed changes nothing" \
	guard_refuse 323 1 fence-guard exec -- true
echo x >key
mkdir sub
refused clone 56 1
like "with what to do" "$(cat "$T/err")" "*; a seccomp filter refuses it*"
refused "clone, for want of namespaces" 56 28
refused open_tree 428 38
refused move_mount 429 1
refused mount_setattr 442 1
refused "mount_setattr, in an old kernel" 442 38
like "with what it takes" "$(cat "$T/err")" "*Linux 5.12*"
refused mkdir 83 30 --tmpfs sub
refused chdir 80 13
refused capset 126 1
refused prctl 157 1
refused setsockopt-free-sockets 41 97
refused signalfd 289 24
refused close_range 436 38
is "one line is one line" "$(wc -l <"$T/err" | tr -d ' ')" 1

# A /proc that the host does not give.
guard_refuse 165 1 true
rm -f ran
out=$(guard_refuse 165 13 fence-guard exec -- true 2>&1)
is "without mount(2) nothing starts either" "$?" 125
like "which is said" "$out" "fence-guard: make the mounts private*"
done_testing
