#!/bin/sh
# A host that cannot do everything: what is enforced all the same is said, and what a
# command needs and the host lacks is a refusal with the exact cause.
. "$(dirname "$0")/guard.sh"

ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
unprivileged="setpriv --bounding-set=-all --inh-caps=-all"

# record WRAPPER... : the status record of a command that runs there
record() {
	"$@" fence-guard exec --ro "$FENCE_BUILD" --status-fd 5 -- sh -c 'cat /dev/null' \
		5>"$T/record" 2>"$T/err"
}
field() {
	jq -r "select(.event == \"exec\") | $1" "$T/record"
}
faults() {
	jq -r --slurpfile schema "$SRC/schemas/fence-guard-status-v1.json" \
		-f "$SRC/tests/lib/schema.jq" "$1" 2>&1
}

ok "control: here it runs" record env
is "with nothing less" "$(field '.degraded | length')" 0
is "and Landlock" "$(field .layers.landlock)" enforced
cp "$T/record" "$T/all"

ok "without Landlock it runs" record guard_filter no-landlock
is "which is said" "$(field .layers.landlock)" off
is "with the cause" "$(field '.degraded[] | "\(.layer) \(.cause)"')" "landlock seccomp-filter"
cat "$T/record" >>"$T/all"
echo kept >"$T/kept"
fails "and the mounts still hold" guard_filter no-landlock fence-guard exec --ro "$T" -- sh -c "echo x >$T/kept"
is "the host's file is as it was" "$(cat "$T/kept")" kept

cat >hidden-proc <<END
#!/bin/sh
mount --bind /dev/null /proc/version && exec unshare -U --map-user=1000 --map-group=1000 "\$@"
END
chmod 755 hidden-proc
ok "with hidden parts of /proc it runs" record unshare -Urm ./hidden-proc
is "its own is an empty one then" "$(field '"\(.proc) \(.layers.mounts)"')" "masked degraded"
is "with the cause" "$(field '.degraded[] | "\(.layer) \(.cause)"')" "mounts masked-proc"
cat "$T/record" >>"$T/all"
out=$(unshare -Urm ./hidden-proc fence-guard exec -- ls /proc 2>&1)
is "nothing is seen in it" "$?" 2
exits "profile none, which needs it, is refused" 125 \
	unshare -Urm ./hidden-proc fence-guard exec --profile none -- true
like "with the part that is hidden" "$(cat "$T/err")" \
	"fence-guard: mount /proc: Operation not permitted; *(/proc/version is mounted over)*"
# A repository without git's help: what makes one.
mkdir -p repo/.git/objects repo/.git/refs
: >repo/.git/HEAD
# copy [WRAPPER...]: what the record says of it, and whether the command can write there
copy() (
	cd repo && "$@" fence-guard exec --ro "$FENCE_BUILD" --status-fd 5 -- guard_try write .git/HEAD \
		5>"$T/record" 2>"$T/err" >"$T/out"
	echo "$(field '.git[] | "\(.mode) \(.cause)"') $(cat "$T/out")"
	cat "$T/record" >>"$T/all"
)
is "control: of a repository there is a copy" "$(copy env)" "private null ok"
is "without overlayfs it is read-only" "$(copy guard_filter no-overlay)" "read-only no-overlay EROFS"
like "with the remedy" "$(field '.git[].remedy')" "*modprobe overlay*"
is "its layers are whole" "$(field '"\(.layers.mounts) \(.degraded | length)"')" "enforced 0"
cat >stacked <<END
#!/bin/sh
mkdir "$T/s" && mount -t tmpfs t "$T/s" && cd "$T/s" && mkdir u v w x one two || exit 1
mount -t overlay -o "userxattr,lowerdir=$W,upperdir=u,workdir=v" o one || exit 1
[ "\$1" = 1 ] || mount -t overlay -o userxattr,lowerdir=one,upperdir=w,workdir=x o two || exit 1
[ "\$1" = 1 ] && cd one/repo || cd two/repo
shift && exec unshare -U --map-user=1000 --map-group=1000 "\$@"
END
chmod 755 stacked
is "on one overlay there is one" "$(copy unshare -Urm ../stacked 1)" "private null ok"
rm -rf "$T/s"
is "on two it is read-only" "$(copy unshare -Urm ../stacked 2)" "read-only no-lower EROFS"
rm -rf "$T/s"
cat >mounted <<END
#!/bin/sh
mount --bind .git/objects .git/objects && exec "\$@"
END
chmod 755 mounted
is "with something mounted in it, too" \
	"$(copy unshare -Urm ../mounted unshare -U --map-user=1000 --map-group=1000)" "read-only no-lower EROFS"
is "also for root" "$(copy unshare -Urm ../mounted)" "read-only no-lower EROFS"
is "control: who is root in a namespace has one" "$(copy unshare -Urm)" "private null ok"
exits "a copy that was asked for is not left out" 125 sh -c 'cd repo && guard_filter no-overlay fence-guard exec --overlay .git -- true'
like "but refused" "$(cat "$T/err")" "fence-guard: make an overlay of *.git: No such device; *modprobe overlay*"
is "the records are as their schema says" "$(faults "$T/all")" ""

# refused NAME PATTERN WRAPPER...
refused() {
	refused_name=$1
	refused_pattern=$2
	shift 2
	rm -f ran
	"$@" fence-guard exec --status-fd 5 -- sh -c ': >ran' 5>"$T/record" 2>"$T/err"
	is "$refused_name: refused, and nothing was run" "$?/$(ls ran 2>/dev/null)" 125/
	like "$refused_name: one line with the remedy" "$(cat "$T/err")" "$refused_pattern"
	is "$refused_name: one line" "$(wc -l <"$T/err" | tr -d ' ')" 1
	like "$refused_name: the record has it" "$(cat "$T/record")" '*"event":"failure"*"hint":"?*'
}
refused "Docker's filter" "fence-guard: create namespaces: Operation not permitted; *--security-opt seccomp=*" \
	guard_filter docker $unprivileged
refused "AppArmor's restriction" \
	"fence-guard: map uid *: Permission denied; *kernel.apparmor_restrict_unprivileged_userns=0" \
	guard_filter apparmor $unprivileged
cat >no-namespaces <<END
#!/bin/sh
echo 0 >/proc/sys/user/max_\$1_namespaces && shift && exec $unprivileged "\$@"
END
chmod 755 no-namespaces
refused "no user namespaces" "fence-guard: create namespaces: *; user.max_user_namespaces is 0: *" \
	unshare -Ur ./no-namespaces user
refused "no nesting" "fence-guard: create namespaces: *max_\*_namespaces*" \
	unshare -Ur sh -c "echo 1 >/proc/sys/user/max_user_namespaces; exec unshare -U $unprivileged \"\$@\"" -
if [ "$ROOT" = yes ]; then
	# The one thing that such a root has is a uid that owns files.
	refused "root without capabilities, and a filter" "fence-guard: create namespaces: *" \
		guard_filter docker $unprivileged
fi
done_testing
