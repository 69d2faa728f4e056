#!/bin/sh
# doctor tries each step, and names the cause of one that fails and what to change.
. "$(dirname "$0")/guard.sh"

# A sanitizer's own look for leaks needs calls that are taken away here.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS

# doctor WRAPPER...: its report in $T/json and its status in $T/status, seen from a host
# that WRAPPER makes.
doctor() {
	"$@" fence-guard doctor --json >"$T/json" 2>"$T/err"
	echo $? >"$T/status"
}
# step NAME: "works", or the errno and the cause
step() {
	jq -r --arg name "$1" '.steps[] | select(.name == $name) |
		if .works then "works" else "\(.error) \(.cause)" end' "$T/json"
}
remedy() {
	jq -r --arg name "$1" '.steps[] | select(.name == $name).remedy' "$T/json"
}
# layer PROFILE LAYER
layer() {
	jq -r --arg profile "$1" --arg layer "$2" \
		'.profiles[] | select(.name == $profile).layers[$layer]' "$T/json"
}
faults() {
	jq -r --slurpfile schema "$SRC/schemas/fence-guard-doctor-v1.json" \
		-f "$SRC/tests/lib/schema.jq" "$1" 2>&1
}
# whatever it says, exec does
agrees() {
	agrees_name=$1
	shift
	rm -f ran
	"$@" fence-guard exec --ro "$FENCE_BUILD" -- sh -c ': >ran' 2>"$T/err"
	is "$agrees_name: exec does what doctor says" "$(jq -r '.profiles[] | select(.name == "gate").starts' "$T/json")" \
		"$([ -e ran ] && echo true || echo false)"
}

doctor env
is "here nothing is missing" "$(cat "$T/status") $(jq -r .verdict "$T/json")" "0 full"
is "the steps of gate work" "$(step mounts) $(step proc) $(step lo) $(step seccomp-filter)" \
	"works works works works"
is "a notifier answers" "$(step seccomp-notifier)" works
like "Landlock has a version" "$(jq '.steps[] | select(.name == "landlock").abi' "$T/json")" "[6-9]"
is "every layer is enforced" "$(layer gate namespaces)$(layer gate mounts)$(layer gate landlock)" \
	enforcedenforcedenforced
is "profile none has no more than namespaces" "$(layer none namespaces) $(layer none seccomp)" \
	"enforced off"
agrees "here" env
exits "the words say the same" 0 fence-guard doctor
like "with a table" "$(cat "$T/out")" "*gate *yes *enforced*"
exits "it takes no operands" 64 fence-guard doctor now
exits "nor other options" 64 fence-guard doctor --fix
cp "$T/json" "$T/all"

doctor guard_filter docker setpriv --bounding-set=-all --inh-caps=-all
is "Docker's filter: refused" "$(cat "$T/status") $(jq -r .verdict "$T/json")" "77 refused"
is "by name" "$(step user-namespace)" "EPERM seccomp-filter"
like "with what to do" "$(remedy user-namespace)" "*--security-opt seccomp=*"
is "what it leaves is seen as well" "$(step seccomp-filter) $(step landlock)" "works works"
agrees "Docker's filter" guard_filter docker setpriv --bounding-set=-all --inh-caps=-all
like "and exec gives the same remedy" "$(cat "$T/err")" \
	"fence-guard: create namespaces: Operation not permitted; $(remedy user-namespace)"
cat "$T/json" >>"$T/all"

doctor guard_filter no-landlock
is "without Landlock: less" "$(cat "$T/status") $(jq -r .verdict "$T/json")" "1 degraded"
is "by name" "$(step landlock)" "ENOSYS seccomp-filter"
is "and nothing else is less" "$(layer gate mounts) $(layer gate landlock)" "enforced off"
agrees "without Landlock" guard_filter no-landlock
cat "$T/json" >>"$T/all"
doctor guard_filter landlock-off
is "Landlock switched off at the kernel's start" "$(step landlock)" "EOPNOTSUPP landlock-off"
like "with what to do" "$(remedy landlock)" "*lsm=*"

