#!/bin/sh
# What a command may use up: of each process by setrlimit(2), of all together by a cgroup
# of version 2, and of processes, where there is none, by a count in our own namespace.
. "$(dirname "$0")/guard.sh"

# --- of each process ---------------------------------------------------------------------
says "a limit is set" 64 --limit nofile=64 -- sh -c 'ulimit -n'
says "soft and hard" "32 64" --limit nofile=32:64 -- sh -c 'echo "$(ulimit -Sn) $(ulimit -Hn)"'
says "the last one about a resource holds" 48 --limit nofile=64 --limit nofile=48 -- sh -c 'ulimit -Hn'
says "several resources" "64 0" --limit nofile=64 --limit core=0 -- sh -c 'echo "$(ulimit -n) $(ulimit -c)"'
guard --limit fsize=4KiB -- sh -c 'head -c 8192 /dev/zero >big' 2>"$T/err"
is "and holds: a file does not grow past it" "$(stat -c %s big)" 4096
rm -f big
is "control: without it the file does" "$(guard -- sh -c 'head -c 8192 /dev/zero >big'; stat -c %s big)" 8192
rm -f big
says "init and the launcher have theirs" "$(ulimit -n)" --limit nofile=64 -- \
	sh -c 'prlimit --pid 1 --nofile --noheadings --output SOFT 2>/dev/null || prlimit --pid $PPID --nofile --noheadings --output SOFT'
says "a hard limit stays" "no" --limit nofile=64 -- sh -c 'ulimit -n 65 2>/dev/null && echo yes || echo no'

# refused NAME WORDS OPTION...: one line, and nothing run
refused() {
	refused_name=$1
	refused_words=$2
	shift 2
	rm -f ran
	fence-guard exec --status-fd 5 "$@" -- sh -c ': >ran' 5>"$T/record" 2>"$T/err"
	is "$refused_name: refused, and nothing is run" "$?/$(ls ran 2>/dev/null)" 125/
	like "in words" "$(cat "$T/err")" "fence-guard: $refused_words"
	is "in one line" "$(wc -l <"$T/err" | tr -d ' ')" 1
	is "by the record's schema" "$(jq -r --slurpfile schema "$SRC/schemas/fence-guard-status-v1.json" \
		-f "$SRC/tests/lib/schema.jq" "$T/record" 2>&1)" ""
}
hard=$(ulimit -Hn)
if [ "$hard" != unlimited ]; then
	refused "more than our own hard limit" \
		"raise limit nofile above our own hard limit of $hard: Operation not permitted; raise that first, as root: ulimit -H" \
		--limit nofile=$((hard + 1))
fi
refused "a resource that there is not" '--limit "nofil": no such resource; did you mean nofile?' --limit nofil=4
refused "no number" '--limit "nofile=many": not a number' --limit nofile=many
refused "a soft limit above the hard one" '--limit "nofile=9:8": the soft limit is above the hard one' --limit nofile=9:8
refused "no size" "--memory lots: it is a size, as 4GiB or 512MiB" --memory lots
refused "no memory at all" "--memory 0: it is a size, as 4GiB or 512MiB" --memory 0
refused "no processes" "--pids 0: it is a number from 1 on" --pids 0
refused "no processors" "--cpu 0: it is a number of processors, as 2, 0.5 or 50%" --cpu 0
refused "too fine a share" "--cpu 0.01%: it is a number of processors, as 2, 0.5 or 50%" --cpu 0.01%

# --- of all together ----------------------------------------------------------------------
# Children that are there at the same time, up to 300: how many could be born.
cat >swarm <<'END'
import os, signal, sys
born = []
try:
    while len(born) < int(sys.argv[1]):
        pid = os.fork()
        if pid == 0:
            signal.pause()
        born.append(pid)
except OSError as error:
    print(error.strerror, end=" ")
print(len(born))
for pid in born:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
END
cat >threads <<'END'
import threading
stop = threading.Event()
born = 0
try:
    while born < 300:
        threading.Thread(target=stop.wait).start()
        born += 1
except RuntimeError:
    pass
stop.set()
print(born)
END
# What this host can do, asked of the kernel and not of what is tested.
controllers=
while IFS=: read -r number names path; do
	[ "$number:$names" = 0: ] || continue
	place=$(findmnt --noheadings --first-only --types cgroup2 --output TARGET)
	controllers=" $(cat "$place$path/cgroup.controllers" 2>/dev/null) "
done </proc/self/cgroup

