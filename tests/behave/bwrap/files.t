#!/bin/sh
# Operations on files, in the order in which they are given.
. "$(dirname "$0")/bwrap.sh"
mkdir host dest
echo host >host/file
echo other >other

b="--ro-bind / / --dev /dev --tmpfs /tmp --bind $W /tmp/w"
# shellcheck disable=SC2086 # words
{
	says "what is bound is there" host $b cat /tmp/w/host/file
	says "and can be written" "" $b sh -c 'echo new >/tmp/w/host/new'
	is "on the host" "$(cat host/new)" new
	rm -f host/new
	says "--ro-bind cannot" "host Read-only file system" $b --ro-bind "$W/host" /tmp/r \
		sh -c 'echo $(cat /tmp/r/file) $(touch /tmp/r/new 2>&1 | sed "s/.*: //")'
	says "nor what is mounted below it" "Read-only file system" --ro-bind / / \
		sh -c 'touch /dev/shm/x 2>&1 | sed "s/.*: //"'
	says "--bind-try takes what is there" host $b --bind-try "$W/host" /tmp/a cat /tmp/a/file
	says "and skips what is not" "" $b --bind-try "$W/none" /tmp/a \
		--ro-bind-try "$W/none" /tmp/a --dev-bind-try "$W/none" /tmp/a test ! -e /tmp/a
	says "--ro-bind-try as well" 1 $b --ro-bind-try "$W/host" /tmp/a \
		sh -c 'touch /tmp/a/x 2>/dev/null; echo $?'
	says "a device works with --dev-bind" "" $b --dev-bind /dev /tmp/d sh -c ': >/tmp/d/null'
	says "with --dev-bind-try" "" $b --dev-bind-try /dev /tmp/d sh -c ': >/tmp/d/null'
	says "and not with --bind" "Permission denied" $b --bind /dev /tmp/d \
		sh -c '{ : >/tmp/d/null; } 2>&1 | sed "s/.*: //"'
	says "a file is bound on a file" other $b --bind "$W/other" /tmp/w/host/file \
		cat /tmp/w/host/file
	is "and the host's is as it was" "$(cat host/file)" host
	refuses "a source that is not there" "Can't find source path $W/none: No such file*" \
		$b --bind "$W/none" /tmp/a true
	refuses "a folder on a file" "make folder /tmp/w/other: Not a directory" \
		$b --bind "$W/host" /tmp/w/other true
	refuses "a file on a folder" "mount a file on /tmp/w/host: Is a directory" \
		$b --bind "$W/other" /tmp/w/host true
	IN=host
	says "--bind-fd shows an open folder" host $b --bind-fd 3 /tmp/a cat /tmp/a/file
	says "--ro-bind-fd read-only" 1 $b --ro-bind-fd 3 /tmp/a \
		sh -c 'cat /tmp/a/file >/dev/null; touch /tmp/a/x 2>/dev/null; echo $?'
	refuses "one that is not open" "Can't find source path of descriptor 77:*" \
		$b --bind-fd 77 /tmp/a true
	mkdir gone
	exec 4<gone
	rmdir gone
	mkdir gone
	exits "one whose name is another's by now" 1 fence-bwrap $b --bind-fd 4 /tmp/a true
	exec 4<&-

	says "--remount-ro closes one mount" "1 0" $b --tmpfs /tmp/a --tmpfs /tmp/a/b \
		--remount-ro /tmp/a sh -c 'touch /tmp/a/x 2>/dev/null; one=$?
		touch /tmp/a/b/x; echo $one $?'
	refuses "what is no mount point" "make /tmp/a read-only: it is no mount point" \
		$b --dir /tmp/a --remount-ro /tmp/a true
	says "--tmpfs is empty, with its mode and size" "1777 64 0" $b --perms 1777 --size 65536 \
		--tmpfs /tmp/a sh -c 'echo $(stat -c %a /tmp/a) $(df --output=size -k /tmp/a |
		tail -n 1) $(ls /tmp/a | wc -l)'
	says "without them 755" 755 $b --tmpfs /tmp/a stat -c %a /tmp/a
	says "--dir makes what lacks above" "755 750 700" $b --perms 0700 --dir /tmp/a/b \
		--perms 0750 --dir /tmp/c/d sh -c 'echo $(stat -c %a /tmp /tmp/c /tmp/a/b)'
	echo hello >hello
	IN=hello
	says "--file" "hello 640" $b --perms 0640 --file 3 /tmp/f \
		sh -c 'echo $(cat /tmp/f) $(stat -c %a /tmp/f)'
	says "--bind-data" "hello 600 changed" $b --bind-data 3 /tmp/f \
		sh -c 'echo $(cat /tmp/f) $(stat -c %a /tmp/f) $(echo changed >/tmp/f; cat /tmp/f)'
	says "--ro-bind-data" "hello 444 2" $b --perms 0444 --ro-bind-data 3 /tmp/f \
		sh -c '(: >/tmp/f) 2>/dev/null; status=$?
		echo $(cat /tmp/f) $(stat -c %a /tmp/f) $status'
	says "--symlink" "file host" $b --dir /tmp/l --ro-bind "$W/host/file" /tmp/l/file \
		--symlink file /tmp/l/link sh -c 'echo $(readlink /tmp/l/link) $(cat /tmp/l/link)'
	refuses "one that is there" "make symbolic link /tmp/b: File exists" \
		$b --symlink a /tmp/b --symlink a /tmp/b true
	says "--chmod" 2751 $b --dir /tmp/a --chmod 2751 /tmp/a stat -c %a /tmp/a
	refuses "of what is not there" "set the mode of /tmp/none: No such file*" \
		$b --chmod 0700 /tmp/none true
	says "--dev has what programs expect" "core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero" \
		$b --dev /tmp/d sh -c 'ls /tmp/d | paste -sd" "'
	says "its devices work" "4" --ro-bind / / --dev /dev sh -c \
		'echo lost >/dev/null; head -c 4 /dev/urandom | wc -c'
	says "its terminals are its own" "ptmx" --ro-bind / / --dev /dev ls /dev/pts
	says "without a terminal there is no console" 1 --ro-bind / / --dev /dev \
		sh -c 'test -e /dev/console; echo $?'
	is "one on standard output is the console" "$(script -qec "fence-bwrap --ro-bind / / --dev /dev test -c /dev/console" \
		/dev/null; echo $?)" 0
	says "--proc of a new pid namespace" "1 2" --unshare-pid --ro-bind / / --proc /proc \
		sh -c 'echo $(ls /proc | grep "^[12]$")'
	says "--mqueue, empty" 0 --unshare-ipc $b --mqueue /tmp/q sh -c 'ls /tmp/q | wc -l'
	says "its kind is mqueue" mqueue --unshare-ipc $b --mqueue /tmp/q \
		sed -n 's/.* - \(mqueue\) .*/\1/p' /proc/self/mountinfo
}
is "nothing is left on the host" "$(find . | LC_ALL=C sort | paste -sd' ')" \
	". ./dest ./gone ./hello ./host ./host/file ./other"
done_testing