# A user namespace of our own is a host whose settings are ours to make.
unprivileged="setpriv --bounding-set=-all --inh-caps=-all"
cat >no-namespaces <<END
#!/bin/sh
echo 0 >/proc/sys/user/max_user_namespaces && exec $unprivileged "\$@"
END
cat >hidden-proc <<END
#!/bin/sh
mount --bind /dev/null /proc/version && exec unshare -U --map-user=1000 --map-group=1000 "\$@"
END
cat >in-chroot <<END
#!/bin/sh
mkdir root && mount -t tmpfs none root && mkdir root/sub || exit 1
for each in /*; do
	[ -L "\$each" ] && cp -P "\$each" root/sub
	[ -d "\$each" ] && [ ! -L "\$each" ] && mkdir "root/sub\$each" &&
		mount --rbind "\$each" "root/sub\$each"
done
exec chroot root/sub $unprivileged "\$@"
END
chmod 755 no-namespaces hidden-proc in-chroot
doctor unshare -Ur ./no-namespaces
is "user namespaces switched off: refused" "$(cat "$T/status")" 77
is "by the setting's name" "$(step user-namespace)" "ENOSPC max-namespaces"
like "with what to do" "$(remedy user-namespace)" "user.max_user_namespaces is 0*"
agrees "user namespaces switched off" unshare -Ur ./no-namespaces
cat "$T/json" >>"$T/all"

doctor unshare -Urm ./hidden-proc
is "a /proc with hidden parts: less" "$(cat "$T/status")" 1
is "by name" "$(step proc)" "EPERM masked-proc"
like "with what hides" "$(remedy proc)" "*(/proc/version is mounted over)*systempaths=unconfined"
is "which makes less of the mounts" "$(layer gate mounts) $(layer none namespaces)" "degraded off"
agrees "a /proc with hidden parts" unshare -Urm ./hidden-proc
cat "$T/json" >>"$T/all"

mkdir -p .git/objects .git/refs && : >.git/HEAD
doctor env
is "a repository can be copied" "$(step overlay) $(jq -r '.steps[] | select(.name == "overlay").detail' "$T/json")" \
	"works in profile gate .git is a private copy"
doctor guard_filter no-overlay
is "without overlayfs it cannot: nothing less, but that" "$(cat "$T/status")" 0
is "by name" "$(step overlay)" "ENODEV no-overlay"
is "with what it is then" "$(jq -r '.steps[] | select(.name == "overlay").detail' "$T/json")" \
	"in profile gate .git is read-only"
like "and what to do" "$(remedy overlay)" "*modprobe overlay*"
agrees "no overlayfs" guard_filter no-overlay
cat "$T/json" >>"$T/all"
rm -r .git

doctor unshare -Urm ./in-chroot
is "in a chroot: refused" "$(cat "$T/status")" 77
is "by name" "$(step user-namespace)" "EPERM chroot"
rm -rf root

doctor guard_filter apparmor setpriv --bounding-set=-all --inh-caps=-all
is "AppArmor's restriction: refused" "$(cat "$T/status")" 77
is "by name" "$(step user-namespace) $(step id-map)" "works EACCES apparmor"
like "with what to do" "$(remedy id-map)" "*kernel.apparmor_restrict_unprivileged_userns=0"
is "a second listener cannot be had" "$(step seccomp-notifier)" "EBUSY second-listener"
agrees "AppArmor's restriction" guard_filter apparmor setpriv --bounding-set=-all --inh-caps=-all
cat "$T/json" >>"$T/all"

is "every report is as its schema says" "$(faults "$T/all")" ""
sed 's/"verdict":"full"/"verdict":"fine"/' "$T/all" >"$T/bad"
unlike "one that is not is found out" "$(faults "$T/bad")" ""
done_testing
