#!/bin/sh
# System calls that are refused, asked of the real kernel. The filter's whole table
# is tested without a kernel in tests/unit/guard/policy/filter_test.c.
. "$(dirname "$0")/guard.sh"

if [ "$(uname -m)" != x86_64 ]; then
	lacks "the numbers below are x86_64's" x86_64
	done_testing
fi

says "control: an ordinary call works" ok -- guard_try call 39
says "clone3 does not exist" ENOSYS -- guard_try call 435 1 88
says "and threads start all the same" ok -- guard_try thread
says "a number above the table does not exist" ENOSYS -- guard_try call 5000
says "x32 numbers do not exist" ENOSYS -- guard_try call 0x40000027
exits "the 32-bit entry is death" 159 guard -- guard_try int80
says "mount" EPERM -- guard_try call 165 0 0 0 0 0
says "umount" EPERM -- guard_try call 166 0 0
says "chroot" EPERM -- guard_try call 161 0
says "setns" EPERM -- guard_try call 308 0 0
says "bpf" EPERM -- guard_try call 321 0 0 0
says "keyctl" EPERM -- guard_try call 250 0 0
says "process_vm_readv" EPERM -- guard_try call 310 0 0 0 0 0 0
says "open_tree" ENOSYS -- guard_try call 428 0 0 0
says "io_uring_setup" ENOSYS -- guard_try call 425 0 0
says "unshare of a user namespace" EPERM -- guard_try call 272 0x10000000
says "clone of one" EPERM -- guard_try clone 0x10000000
says "clone of a mount namespace" EPERM -- guard_try clone 0x00020000
says "TIOCSTI" EPERM -- guard_try call 16 0 0x5412 0
says "TIOCSTI with a bit that the kernel does not look at" EPERM -- guard_try call 16 0 0x100005412 0
says "TIOCLINUX" EPERM -- guard_try call 16 0 0x541c 0
is "control: outside a new terminal gets a line discipline" "$(guard_try discipline 0)" ok
says "TIOCSETD" EPERM -- guard_try discipline 0
says "packet sockets" EAFNOSUPPORT -- guard_try call 41 17 3 0
says "packet sockets, family beyond 32 bits" EAFNOSUPPORT -- guard_try call 41 0x100000011 3 0
says "vsock" EAFNOSUPPORT -- guard_try call 41 40 1 0
says "vsock, as a pair" EAFNOSUPPORT -- guard_try call 53 40 1 0
says "raw sockets" EPROTONOSUPPORT -- guard_try call 41 2 3 1
says "netlink but routes" EPROTONOSUPPORT -- guard_try call 41 16 3 9
says "netlink routes" ok -- guard_try call 41 16 3 0
says "an executable-by-reading personality" EPERM -- guard_try call 135 0x400000
says "--allow-userns allows a user namespace" ok --allow-userns -- guard_try clone 0x10000000
says "with pid and net namespaces" ok --allow-userns -- guard_try clone 0x70000000
says "but no mount namespace" EPERM --allow-userns -- guard_try clone 0x10020000
says "and no mount" EPERM --allow-userns -- guard_try call 165 0 0 0 0 0
done_testing
