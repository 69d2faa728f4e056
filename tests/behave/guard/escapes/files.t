#!/bin/sh
# Files, mounts, /proc and devices: the whole table of guard_escape_files.
. "$(dirname "$0")/escapes.sh"

mkdir -p denied.d pinned/hooks plain.d
for f in denied denied.d/name pinned/hooks/pre-commit plain "$HOST/file" "$HIDDEN/hidden"; do
	echo "$f" >"$f"
done
[ "$ROOT" = yes ] && mknod -m 666 node c 1 3
mkfifo "$T/hold"
(
	cd "$HIDDEN" || exit 1
	exec cat "$T/hold" 9<hidden
) &
victim=$!
exec 8>"$T/hold"
ok "there is a process of the host's" await some "$T/hold"

attempts() {
	guard_escape_files "$1" "$WHO" "$HOST" "$HIDDEN/hidden" "$victim" <"$HOST/file"
}
# confined LAUNCHER... : the table inside, in that launcher
confined() {
	# shellcheck disable=SC2086 # words
	"$@" fence-guard exec ${options:-} --status-fd 5 --ro "$FENCE_BUILD" --ro "$HOST" --deny denied --deny denied.d --protect pinned/hooks -- \
		${inner:-} guard_escape_files inside "$WHO" "$HOST" "$HIDDEN/hidden" "$victim" <"$HOST/file" 5>"$T/record"
}
state() {
	find "$HOST" "$HIDDEN" -printf '%p %m %u %g %s %T@ %C@\n'
	find . -printf '%p %m %u %g\n' | sort
	cat /proc/self/mountinfo /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname
	cat denied denied.d/name pinned/hooks/pre-commit plain
}

attempts outside >"$T/outside"
judge outside <"$T/outside"
if [ "$ROOT" = yes ]; then
	attempts own >"$T/own"
else
	unshare --user --map-root-user guard_escape_files own "$WHO" >"$T/own"
fi
judge "outside, as root of its own mounts" <"$T/own"
tried "outside, as root of its own mounts" "$T/own" guard_escape_files

state >"$T/before"
confined env >"$T/inside"
landlock=$(sed -n 's/.*"landlock":"\([a-z]*\)".*/\1/p' "$T/record")
if [ "$landlock" = off ]; then
	lacks "what Landlock alone refuses" "Landlock ABI 2 (Linux 5.19)"
	guard_escape_files list | sed -n 's/\tlandlock\t.*/ /p' | grep -v -f - "$T/inside" >"$T/fewer"
	judge inside <"$T/fewer"
else
	judge inside <"$T/inside"
fi
tried inside "$T/inside" guard_escape_files
options=--explain
confined env >"$T/explained" 2>"$T/told"
options=
same "while they are explained the answers are the same" "$T/explained"
lenient >"$T/lenient.yaml"
options="--policy $T/lenient.yaml"
confined env >"$T/lenient"
options="--strict --env ASAN_OPTIONS=detect_leaks=0"
confined env >"$T/strict"
options=
same "with every call allowed that a policy can allow the answers are the same" "$T/lenient"
is "with the list of --strict one has no kernel" "$(changed "$T/strict")" "file-handle ENOSYS"
# A root of its own, whose programs are the host's, with the same folders by the same names.
mkdir -p "$T/tree/etc" "$T/tree/var/tmp"
cp /etc/passwd "$T/tree/etc"
echo secret >"$T/tree/etc/shadow"
options="--root $T/tree --bind $W:$W --ro-bind $HOST:$HOST --ro-bind $FENCE_BUILD:$FENCE_BUILD --ro-bind /sys:/sys --cwd $W"
for f in usr bin sbin lib lib32 lib64 libx32; do
	if [ -L "/$f" ]; then
		ln -s "usr/$f" "$T/tree/$f"
	elif [ -d "/$f" ]; then
		options="$options --ro-bind /$f:/$f"
	fi
done
confined env >"$T/rooted"
options=
same "in a root of its own the answers are the same" "$T/rooted"
confined fence-guard exec --profile none --keep-fd 5 -- >"$T/none"
same "within another fence-guard the answers are the same" "$T/none"
# Root's is in a user namespace then, and sets no attributes.
unset_attributes=
[ "$ROOT" = yes ] && unset_attributes="file-capability EOPNOTSUPP trusted-attribute EOPNOTSUPP chown-away EINVAL"
# shellcheck disable=SC2086 # words
confined $nesting --keep-fd 0 --keep-fd 5 -- >"$T/nesting"
is "within one that lets others nest" "$(changed "$T/nesting")" "$unset_attributes"
if command -v bwrap >/dev/null; then
	confined in_bwrap | alone >"$T/bwrap"
	same "within bwrap" "$T/bwrap"
else
	lacks "within bwrap" bubblewrap
fi
# Who has capabilities over the masks opens them: they are empty. In a user namespace of its
# own the command may do what is its own matter.
masks="read-masked nothing list-masked nothing read-below-masked ENOENT masked-by-symlink nothing"
masks="$masks masked-by-proc-self-root nothing masked-by-proc-self-cwd nothing"
if [ "$ROOT" = yes ]; then
	options="--profile chromium"
	confined env >"$T/chromium"
	is "with the capabilities of profile chromium masks are empty" "$(changed "$T/chromium")" \
		"$masks oom-score EACCES chown-away ok"
else
	options=--allow-userns
	inner="unshare --user --map-root-user"
	confined env >"$T/userns"
	is "for root of a user namespace inside, too" "$(changed "$T/userns")" "$masks file-capability ok chroot ok"
fi
is "the host is unchanged" "$(state)" "$(cat "$T/before")"
ok "its process is still there" kill -0 "$victim"
exec 8>&-
wait
done_testing
