#!/bin/sh
# A sandbox in a sandbox: which of ours starts inside of which, with what, and what is said
# where it does not. What holds of paths and processes there is nesting_*.t's.
. "$(dirname "$0")/guard.sh"

none="fence-guard exec --profile none"
exits "profile none leaves files alone" 0 $none -- sh -c 'echo x >"$1"' - "$T/outside"
is "the host has it" "$(cat "$T/outside")" x
is "it still has its own processes" "$($none -- sh -c 'echo $$')" 2
exits "and can be nested" 5 $none -- $none -- sh -c 'exit 5'
exits "profile gate works inside of it" 5 $none -- fence-guard exec -- sh -c 'exit 5'
exits "profile none takes no rules" 125 $none --deny . -- true
exits "inside of profile gate there is no further sandbox, and no pretence" 125 \
	guard -- fence-guard exec -- true
like "which is said with its reason, and what to do" "$(cat "$T/err")" \
	"fence-guard: create namespaces: Operation not permitted; it is inside of fence-guard exec*--allow-nesting"
exits "doctor says so, too" 77 guard -- fence-guard doctor --json
is "by its cause" "$(jq -r '[.steps[] | .cause // empty] | unique | map(select(. != "no-delegation")) | join(" ")' "$T/out")" nesting

# With --allow-nesting. As root nothing of the host's may be written then.
if [ "$ROOT" = yes ]; then
	exits "as root a folder of the host's may not be written" 125 guard --allow-nesting -- true
	like "which is said" "$(cat "$T/err")" "fence-guard: --allow-nesting while $W can be written*"
	cd / || exit 1
fi
# inner OPTIONS -- COMMAND: inside of one that lets it
inner() {
	guard --allow-nesting --status-fd 3 --keep-fd 4 -- fence-guard exec --status-fd 4 --ro "$FENCE_BUILD" "$@" 3>"$T/outer" 4>"$T/inner"
}
layers() {
	jq -r 'select(.event == "exec").layers | to_entries[] | "\(.key) \(.value)"' "$1" | xargs
}
exits "an inner one starts" 5 inner -- sh -c 'exit 5'
less=enforced
[ "$ROOT" = yes ] && less=degraded
landlock=$(fence-guard doctor --json | jq -r '.profiles[] | select(.name == "gate").layers.landlock')
if [ "$landlock" = enforced ]; then
	is "the outer one has no Landlock rules for files, and says so" "$(layers "$T/outer")" \
		"namespaces enforced mounts enforced capabilities enforced seccomp enforced landlock off"
	is "with the cause" "$(jq -r 'select(.event == "exec").degraded[] | "\(.layer) \(.cause)"' "$T/outer")" "landlock nesting"
	is "the inner one has all layers, root's but for the cgroup's name" "$(layers "$T/inner")" \
		"namespaces $less mounts enforced capabilities enforced seccomp enforced landlock enforced"
	guard --allow-nesting --net host --status-fd 3 -- true 3>"$T/outer"
	is "with the host's network it still holds abstract sockets" "$(layers "$T/outer")" \
		"namespaces enforced mounts enforced capabilities enforced seccomp enforced landlock degraded"
else
	lacks "what Landlock does there" "Landlock ABI 6 (Linux 6.12)"
fi
is "its /proc is a new one" "$(jq -r 'select(.event == "exec").proc' "$T/inner")" fresh
is "in which it is process 2" "$(inner -- sh -c 'echo $$')" 2
for schema in outer inner; do
	is "the record of the $schema one is valid" \
		"$(command jq -r --slurpfile schema "$SRC/schemas/fence-guard-status-v1.json" -f "$SRC/tests/lib/schema.jq" "$T/$schema" 2>&1)" ""
done
says "the innermost has no capability" 0000000000000000 --allow-nesting -- \
	fence-guard exec -- sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status
exits "doctor inside says that it would start" "$([ "$ROOT" = yes ] && echo 1 || echo 0)" \
	guard --allow-nesting -- fence-guard doctor
