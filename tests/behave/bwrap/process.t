#!/bin/sh
# The command as a process: its end, its environment, its folder, who waits for what.
. "$(dirname "$0")/bwrap.sh"
b="--ro-bind / / --dev /dev --bind $W $W"

# shellcheck disable=SC2086 # words
{
	says "its exit status is ours" "!3" $b sh -c 'exit 3'
	says "with an init as well" "!3" --unshare-pid $b sh -c 'exit 3'
	says "a signal is 128 and its number" "!137" $b sh -c 'kill -9 $$'
	says "with an init as well" "!143" --unshare-pid $b sh -c 'kill -TERM $$'
	refuses "a command that is not there" "find none: No such file*" $b none
	refuses "one that cannot be executed" "find /etc/passwd: Permission denied" $b /etc/passwd
	exits "one whose loader is not there" 1 fence-bwrap --ro-bind /usr /usr /usr/bin/true
	like "is found, and that is said" "$(cat "$T/err")" \
		"fence-bwrap: execute /usr/bin/true: No such file*; its loader or interpreter*"
	printf 'echo script "$@"\n' >script
	chmod 755 script
	says "a script without a first line is the shell's" "script a" $b "$W/script" a
	ours "--argv0" other --argv0 other $b sh -c 'head -z -n 1 /proc/$$/cmdline | tr -d "\\0"'

	# Environment.
	export ONE=1 TWO=2
	says "the environment is ours" "1 2" $b sh -c 'echo $ONE $TWO'
	says "--setenv" "x y 2" --setenv ONE 'x y' $b sh -c 'echo $ONE $TWO'
	says "--unsetenv" "unset 2" --unsetenv ONE $b sh -c 'echo ${ONE-unset} $TWO'
	says "--clearenv, and what is set after it" "$(printf 'NEW=n\nPWD=%s' "$W")" \
		--setenv OLD o --clearenv --setenv NEW n $b env
	refuses "a name that is none" "set variable A=B:*" --setenv A=B c $b true
	says "PATH is looked at inside" "found" --setenv PATH "$W/bin:/usr/bin" $b \
		--ro-bind /bin/echo "$W/bin/only-there" only-there found
	rm -rf bin

	# Folders.
	says "it works where we do" "$W $W" $b sh -c 'echo $PWD $(pwd)'
	says "--chdir" "/usr /usr" --chdir /usr $b sh -c 'echo $PWD $(pwd)'
	refuses "to what is not there" "Can't chdir to /none: No such file*" --chdir /none $b true
	says "HOME where our own folder is not inside" /usr --setenv HOME /usr --ro-bind / / \
		--tmpfs "$T" sh -c pwd

	# Descriptors.
	echo text >file
	IN=./file
	says "it has what we had" text $b cat /proc/self/fd/3
	says "but not what an option took" "!1" $b --sync-fd 3 sh -c 'test -e /proc/self/fd/3'
	says "standard input as well" "text" $b sh -c 'cat <&3'
	IN=/dev/null

	# Sessions and pids.
	says "our session" "$(ps -o sid= -p $$ | tr -d ' ')" $b \
		sh -c 'ps -o sid= -p $$ | tr -d " "'
	says "--new-session: its own" yes --new-session $b \
		sh -c '[ $(ps -o sid= -p $$) = $$ ] && echo yes'
	says "--as-pid-1" 1 --unshare-pid --as-pid-1 $b sh -c 'echo $$'
	refuses "without a pid namespace" "--as-pid-1: requires*" --as-pid-1 $b true

	# What waits and what is told.
	mkfifo gate
	fence-bwrap $b --block-fd 3 touch ran 3<>gate &
	waiting=$!
	fails "--block-fd: it has not begun" test -e ran
	echo go >gate
	wait $waiting
	ok "and has, once there was something to read" test -e ran
	fence-bwrap $b --unshare-all --info-fd 3 --json-status-fd 4 \
		sh -c 'readlink /proc/self/ns/net; exit 42' 3>info 4>json >net
	is "the status is the command's" $? 42
	net=$(sed 's/.*\[\(.*\)\]/\1/' net)
	is "--info-fd tells of the namespaces" "$(jq '."net-namespace"' info)" "$net"
	is "--json-status-fd as well, and of the end" \
		"$(jq -s -c '[.[0]."net-namespace", .[1]."exit-code"]' json)" "[$net,42]"
	for command in /none /etc/passwd; do
		fence-bwrap $b --unshare-pid --json-status-fd 4 $command 4>json 2>/dev/null
		is "$command: no exit status of a command that did not run" \
			"$(jq -s -c 'map(has("exit-code"))' json)" "[false]"
	done

	# What is held while it runs, and until when.
	mkfifo up hold late
	fence-bwrap $b --lock-file "$W/file" sh -c 'echo >up; read -r _ <hold' &
	holder=$!
	read -r _ <up
	like "--lock-file: a read lock" "$(cat /proc/locks)" "*READ*:$(stat -c %i file) *"
	echo >hold
	wait $holder
	unlike "and then none" "$(cat /proc/locks)" "*READ*:$(stat -c %i file) *"
	refuses "a lock file that is not there" "open lock file $W/none:*" --lock-file "$W/none" \
		$b true
	mkfifo synced
	(exec fence-bwrap $b --unshare-pid --sync-fd 3 \
		sh -c '(read -r _ <late; echo after >after) & echo >up' 3>synced) &
	sandbox=$!
	(cat synced && echo closed) >closed &
	reader=$!
	read -r _ <up
	wait $sandbox
	is "what a command leaves in its sandbox goes on" "$(cat after closed 2>/dev/null)" ""
	echo >late
	wait $reader
	is "--sync-fd is held until all of it is over" "$(cat after closed | paste -sd' ')" \
		"after closed"

	# --die-with-parent: the parent is a shell here. That a pipe which all of them hold ends
	# would tell as well, but once in some hundred times its reader still waited when none
	# of them was left (Linux 6.18; not understood).
	word=617.$$
	for option in "" --unshare-pid --unshare-all; do
		sh -c 'fence-bwrap --die-with-parent "$@" & wait' sh $option $b \
			sh -c 'echo >up; exec sleep "$1"' sh $word &
		parent=$!
		read -r _ <up
		fails "--die-with-parent $option: all of it runs" await -t 0.01 none $word
		kill -9 $parent
		wait $parent 2>/dev/null
		ok "--die-with-parent $option: all of it is gone with its parent" await -t 20 none $word
	done
	exits "--die-with-parent: its own end is as ever" 5 fence-bwrap --die-with-parent $b \
		sh -c 'exit 5'

	# The maps made by somebody else: here by nobody, so that no id is known.
	mkfifo mapped
	fence-bwrap --unshare-user --userns-block-fd 3 --info-fd 4 $b id -u 3<>mapped 4>info >id &
	sandbox=$!
	ok "--userns-block-fd: it waits, and has told its pid" await file info
	pid=$(jq '."child-pid"' info)
	printf deny >"/proc/$pid/setgroups"
	printf '77 %s 1' "$(id -u)" >"/proc/$pid/uid_map"
	printf '78 %s 1' "$(id -g)" >"/proc/$pid/gid_map"
	echo go >mapped
	wait $sandbox
	is "and goes on" "$? $(cat id)" "0 77"
}
done_testing
