#!/bin/sh
# A containment that was named and cannot be had: 125, the cause, what to do, and nothing
# is run. `best` takes the next one.
. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/contain.sh"

refused() { # NAME PATTERN COMMAND...
	name=$1 pattern=$2
	shift 2
	rm -f "$T/ran" "$T/r"
	exits "$name: refused" 125 "$@" --result "$T/r" -- touch "$T/ran"
	# What a sanitizer says about the stack of a process that failed is not ours.
	grep '^fence-run:' "$T/err" >"$T/said"
	like "$name: in words" "$(cat "$T/said")" "$pattern"
	is "$name: in one line" "$(wc -l <"$T/said")" 1
	ok "$name: nothing was run" test ! -e "$T/ran"
	is "$name: the record says where" "$(jq -r '.cause, .failure.step' "$T/r" | xargs)" "not-started contain"
	ok "$name: it is as its schema says" check "$T/r"
}

# What must have held a command that said which cgroup it is in, when it was no pid
# namespace.
in_force() {
	case $(cat "$T/out") in
	*/fence.[0-9]*) echo cgroup ;;
	*) echo subreaper ;;
	esac
}

if can user pidns 2>/dev/null; then
	# A user namespace in which we are 65534, or root, with everything we need to change
	# the limit; then without, and within it.
	limited() { # ID LIMIT COMMAND...
		id=$1 limit=$2
		shift 2
		unshare -U --map-user="$id" --map-group="$id" --keep-caps sh -c \
			'echo 0 >/proc/sys/user/$0 && exec "$@"' "$limit" "$@"
	}
	powerless="setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all"
	# shellcheck disable=SC2086 # words
	{
		refused "user namespaces off" \
			"fence-run: make a pid namespace: user.max_user_namespaces is 0; raise it *" \
			limited 65534 max_user_namespaces $powerless fence-run --contain pidns
		exits "best goes on with what works" 0 \
			limited 65534 max_user_namespaces $powerless fence-run --contain best --result "$T/r" -- \
			grep '^0::' /proc/self/cgroup
		is "and says which" "$(jq -r .contain "$T/r")" "$(in_force)"
		exits "an attempt is not started either" 125 \
			limited 65534 max_user_namespaces $powerless fence-supervisor --create \
			--attempt a --marker "$T/m.json" --contain pidns -- touch "$T/ran"
		is "and its marker says so" "$(fence-marker read "$T/m.json" --json |
			jq -r '.marker | .status, .result.cause, has("group")' | xargs)" "terminated not-started false"
		ok "it did not run" test ! -e "$T/ran"
	}
	refused "pid namespaces off, for root" \
		"fence-run: make a pid namespace: user.max_pid_namespaces is 0; raise it *" \
		limited 0 max_pid_namespaces fence-run --contain pidns
	refused "root without the capability" \
		"fence-run: make a pid namespace: we are root without CAP_SYS_ADMIN; keep *" \
		unshare -Ur setpriv --bounding-set=-sys_admin fence-run --contain pidns
	# What covers it must be locked there, by a further user namespace.
	covered() {
		unshare -Urpfm --mount-proc sh -c \
			'mount -t tmpfs none /proc/sys && exec unshare -U --map-user=65534 --map-group=65534 "$@"' sh "$@"
	}
	refused "a covered /proc" \
		"fence-run: mount a /proc of the command's own: parts of ours are covered*; uncover /proc *" \
		covered fence-run --contain pidns
	exits "best goes on there too" 0 covered fence-run --contain best --result "$T/r" -- \
		grep '^0::' /proc/self/cgroup
	is "with another" "$(jq -r .contain "$T/r")" "$(in_force)"
	is "where all work, best is pidns" "$(fence-run --contain best --result "$T/r" -- true && jq -r .contain "$T/r")" pidns
else
	lacks "a pid namespace that is impossible" "user namespaces"
fi

if [ -n "$CG_MOUNT" ]; then
	plain() {
		if [ $ROOT = yes ]; then
			setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
		else
			"$@"
		fi
	}
	refused "a cgroup that is not ours" "fence-run: make cgroup *: Permission denied; have the group *" \
		plain fence-run --contain cgroup
else
	lacks "a cgroup that is not ours" "cgroup version 2"
fi
if [ $ROOT = yes ] && [ -n "$CG_MOUNT" ] && unshare -m umount -l "$CG_MOUNT" 2>/dev/null; then
	refused "no cgroup hierarchy" "fence-run: find our cgroup: no hierarchy of version 2 *; mount cgroup2*" \
		unshare -m sh -c 'umount -l "$0" && exec "$@"' "$CG_MOUNT" fence-run --contain cgroup
fi
if [ -n "$CG" ]; then
	chmod 0644 "$CG/cgroup.procs"
	chown 0:0 "$CG/cgroup.procs"
	refused "a group whose processes are not ours to move" \
		"fence-run: make cgroup *: Permission denied; have the group *" as user fence-run --contain cgroup
	chown 65534:65534 "$CG/cgroup.procs"
	exits "control: when they are, it works" 0 as user fence-run --contain cgroup -- true
fi
exits "a word that is none" 125 fence-run --contain jail -- touch "$T/ran"
is "no group is left" "$(groups)" ""
done_testing