guard --pids 20 --status-fd 5 -- python3 swarm 300 5>"$T/record" >"$T/out" 2>"$T/err"
status=$?
by=$(jq -r 'select(.event == "exec") | .limits.pids.by' "$T/record")
if [ "$status" = 0 ]; then
	is "a swarm of processes ends at the limit, which counts the command" "$(cat "$T/out")" \
		"Resource temporarily unavailable 19"
	is "control: without it the swarm is larger" "$(guard -- python3 swarm 60)" 60
	ok "more than our own hard limit is less than that" \
		prlimit --nproc=4000 fence-guard exec --ro "$FENCE_BUILD" --pids 5000 -- true
	says "--limit nproc can only take from it" "Resource temporarily unavailable 9" \
		--pids 10 --limit nproc=2000 -- python3 swarm 300
	says "threads count" 19 --pids 20 -- python3 threads
	says "one process may run" ok --pids 1 -- echo ok
	says "and start no other" "Resource temporarily unavailable 0" --pids 1 -- python3 swarm 1
	says "a user namespace inside is no way out" "Resource temporarily unavailable 19" \
		--pids 20 --allow-userns -- unshare -U python3 swarm 300
	says "nor can it be raised" no --pids 20 -- \
		sh -c 'ulimit -u 4000 2>/dev/null && python3 swarm 60 | grep -q ^60 && echo yes || echo no'
	is "the record says by what" "$(jq -c 'select(.event == "exec") | .limits.pids.count' "$T/record")" 20
	case $by:$controllers in
	cgroup:*" pids "*) pass "which is the group" ;;
	rlimit:*) is "which is the user's count in here; it does not bind root" "$ROOT" no ;;
	*) fail "which is \"$by\"" ;;
	esac
	is "by its schema" "$(jq -r --slurpfile schema "$SRC/schemas/fence-guard-status-v1.json" \
		-f "$SRC/tests/lib/schema.jq" "$T/record" 2>&1)" ""
	fence-guard exec --ro "$FENCE_BUILD" --pids 20 -- sh -c 'echo up >ready; exec sleep 98431' &
	one=$!
	await file ready
	says "two at once do not count each other" "Resource temporarily unavailable 19" --pids 20 -- python3 swarm 300
	kill -KILL "$one"
	wait "$one" 2>/dev/null
	ok "and a killed one leaves no process" await -t 1 none 98431
else
	is "where the kernel cannot, nothing is run" "$status/$(cat "$T/out")" 125/
	like "and the cause and the way out are said" "$(cat "$T/err")" \
		'fence-guard: limit "pids": *; *RLIMIT_NPROC*'
	is "as in the record" "$(jq -r '.event + " " + .stage' "$T/record")" "failure limits"
	[ "$ROOT" = yes ] || fail "a plain user has a second way"
fi

# without NAME OPTION...
without() {
	without_name=$1
	shift
	refused "$without_name without the controller" "limit \"$without_name\": *cgroup*; *Delegate=yes*" "$@"
}
# Held or refused: there is nothing between the two.
if guard --memory 1GiB -- true 2>/dev/null; then
	exits "a process that needs more memory is killed" 137 guard --memory 64MiB --status-fd 5 -- \
		python3 -c 'bytearray(200 << 20)' 5>"$T/record"
	is "which is counted" "$(jq 'select(.event == "exit") | .used.memoryKills' "$T/record")" 1
	is "by the record's schema" "$(jq -r --slurpfile schema "$SRC/schemas/fence-guard-status-v1.json" \
		-f "$SRC/tests/lib/schema.jq" "$T/record" 2>&1)" ""
	ok "control: with enough it is not" guard --memory 1GiB -- python3 -c 'bytearray(200 << 20)'
	is "two that need more together are too many" "$(guard --memory 128MiB -- python3 -c '
import subprocess, sys
eat = "import sys; x = bytearray(90 << 20); print(flush=True); sys.stdin.read()"
two = [subprocess.Popen([sys.executable, "-c", eat], stdin=-1, stdout=-1) for i in (1, 2)]
lines = [process.stdout.readline() for process in two]
print(lines.count(b"\n"))')" 1
	is "a share of a processor is what its group has" \
		"$(guard --cpu 50% -- sh -c "cat $place/*.command-*/cpu.max")" "50000 100000"
	fails "which nobody inside can change" guard --cpu 50% -- sh -c "echo max >$place/*.command-*/cpu.max"
else
	without memory --memory 1GiB
	without cpu --cpu 50%
	without memory --memory 1GiB --pids 20
fi
is "no group is left" "$(find "${place:-/sys/fs/cgroup}" -maxdepth 3 -name 'fence.bound.*' 2>/dev/null)" ""
done_testing
