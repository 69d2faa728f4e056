#!/bin/sh
# Profile landlock: what can be held without namespaces and mounts, and nothing that cannot.
. "$(dirname "$0")/guard.sh"

ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
unprivileged="setpriv --bounding-set=-all --inh-caps=-all"
mkdir "$T/outside"
echo kept >"$T/outside/file"

narrow() {
	fence-guard exec --profile landlock "$@"
}
# tries NAME WANTED COMMAND...
tries() {
	tries_name=$1
	tries_wanted=$2
	shift 2
	is "$tries_name" "$(narrow -- "$@" 2>&1)" "$tries_wanted"
}

if [ "$(fence-guard doctor --json | jq '[.steps[].abi // 0] | max')" -lt 6 ]; then
	exits "a kernel that cannot hold it is refused" 125 narrow -- true
	lacks "the rest" "Landlock of version 6"
	done_testing
fi
ok "control: unconfined it writes there" sh -c "echo kept >$T/outside/file"
ok "the working directory can be written" narrow -- sh -c 'echo x >new; mkdir sub; mv new sub/; rm -r sub'
ok "so can what is named" narrow --rw "$T/outside" -- sh -c "echo kept >$T/outside/file"
# Where its placeholders are written down: a command could take away another one's.
registry=/var/tmp/fenceline-$(id -u)
[ "$ROOT" = yes ] && registry=/var/lib/fenceline
for option in --rw --cwd; do
	exits "$option that would open the registry of placeholders is refused" 125 narrow $option "${registry%/*}" -- true
	is "with the reason, $option" "$(cat "$T/err")" \
		"fence-guard: keep $registry from the command: it lies in a writable folder; name a folder beside it, or use --profile gate"
done
tries "nothing else can" EACCES guard_try write "$T/outside/file"
fails "nor be emptied" narrow -- sh -c "true >$T/outside/file"
fails "nor removed" narrow -- rm -f "$T/outside/file"
fails "nor made" narrow -- mkdir "$T/outside/new"
tries "nor renamed into what can be" EACCES guard_try rename "$T/outside/file" stolen
fails "nor linked there" narrow -- ln "$T/outside/file" stolen
is "the host is as it was" "$(cat "$T/outside/file" && ls "$T/outside" && ls -A "$W")" "kept
file"
ok "it can be read" narrow -- cat "$T/outside/file"
ok "/dev/null is a place to write" narrow -- sh -c ': >/dev/null'

is "no IP sockets" "$(narrow -- guard_try connect 127.0.0.1 1)" EAFNOSUPPORT
is "also not with the number's upper half set" "$(narrow -- guard_try call 41 0x100000002 1 0)" \
	"$([ "$(uname -m)" = x86_64 ] && echo EAFNOSUPPORT || narrow -- guard_try call 41 0x100000002 1 0)"
is "pairs of sockets are nobody else's" "$(narrow -- guard_try pair)" ok
is "the host's network by name" "$(narrow --net host -- guard_try connect 127.0.0.1 1)" ECONNREFUSED
mkfifo stop
guard_try listen @fence-landlock-$$ <stop >/dev/null &
exec 9>stop
while ! grep -q "@fence-landlock-$$" /proc/net/unix; do :; done
is "control: the abstract socket is there" "$(guard_try unix @fence-landlock-$$)" ok
is "and out of reach" "$(narrow --net host -- guard_try unix @fence-landlock-$$)" EPERM
exec 9>&-
wait
rm stop

sleep 98781 &
victim=$!
fails "processes outside cannot be signalled" narrow -- kill "$victim"
ok "it lives" kill -0 "$victim"
fails "nor looked into" narrow -- cat "/proc/$victim/environ"
kill "$victim"
wait "$victim" 2>/dev/null
is "no capability is left" "$(narrow -- sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)" 0000000000000000
is "and none can be gained" "$(narrow -- sed -n 's/^NoNewPrivs:[[:space:]]*//p' /proc/self/status)" 1
if [ "$(uname -m)" = x86_64 ]; then
	is "the filter is that of every profile" "$(narrow -- guard_try call 165) $(narrow -- guard_try call 435 1 88)" \
		"EPERM ENOSYS"
fi
is "descriptors are closed" "$(narrow -- sh -c '(: <&7) 2>/dev/null && echo open' 7<"$T/outside/file")" ""
is "but those that are named" "$(narrow --keep-fd 7 -- sh -c 'cat <&7' 7<"$T/outside/file")" kept
is "the environment passes by name" "$(SECRET=x narrow --env A=b -- sh -c 'echo "$SECRET$A"')" b

# It takes fence-guard's place: a status of its own, 126, 127.
fence-guard exec --profile landlock -- sh -c 'echo $$ >pid; exec sleep 98782' &
launcher=$!
await file pid
is "the command is the process that was started" "$(cat pid)" "$launcher"
kill "$launcher"
wait "$launcher" 2>/dev/null
is "and dies of its own signal" "$?" 143
rm pid
segment=$(ipcmk -M 100 | sed 's/.*: //')
exits "open, as the manual says: System V IPC of the host" 0 narrow -- ipcrm -m "$segment"
exits "its own status" 7 narrow -- sh -c 'exit 7'
exits "not found" 127 narrow -- /absent/command
echo x >plain
exits "not executable" 126 narrow -- ./plain
rm plain
for each in "--ro ." "--deny ." "--protect ." "--tmpfs ." --allow-userns "--memory 1GiB" \
	"--limit nofile=64" "--net ports:443" --explain; do
	# shellcheck disable=SC2086
	exits "what it cannot hold is refused: $each" 125 narrow $each -- true
done
like "by name" "$(cat "$T/err")" "fence-guard: --explain: *"
like "explain says who holds it" "$(fence-guard explain --profile landlock --path /etc/passwd --json)" \
	'*"verdict":"read-only"*"enforcedBy":"landlock"*'

narrow --status-fd 5 -- true 5>"$T/record"
narrow --status-fd 5 -- /absent 5>>"$T/record" 2>/dev/null
is "the record has the layers that there are" \
	"$(jq -r 'select(.event == "exec").layers | "\(.namespaces) \(.mounts) \(.seccomp) \(.landlock)"' "$T/record")" \
	"off off enforced enforced"
is "and is as its schema says" "$(jq -r --slurpfile schema "$SRC/schemas/fence-guard-status-v1.json" \
	-f "$SRC/tests/lib/schema.jq" "$T/record" 2>&1)" ""
is "two lines" "$(wc -l <"$T/record" | tr -d ' ')" 2

# Where nothing else starts.
cat >no-namespaces <<END
#!/bin/sh
echo 0 >/proc/sys/user/max_user_namespaces && exec $unprivileged "\$@"
END
chmod 755 no-namespaces
exits "without user namespaces gate is refused" 125 unshare -Ur ./no-namespaces fence-guard exec -- true
exits "and this starts" 0 unshare -Ur ./no-namespaces fence-guard exec --profile landlock -- true
exits "under Docker's filter, too" 0 guard_filter docker $unprivileged fence-guard exec --profile landlock -- true
like "doctor says so" "$(guard_filter docker $unprivileged fence-guard doctor)" \
	"*profile gate is refused, profile landlock starts*"
rm -f ran
exits "without Landlock nothing starts" 125 guard_filter no-landlock fence-guard exec --profile landlock -- sh -c ': >ran'
like "which is said, with the remedy" "$(cat "$T/err")" "fence-guard: make a Landlock ruleset of version 6: *; a seccomp filter*"
is "and nothing was run" "$(ls ran 2>/dev/null)" ""
done_testing
