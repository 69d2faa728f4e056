#!/bin/sh
# The root holds what was named and nothing else; the host's is gone for good, whatever
# was put where, and no name leads out.
. "$(dirname "$0")/bwrap.sh"

# A root of the programs alone, in a place of its own.
usr="--ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64"
mounts="--proc /proc sh -c"
count='set -- $(sed "s/^[^ ]* [^ ]* [^ ]* [^ ]* \([^ ]*\) .*/\1/" /proc/self/mountinfo | sort -u)
	for m; do case $m in /usr/* | /proc/*) ;; *) echo "$m" ;; esac; done'
# shellcheck disable=SC2086 # words
{
	ours "of the programs alone" "$(printf '/\n/proc\n/usr')" $usr $mounts "$count"
	ours "with a tmpfs as the root" "$(printf '/\n/proc\n/usr')" --tmpfs / $usr $mounts "$count"
	ours "with two" "$(printf '/\n/proc\n/usr')" --tmpfs / --tmpfs / $usr $mounts "$count"
	ours "by a link that leads to /" "$(printf '/\n/proc\n/usr')" --symlink / /up \
		--tmpfs /up $usr $mounts "$count"
	ours "by the name /.." "$(printf '/\n/proc\n/usr')" --tmpfs /.. $usr $mounts "$count"
	says "no name leads out" "bin lib lib64 proc usr" --tmpfs / $usr --proc /proc sh -c \
		'cd /; cd ..; cd ../..; echo *'
	says "not even from where we were" "/" $usr sh -c pwd
	says "a mount of its own for / is one" "1" --ro-bind / / --unshare-pid --proc /proc \
		sh -c 'awk "\$5 == \"/\"" /proc/self/mountinfo | wc -l'

	# Every link is followed inside.
	mkdir host
	ln -s /etc host/absolute
	ln -s ../../../../../../../../etc host/climbing
	echo host >host/plain
	for link in absolute climbing; do
		ours "$link link: it is the new root's own" "mine" $usr --dir /etc \
			--bind "$W/host" /h --file 3 /h/$link/mine sh -c 'ls /etc'
		ok "$link link: the host's folder has nothing new" test ! -e /etc/mine
		ours "$link link: a mount goes there, too" "sh" $usr --dir /etc --bind "$W/host" /h \
			--ro-bind /usr/bin /h/$link sh -c 'ls /etc/sh | sed s,.*/,,'
	done
	exits "a link that leads nowhere is no way" 1 fence-bwrap $usr --bind "$W/host" /h \
		--dir /h/absolute/x true
	is "the host's links are as they were" \
		"$(readlink host/absolute) $(ls host | paste -sd' ')" "/etc absolute climbing plain"
}

# Any name will do.
hostile=$(printf '%s/a b\n\t*?$(touch owned)\\\047"' "$W")
mkdir "$hostile"
echo inside >"$hostile/f"
says "a hostile name as source and destination" inside --ro-bind / / --tmpfs /tmp \
	--bind "$hostile" "/tmp/$hostile" sh -c 'cat "/tmp/$1/f"' sh "$hostile"
refuses "in a message it stays in its line" "Can't find source path *\\\\x0a*" \
	--bind "$hostile/none" /x true
long=$(head -c 4200 /dev/zero | tr '\0' a)
refuses "a name that is too long" "*: File name too long*" --dir "/$long" true

# Each of the hostile names is two lines.
is "nothing new on the host" "$(ls -A | wc -l) $(find "$hostile" | wc -l)" "3 4"
ok "and nothing of a name was run" test ! -e owned
done_testing
