#!/bin/sh
# Capabilities, seccomp, labels.
. "$(dirname "$0")/bwrap.sh"
b="--ro-bind / / --dev /dev --proc /proc"
all=$(cat /proc/sys/kernel/cap_last_cap)

caps() { # OPTIONS...: which sets are not empty, and the effective one
	fence-bwrap "$@" sed -n 's/^Cap\(...\):\t0*\(.*\)/\1=\2/p' /proc/self/status | paste -sd' '
}
# shellcheck disable=SC2086 # words
{
	is "no privilege comes with a program" "$(fence-bwrap $b grep NoNewPrivs /proc/self/status |
		tr -d '\t')" NoNewPrivs:1
	if [ $ROOT = yes ]; then
		is "uid 0 keeps what it has" "$(caps $b)" \
			"$(sed -n 's/^Cap\(...\):\t0*\(.*\)/\1=\2/p' /proc/self/status | paste -sd' ')"
	else
		is "a user has none, and can get none" "$(caps $b)" "Inh= Prm= Eff= Bnd= Amb="
	fi
	is "--cap-drop ALL" "$(caps --cap-drop ALL $b)" "Inh= Prm= Eff= Bnd= Amb="
	is "--cap-add after it" "$(caps --unshare-user --cap-drop ALL --cap-add CAP_NET_ADMIN $b)" \
		"Inh=1000 Prm=1000 Eff=1000 Bnd=1000 Amb=1000"
	is "for any uid" "$(caps --unshare-user --uid 7 --cap-drop ALL --cap-add cap_kill $b)" \
		"Inh=20 Prm=20 Eff=20 Bnd=20 Amb=20"
	full=$(printf '%x' $(((1 << (all + 1)) - 1)))
	is "--cap-add ALL" "$(caps --unshare-user --cap-add ALL $b)" \
		"Inh=$full Prm=$full Eff=$full Bnd=$full Amb=$full"
	is "and one less" "$(caps --unshare-user --cap-add ALL --cap-drop CAP_CHOWN $b |
		sed 's/.*Amb=//')" "$(printf '%x' $(((1 << (all + 1)) - 2)))"
	# bubblewrap puts the command into a user namespace below the one that owns the
	# others (for --dev): there the capability would be good for nothing.
	ours "one that is there works" fenced --unshare-user --unshare-uts --uid 7 --cap-add \
		CAP_SYS_ADMIN $b sh -c 'hostname fenced; uname -n'
	refuses "a name that is none" "CAP_FOO: no such capability*" --cap-add CAP_FOO $b true
	is "init has none either" "$(fence-bwrap --unshare-pid --cap-drop ALL $b \
		sed -n 's/^CapEff:\t0*//p' /proc/1/status)" ""

	# Filters. What they refuse works without.
	bwrap_filter getpriority 111 >getpriority
	bwrap_filter sync 110 >sync
	says "without a filter" "$(nice)" $b nice
	IN=getpriority
	says "--seccomp: the errno that it says" "nice: cannot get niceness: Connection refused" \
		--seccomp 3 $b sh -c 'nice 2>&1; true'
	says "--add-seccomp-fd as well" "nice: cannot get niceness: Connection refused" \
		--add-seccomp-fd 3 $b sh -c 'nice 2>&1; true'
	says "init is there all the same" "!125" --unshare-pid --seccomp 3 $b nice
	is "both of two" "$(fence-bwrap --add-seccomp-fd 3 --add-seccomp-fd 4 $b \
		grep Seccomp /proc/self/status 3<getpriority 4<sync | tr -d '\t' | paste -sd' ')" \
		"Seccomp:2 Seccomp_filters:2"
	is "of --seccomp the last one" "$(fence-bwrap --seccomp 3 --seccomp 4 $b \
		grep Seccomp /proc/self/status 3<getpriority 4<sync | tr -d '\t' | paste -sd' ')" \
		"Seccomp:2 Seccomp_filters:1"
	IN=/dev/null
	exits "both options is one too many" 1 fence-bwrap --seccomp 3 --add-seccomp-fd 4 $b true \
		3<getpriority 4<sync
	like "is said" "$(cat "$T/err")" "*--add-seccomp-fd cannot be combined with --seccomp"
	exits "the other way round" 1 fence-bwrap --add-seccomp-fd 3 --seccomp 4 $b true \
		3<getpriority 4<sync
	echo garbage >garbage
	exits "what is a filter in length alone" 1 fence-bwrap --seccomp 3 $b true 3<garbage
	like "is refused by the kernel" "$(cat "$T/err")" "*load seccomp filter 1: Invalid argument*"
	printf x >garbage
	exits "in not even that" 1 fence-bwrap --seccomp 3 $b true 3<garbage
	like "is said" "$(cat "$T/err")" "*Invalid seccomp data*"

	if [ -e /sys/fs/selinux/status ]; then
		says "--exec-label" "" --exec-label "$(tr -d '\0' </proc/self/attr/current)" $b true
		says "--file-label" "" --file-label "$(stat -c %C /tmp)" $b true
	else
		for option in --exec-label --file-label; do
			refuses "$option where there is no SELinux" "labels: not supported*" \
				$option label $b true
		done
	fi
}
done_testing
