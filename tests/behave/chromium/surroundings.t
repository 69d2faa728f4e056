#!/bin/sh
# Where the kernel, or what is around us, denies the sandbox, nothing is started, and the
# reason and the remedy are told.
. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/browser.sh"

fake true
# The program is copied, so that a chroot can have it.
cp "$BIN/fence-chromium" "$T/fence-chromium"
it="$T/fence-chromium --fence-browser=$T/true"
# shellcheck disable=SC2086
exits "the control: here it starts" 0 $it

refuses() {
	name=$1
	reason=$2
	shift 2
	exits "$name it is refused" 77 "$@"
	like "$name the reason is told" "$(cat "$T/err")" "fence-chromium: refused ($reason): *; *"
}

# As root we go into a user namespace as the user nobody, whose browser stays his.
user=
[ "$ROOT" = yes ] && user="setpriv --reuid=65534 --regid=65534 --clear-groups"
limited() {
	# shellcheck disable=SC2086
	$user unshare -U --map-current-user --keep-caps sh -c \
		'echo 0 >"/proc/sys/user/$1" && shift && exec "$@"' sh "$1" \
		setpriv --inh-caps=-all --ambient-caps=-all $it
}
refuses "without user namespaces" userns_limit limited max_user_namespaces
refuses "without net namespaces" pid_or_net_ns_denied limited max_net_namespaces
refuses "without pid namespaces" pid_or_net_ns_denied limited max_pid_namespaces

# Confined by a filter that lets nobody make a namespace.
# shellcheck disable=SC2086
refuses "behind a seccomp filter" userns_denied_seccomp \
	$user fence-guard exec --cwd / --ro "$T" -- $it

if [ "$ROOT" = yes ]; then
	# shellcheck disable=SC2086
	refuses "where its uid is not mapped" userns_unmapped_id unshare -Ur $it
	# shellcheck disable=SC2086
	refuses "with a read-only /proc" proc_unavailable \
		unshare -m sh -c 'mount -o remount,bind,ro /proc && exec "$@"' sh $it
	if ldd "$T/fence-chromium" 2>/dev/null | grep -q libc; then
		note "this build needs libraries, which a chroot lacks, and its sanitizer needs /proc"
	else
		# shellcheck disable=SC2086
		refuses "without /proc" proc_unavailable \
			unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh $it
		mkdir "$T/jail" "$T/jail/proc"
		mkdir -m 1777 "$T/jail/tmp"
		cp "$T/fence-chromium" "$T/true" "$T/jail"
		refuses "in a chroot" userns_denied_chroot unshare -m sh -c \
			'mount --bind /proc "$1/proc" && exec chroot "$1" /fence-chromium --fence-browser=/true' \
			sh "$T/jail"
	fi
fi
leaves_nothing "nothing is left"
done_testing
