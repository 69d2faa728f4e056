#!/bin/sh
# Namespaces: each is new when asked for, the host's otherwise; ids; those that are joined.
. "$(dirname "$0")/bwrap.sh"
b="--ro-bind / / --dev /dev"

here() {
	readlink "/proc/self/ns/$1"
}
# shellcheck disable=SC2086 # words
{
	for ns in ipc net uts cgroup; do
		says "without --unshare-$ns it is the host's" "$(here $ns)" $b \
			readlink /proc/self/ns/$ns
		for option in --unshare-$ns --unshare-all; do
			inside=$(fence-bwrap $option $b readlink /proc/self/ns/$ns)
			like "$option: a new $ns namespace" "$inside" "$ns:*"
			fails "and not the host's" test "$inside" = "$(here $ns)"
		done
	done
	inside=$(fence-bwrap --unshare-cgroup-try $b readlink /proc/self/ns/cgroup)
	fails "--unshare-cgroup-try: a new one" test "$inside" = "$(here cgroup)"
	says "--unshare-pid: init and the command" 2 --unshare-pid $b sh -c 'echo $$'
	says "--share-net keeps the network" "$(here net)" --unshare-all --share-net $b \
		readlink /proc/self/ns/net
	says "--unshare-net leaves lo" lo --unshare-net $b --proc /proc \
		sed -n 's/^ *\(.*\):.*/\1/p' /proc/net/dev
	says "which is up" "::1" --unshare-net $b --proc /proc sh -c \
		'grep -q " lo$" /proc/net/if_inet6 && echo ::1'
	if [ $ROOT = yes ]; then
		says "uid 0 needs no user namespace" "$(here user)" $b readlink /proc/self/ns/user
	else
		inside=$(fence-bwrap $b readlink /proc/self/ns/user)
		fails "a user gets a user namespace" test "$inside" = "$(here user)"
	fi
	for option in --unshare-user --unshare-user-try; do
		inside=$(fence-bwrap $option $b readlink /proc/self/ns/user)
		fails "$option: a new one" test "$inside" = "$(here user)"
	done
	says "our own ids in it" "$(id -u) $(id -g)" --unshare-user $b sh -c 'echo $(id -u; id -g)'
	says "--uid and --gid" "5 6" --unshare-user --uid 5 --gid 6 $b sh -c 'echo $(id -u; id -g)'
	says "--hostname" fenced --unshare-uts --hostname fenced $b uname -n
	refuses "without its namespace" "--hostname: requires --unshare-uts" --hostname x $b true
	fails "the host's is as it was" test "$(uname -n)" = fenced

	# What is inside cannot make another; the control can.
	nested='unshare --user true 2>/dev/null && echo made || echo refused'
	says "user namespaces can be made inside" made --unshare-user $b sh -c "$nested"
	says "not with --disable-userns" refused --unshare-user --disable-userns $b sh -c "$nested"
	says "nor by raising the limit" refused --unshare-user --disable-userns --uid 0 \
		--cap-add ALL $b sh -c "{ echo 99 >/proc/sys/user/max_user_namespaces; } 2>/dev/null
		$nested"
	says "and that can be asserted" "" --unshare-user --disable-userns \
		--assert-userns-disabled $b true
	refuses "--assert-userns-disabled fails where they can" \
		"assert that user namespaces are disabled: they can be made" \
		--unshare-user --assert-userns-disabled $b true
	refuses "--disable-userns needs --unshare-user" "--disable-userns: requires*" \
		--disable-userns $b true

	# Joined: the namespaces of a sandbox that runs.
	mkfifo up hold
	fence-bwrap --unshare-user --unshare-pid $b --bind "$W" "$W" --chdir "$W" --info-fd 3 \
		sh -c 'readlink /proc/self/ns/user; readlink /proc/self/ns/pid; echo >up; cat hold' \
		3>info >names &
	first=$!
	read -r _ <up
	pid=$(jq '."child-pid"' info)
	join() { # PROGRAM OPTIONS...
		"$@" 3<"/proc/$pid/ns/user" 4<"/proc/$pid/ns/pid"
	}
	is "--userns joins it" "$(join fence-bwrap --userns 3 $b readlink /proc/self/ns/user)" \
		"$(sed -n 1p names)"
	is "--pidns as well" "$(join fence-bwrap --userns 3 --pidns 4 $b readlink /proc/self/ns/pid)" \
		"$(sed -n 2p names)"
	is "--proc is of the one that was joined" \
		"$(join fence-bwrap --userns 3 --pidns 4 $b --proc /proc cat /proc/1/comm)" fence-bwrap
	is "a new one can be made in it" \
		"$(join fence-bwrap --userns 3 --pidns 4 --unshare-pid $b --proc /proc \
			sh -c 'echo $$')" 2
	exits "its status comes through" 7 join fence-bwrap --userns 3 --pidns 4 --unshare-pid \
		$b sh -c 'exit 7'

	# One more below it, for --userns2.
	mkfifo hold2
	nsenter --user="/proc/$pid/ns/user" --preserve-credentials unshare --user \
		sh -c 'readlink /proc/self/ns/user >below; echo >up; read -r _ <hold2' &
	second=$!
	read -r _ <up
	is "--userns2 goes on into one below" "$(fence-bwrap --userns 3 --userns2 4 $b \
		readlink /proc/self/ns/user 3<"/proc/$pid/ns/user" 4<"/proc/$second/ns/user")" \
		"$(cat below)"
	exits "which must be below" 1 fence-bwrap --unshare-user --userns2 3 $b true \
		3<"/proc/$pid/ns/user"
	echo >hold2
	wait $second

	refuses "--userns and a new one is one too many" "--userns: not together*" \
		--userns 3 --unshare-user $b true
	for option in --userns --pidns --userns2; do
		exits "$option of what is no namespace" 1 fence-bwrap $option 3 $b true 3<info
		like "is said" "$(cat "$T/err")" "fence-bwrap: join * namespace $option 3: *"
	done
	echo >hold
	wait $first
}
done_testing