if [ "$ROOT" = no ]; then
	exits "a third one inside of the second" 5 guard --allow-nesting -- \
		fence-guard exec --ro "$FENCE_BUILD" --allow-nesting -- fence-guard exec -- sh -c 'exit 5'
else
	exits "control: as root the second one cannot let a third, which needs a /proc to write to" 125 \
		guard --allow-nesting -- fence-guard exec --ro "$FENCE_BUILD" --allow-nesting -- true
	like "which is said" "$(cat "$T/err")" "fence-guard: mount /proc: Operation not permitted; fence-guard exec --allow-nesting, which*"
fi
is "a file can be renamed to another folder" "$(guard --allow-nesting -- sh -c 'mkdir /tmp/x && cd /tmp/x && mkdir a b && : >a/f && fence-guard exec --ro "$1" -- guard_try rename a/f b/f' - "$FENCE_BUILD")" ok
exits "what the outer one refuses stays refused" 0 inner -- sh -c '! cat /etc/shadow 2>/dev/null'
is "with its network as well" "$(guard --allow-nesting -- fence-guard exec --net host --ro "$FENCE_BUILD" -- guard_try connect 192.0.2.1 9)" ENETUNREACH

# The option and others.
exits "it goes with no kept capability" 125 guard --allow-nesting --keep-cap chown -- true
exits "so not with profile chromium" 125 guard --allow-nesting --profile chromium -- true
like "which is said" "$(cat "$T/err")" "*a command that nests keeps no capability*"
exits "nor with --strict" 125 guard --allow-nesting --strict -- true
exits "profile none has nothing to allow" 125 $none --allow-nesting -- true
exits "nor has profile landlock" 125 fence-guard exec --profile landlock --allow-nesting -- true
cat >"$T/policy.yaml" <<'YAML'
version: 1
profiles:
  nest: {allowNesting: true}
  shut: {extends: gate}
YAML
exits "a policy file can allow it" 5 guard --policy "$T/policy.yaml" --profile nest -- fence-guard exec -- sh -c 'exit 5'
exits "control: or not" 125 guard --policy "$T/policy.yaml" --profile shut -- fence-guard exec -- sh -c 'exit 5'
is "with --explain a listener is refused as ever" "$(guard --allow-nesting --explain -- guard_listener /tmp/ready /tmp/go 2>/dev/null)" EBUSY

# Others' sandboxes.
if [ "$ROOT" = no ]; then
	exits "unshare makes a namespace of each kind" 0 guard --allow-nesting -- \
		unshare --user --map-root-user --mount --pid --fork --net --ipc --uts --cgroup --mount-proc sh -c 'hostname inside && mount -t tmpfs none /mnt'
	mkdir -p .git
	fails "where something is held in its place bwrap does not start" guard --allow-nesting -- bwrap --ro-bind / / true
	rmdir .git
fi
if command -v bwrap >/dev/null; then
	exits "control: else it does" 5 guard --allow-nesting -- bwrap --ro-bind / / --dev /dev --unshare-user --unshare-pid --unshare-net sh -c 'exit 5'
	[ "$ROOT" = yes ] || exits "with a /proc and all namespaces" 5 \
		guard --allow-nesting -- bwrap --ro-bind / / --dev /dev --proc /proc --unshare-all sh -c 'exit 5'
	exits "ours starts inside of bwrap" 5 bwrap --bind / / --dev-bind /dev /dev --proc /proc --unshare-user --unshare-pid \
		--cap-add ALL -- fence-guard exec --cwd "$W" -- sh -c 'exit 5'
	# Who starts next outside looks where the registry is; nowhere else would do.
	exits "where no placeholder can be registered one is refused" 125 bwrap --ro-bind / / --bind "$W" "$W" --dev-bind /dev /dev \
		--proc /proc --unshare-user --unshare-pid --cap-add ALL -- fence-guard exec --cwd "$W" --protect none -- true
	like "which is said with the remedy" "$(cat "$T/err")" \
		"fence-guard: register a placeholder in */fenceline*: Read-only file system; create it first, or protect a folder above it"
	fails "and none is left" test -e none
else
	lacks "bwrap inside and outside" bubblewrap
fi
done_testing
