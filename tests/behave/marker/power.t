#!/bin/sh
# Power cuts. A file system lies in an image on a loop device; while a marker is made or
# replaced on it, the image is copied after each system call. Each copy is what a disk
# would hold if the power had gone there: mounted again, which replays its journal, it
# has the whole old or the whole new state, and after the answer "replaced" the new.
#
# The device keeps what it was told, in order: what is tested is that we ask the file
# system for the right thing at the right time, not that disks keep their promises.
if [ "${POWER_ALONE:-}" != yes ] && unshare --mount true 2>/dev/null; then
	# Mounts of its own, which go with it however it ends.
	POWER_ALONE=yes exec unshare --mount sh "$0" "$@"
fi
. "$(dirname "$0")/../../lib/tap.sh"

ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS
PATH=$PATH:/usr/sbin:/sbin

if [ $ROOT = no ]; then
	pass "power cuts need loop devices and mounts: root's, in root's own run"
	done_testing
fi
if ! marker_step probe; then
	lacks "a marker outlives a power cut" "a tracer for this processor"
	done_testing
fi
# In memory where there is some: what is synced to a busy disk takes its time, and proves
# nothing more.
disk=$(mktemp -d /dev/shm/fence-power.XXXXXX 2>/dev/null) || disk=$T
[ "$disk" = "$T" ] || later rmdir "$disk"
later rm -rf "$disk/image" "$disk/cuts"
# A shell whose reader has gone would end at once, and a loop device would stay.
trap '' PIPE
loop=
drop() {
	umount "$T/mnt" 2>/dev/null
	[ -z "$loop" ] || losetup --detach "$loop"
	loop=
}
later drop

# The file system, empty, in $disk/image on $loop, mounted on $T/mnt.
begin() { # TYPE OPTIONS
	drop
	rm -rf "$disk/image" "$disk/cuts"
	mkdir -p "$disk/cuts" "$T/mnt"
	case $1 in
	ext4) truncate -s 16M "$disk/image" && mkfs.ext4 -q -F "$disk/image" ;;
	xfs) truncate -s 300M "$disk/image" && mkfs.xfs -q -f "$disk/image" ;;
	esac &&
		fallocate --dig-holes "$disk/image" &&
		loop=$(losetup --find --show "$disk/image") &&
		mount -t "$1" -o "$2" "$loop" "$T/mnt" &&
		mkdir "$T/mnt/dir" && sync -f "$T/mnt"
}
# What each copy says, one a line, in order; from the same device, since a marker says on
# which it is.
after_cuts() { # TYPE OPTIONS
	umount "$T/mnt"
	for cut in "$disk"/cuts/*; do
		cp --sparse=always "$cut" "$disk/image" && mount -t "$1" -o "$2" "$loop" "$T/mnt" || {
			echo "${cut##*/} not mountable"
			continue
		}
		echo "${cut##*/} $(marker_step state "$T/mnt/dir/m.json")"
		umount "$T/mnt"
	done
}

# All at once: $T/said has a line for each copy, $seq is the old state's.
cuts() { # TYPE OPTIONS STEP PRETENDED-SYNC [forced]
	begin "$1" "$2" >"$T/begun" 2>&1 || {
		note "$(cat "$T/begun")"
		return 1
	}
	marker_cut "$3" "$T/mnt/dir/m.json" "$disk/image" "$disk/cuts" "$4" ${5:+"$5"} \
		>"$T/count" 2>&1
	answer=$?
	seq=$(sed -n 's/.* old \([0-9]*\) .*/\1/p' "$T/count")
	after_cuts "$1" "$2" >"$T/said" 2>&1
	note "$*: $(cat "$T/count"): $(cut -d' ' -f2- "$T/said" | uniq -c | tr -s ' ' | paste -sd';')"
	return $answer
}

check_cuts() { # NAME STATUS
	is "$1: it is done" "$2" 0
	case $step in
	create) old="none" new="new active 1" ;;
	replace) old="old active $seq" new="old active $((seq + 1))" ;;
	over) old="old terminated $seq" new="new active $((seq + 1))" ;;
	esac
	is "$1: whenever the power goes, the whole old or the whole new state is there" \
		"$(cut -d' ' -f2- "$T/said" | grep -vx -e "$old" -e "$new")" ""
	ok "$1: at first the old one" grep -q " $old\$" "$T/said"
	is "$1: after its answer the new one" "$(tail -n 1 "$T/said")" "9999 $new"
	ok "$1: the disk was seen to change" test "$(wc -l <"$T/said")" -gt 2
}

for type in ext4 xfs; do
	if ! command -v mkfs.$type >/dev/null; then
		lacks "a marker outlives a power cut on $type" "mkfs.$type"
		continue
	elif ! begin $type defaults >"$T/begun" 2>&1; then
		lacks "a marker outlives a power cut on $type" "a loop device to mount $type from"
		note "$(cat "$T/begun")"
		continue
	fi
	for step in create replace over; do
		cuts $type defaults $step 0
		check_cuts "$type, $step" $?
		# A journal is also written when its time has come, or for somebody else's
		# sake, and then without the bytes of files that nobody synced.
		cuts $type defaults $step 0 forced
		check_cuts "$type, $step, with a journal that is always written" $?
	done

	# The controls: without one of the two syncs the promise does not hold.
	case $type in
	ext4) options=noauto_da_alloc ;; # else it makes up for those who do not sync
	xfs) options=defaults ;;
	esac
	cuts $type $options replace 1
	ok "$type: without the file's sync a torn state would be seen" \
		grep -q "torn: rule size" "$T/said"
	cuts $type defaults replace 2
	is "$type: without the folder's sync the old state would be there after the answer" \
		"$(tail -n 1 "$T/said")" "9999 old active $seq"
done
drop

done_testing
