# Shared by the tests of --contain. POSIX sh, sourced after tap.sh.
#
#   each_kind FUNCTION   calls FUNCTION WHO KIND for every containment that can be had
#                        here, as root and as a plain user when we are root; what cannot
#                        be had is said by `lacks`
#   as WHO COMMAND...    runs it as root or as the user 65534, in a cgroup of this test's
#                        own, delegated to that user, when root could make one
#   as_exec WHO COMMAND...  the same in place of the shell, for use with &
#   groups               lists the cgroups that a run has left behind
#   check FILE           nothing in this record is against its schema
chmod 777 "$T"

CG_MOUNT=$(awk '{ for (i = 7; i < NF; i++) if ($i == "-" && $(i + 1) == "cgroup2") print $5 }' \
	/proc/self/mountinfo | head -n 1)
CG_HERE=$CG_MOUNT$(sed -n 's/^0:://p' /proc/self/cgroup | sed 's:/$::')
CG=
if [ $ROOT = yes ] && [ -n "$CG_MOUNT" ] && mkdir "$CG_HERE/fence-contain.$$" 2>/dev/null; then
	CG=$CG_HERE/fence-contain.$$
	chown 65534:65534 "$CG" "$CG/cgroup.procs" "$CG/cgroup.subtree_control" "$CG/cgroup.threads"
	later rmdir "$CG"
fi

as_exec() {
	who=$1
	shift
	[ "$who" = root ] || [ $ROOT = no ] || set -- setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	[ -z "$CG" ] || set -- sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$CG" "$@"
	exec "$@"
}

as() {
	(as_exec "$@")
}

groups() {
	for group in "$CG"/fence.[0-9]*; do
		[ ! -d "$group" ] || echo "$group"
	done
}

check() {
	faults=$(jq -r --slurpfile schema "$SRC/schemas/fence-run-result-v1.json" \
		-f "$SRC/tests/lib/schema.jq" "$1") && echo "$faults" && [ -z "$faults" ]
}

# Whether the kernel gives it, asked without the program under test.
can() { # WHO KIND
	case $2 in
	subreaper) true ;;
	pidns)
		if [ "$1" = root ] && [ $ROOT = yes ]; then
			as root unshare -pf --mount-proc true
		else
			as user unshare -Urpf --mount-proc true
		fi
		;;
	cgroup) [ -n "$CG" ] ;;
	esac
}

each_kind() {
	for who in root user; do
		[ $who = user ] || [ $ROOT = yes ] || continue
		for kind in subreaper pidns cgroup; do
			if can $who $kind 2>/dev/null; then
				"$1" $who $kind
			elif [ $kind = cgroup ] && [ $ROOT = no ]; then
				# Only root can delegate one; then the test runs as this user too.
				note "$(basename "$0"): a cgroup for a plain user is tried when run as root"
			else
				lacks "$who, $kind" "$kind as $who ($([ $kind = pidns ] &&
					echo "pid and user namespaces, an uncovered /proc" ||
					echo "a cgroup of version 2 that can be written to"))"
			fi
		done
	done
}
