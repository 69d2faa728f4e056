#!/bin/sh
# Limits by a cgroup, on a kernel whose version 2 has the controllers: most hosts have one,
# and containers hide it. User-mode Linux is a kernel that is a program.
. "$(dirname "$0")/../lib/tap.sh"

if ! command -v linux.uml >/dev/null; then
	lacks "limits by a cgroup" "linux.uml (Debian's user-mode-linux)"
	done_testing
fi
# A sanitizer's shadow of the memory is more than that machine has.
if grep -q __asan_init "$BIN/fence-guard"; then
	pass "not under a sanitizer"
	done_testing
fi

cat >"$T/init" <<END
#!/bin/sh
PATH=$PATH
HELP=$HELP
T=$T
export PATH
END
cat >>"$T/init" <<'END'
dmesg -n 1
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ip link set lo up 2>/dev/null
all=/sys/fs/cgroup
# say NAME WORDS: an answer
say() {
	echo "$1: $2" >>"$T/answers"
}
# group NAME UID COMMAND...: COMMAND alone in a group of UID's
group() {
	group=$1
	user=$2
	shift 2
	mkdir -p "$all/$group"
	chown "$user" "$all/$group" "$all/$group/cgroup.procs" "$all/$group/cgroup.subtree_control"
	sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec setpriv --reuid="$0" --regid="$0" --clear-groups "$@"' \
		"$user" "$all/$group" "$@"
}
# state GROUP: what of it is not as it was
state() {
	echo $(cat "$all/$1/cgroup.subtree_control") $(find "$all/$1" -mindepth 1 -type d)
}
guard="fence-guard exec --ro $T"
cd "$T/work"
swarm='i=0; while [ $i -lt 30 ]; do sleep 1000 & i=$((i + 1)); done'
eat='bytearray(100 << 20)'
say root-pids "$($guard --pids 20 --status-fd 1 -- sh -c "$swarm" 2>/dev/null |
	jq -c '.limits.pids.by // (.used.birthsRefused > 0)' 2>/dev/null | xargs)"
say root-memory "$($guard --memory 64MiB --status-fd 1 -- python3 -c "$eat" | jq -c '.used.memoryKills // empty')"
$guard --memory 256MiB -- python3 -c "$eat"
say root-enough "$?"
say root-cpu "$($guard --cpu 50% -- sh -c "cat $all/*.command-*/cpu.max")"
$guard --cpu 50% -- sh -c "echo max >$all/\$(ls $all | grep command)/cpu.max" 2>/dev/null
say root-undone "$?"
say root "$(state .)"
echo "+memory +pids +cpu" >$all/cgroup.subtree_control

say user-pids "$(group user 65534 $guard --pids 20 --status-fd 1 -- sh -c "$swarm" 2>/dev/null |
	jq -c '.limits.pids.by // (.used.birthsRefused > 0)' 2>/dev/null | xargs)"
say user-after "$(state user)"
group user 65534 $guard --memory 64MiB -- python3 -c "$eat"
say user-memory "$?"
say user-after-memory "$(state user)"

say others "$(sh -c 'echo $$ >'$all/user'/cgroup.procs; '"$guard"' --pids 5 -- true 2>&1; echo $?' | xargs)"
say others-memory "$(sh -c 'echo $$ >'$all/user'/cgroup.procs; '"$guard"' --memory 64MiB -- true 2>&1; echo $?' | xargs)"
say others-after "$(state user)"

# Killed: the next one clears up.
group user 65534 $guard --pids 5 --rw "$T/work" -- sh -c 'echo >up; exec sleep 98471' &
await file up
launcher=$(cat $all/user/*.self/cgroup.procs)
kill -KILL "$launcher"
wait
await -t 1 none 98471
say killed-lives "$?"
say killed-left "$(find $all/user -mindepth 1 -type d | wc -l) $(cat $all/user/cgroup.subtree_control)"
group user 65534 $guard --memory 64MiB -- true
say next "$?"
say next-after "$(state user)"

# Two beside each other: the first to end takes nothing from the other.
echo "-memory -pids -cpu" >$all/cgroup.subtree_control
mkfifo one two
$guard --pids 5 --rw "$T/work" -- sh -c 'echo >up1; read line <one' &
one=$!
$guard --pids 7 --cpu 50% --rw "$T/work" -- sh -c 'echo >up2; read line <two' &
two=$!
await file up1 && await file up2
say both "$(cat $all/cgroup.subtree_control)"
echo >one
wait $one
say one "$(cat $all/cgroup.subtree_control) $(cat $all/*.command-*/pids.max $all/*.command-*/cpu.max | xargs)"
echo >two
wait $two
say two "$(state . | sed "s|$all/./user||")"
say end reached
halt -f
END
chmod 755 "$T/init"
mkdir -m 777 "$T/work"
timeout 100 linux.uml rootfstype=hostfs rw mem=512M "uml_dir=$T/" "init=$T/init" con=null con0=null,fd:1 \
	</dev/null 2>&1 | cat >"$T/console"
is "control: the kernel ran to its end" "$(sed -n 's/^end: //p' "$T/answers")" reached
answer() {
	is "$2" "$(sed -n "s/^$1: //p" "$T/answers")" "$3"
}
answer root-pids "in the root group processes are bounded by it" "cgroup true"
answer root-memory "a process that needs more memory is killed, and counted" 1
answer root-enough "control: with enough it is not" 0
answer root-cpu "a share of a processor is what its group has" "50000 100000"
unlike "which nobody inside can change" "$(sed -n 's/^root-undone: //p' "$T/answers")" 0
answer root "and the root group is as it was" ""
answer user-pids "a user's own group bounds processes" "cgroup true"
answer user-after "and is as it was" ""
answer user-memory "and memory" 137
answer user-after-memory "and is as it was then, too" ""
refusal="other processes are in it, too; start it alone in a group that is its own: systemd-run --user --scope -p Delegate=yes COMMAND"
like "with others in it there is none" "$(sed -n 's/^others: //p' "$T/answers")" "*$refusal; or start it as a plain user*125"
like "neither for memory" "$(sed -n 's/^others-memory: //p' "$T/answers")" "*$refusal 125"
answer others-after "and the group is as it was" ""
answer killed-lives "nothing outlives a killed launcher" 0
answer killed-left "but for its groups" "2 pids"
answer next "the next one starts" 0
answer next-after "and leaves all as it was" ""
answer both "two in one group have what each needs" "cpu pids"
answer one "the first to end takes nothing from the other" "cpu pids 8 50000 100000"
answer two "the last leaves all as it was" ""
done_testing
