# What the tests of escapes share. Each table of attempts (tests/lib/guard_escape_*.c) is
# run without fence-guard, as the positive control, then inside, and inside once more
# within other sandboxes; then the host is looked at.
#
#   $W      the writable folder     $HOST     a folder outside that may be read
#   $HIDDEN a folder of /tmp that is not shown inside, with a file `hidden`
#   $WHO    root or user
. "$(dirname "$0")/../../../lib/tap.sh"

WHO=user
[ "$ROOT" = yes ] && WHO=root
W=$T/work
HOST=$T/host
HIDDEN=$(mktemp -d /tmp/fence-escape.XXXXXX) || exit 1
later rm -rf "$HIDDEN"
chmod 755 "$HIDDEN"
mkdir "$W" "$HOST"
cd "$W" || exit 1

# guard OPTIONS -- COMMAND
guard() {
	fence-guard exec --ro "$FENCE_BUILD" --ro "$HOST" "$@"
}

# outside_of NAME: what the control saw
outside_of() {
	sed -n "s/^$1 \([^ ]*\) .*/\1/p" "$T/outside"
}

# changed FILE: the attempts that end otherwise than in $T/inside, with how they end
changed() {
	diff "$T/inside" "$1" | sed -n 's/^> \([^ ]* [^ ]*\) .*/\1/p' | xargs
}

# lenient >POLICY: every system call is allowed that a policy can allow, but for what no
# filter sees
lenient() {
	printf 'version: 1\nprofiles: {gate: {seccomp: {allow: [%s]}}}\n' "$(guard_calls allowable | paste -sd,)"
}

# judge TITLE <RESULTS: one check for each line NAME GOT WANTED (guard_escape.h)
judge() {
	while read -r judge_name judge_got judge_wanted; do
		judge_title="$1: $judge_name"
		case $judge_wanted in
		untried | either) echo "# $judge_title: $judge_got ($judge_wanted)" ;;
		refused) unlike "$judge_title: is refused here as well" "$judge_got" ok ;;
		other:*)
			if [ "$judge_got" = ENOSYS ]; then
				echo "# $judge_title: this kernel has none"
			else
				unlike "$judge_title: the kernel's own answer, $judge_got" "$judge_got" "${judge_wanted#other:}"
			fi
			;;
		*)
			# What this machine does not have cannot be refused.
			if [ "$judge_got" = ENOENT ] && [ "$(outside_of "$judge_name")" = ENOENT ]; then
				echo "# $judge_title: not on this machine"
			else
				is "$judge_title" "$judge_got" "$judge_wanted"
			fi
			;;
		esac
	done
}

# tried TITLE FILE PROGRAM: that all of the table was
tried() {
	is "$1: all were tried" "$(sed -n '$s/ .*//p' "$2")" "$("$3" list | sed -n '$s/\t.*//p')"
}

# same TITLE FILE: that the answers are those in $T/inside
same() {
	is "$1" "$(diff "$2" "$T/inside")" ""
}

# Whoever is root of bwrap's namespace of one user is told that there is no other user
# (EINVAL) before being told that he may not become one.
alone() {
	sed 's/ EINVAL EPERM$/ EPERM EPERM/'
}

# The inside of other sandboxes.
in_none() {
	fence-guard exec --profile none --keep-fd 0 "$@"
}
in_bwrap() {
	bwrap --bind / / --dev-bind /dev /dev --proc /proc --unshare-user --unshare-pid --cap-add ALL \
		--uid "$(id -u)" --gid "$(id -g)" -- "$@"
}

# Words, for what is not a shell. As root a folder may be written there only with --allow-set-id.
nesting="fence-guard exec --allow-nesting --ro $FENCE_BUILD --ro $HOST"
[ "$ROOT" = yes ] && nesting="$nesting --allow-set-id"
