# What the tests of nesting share: the scenarios of tests/behave/guard, each whole, inside
# of another sandbox. What cannot hold there is named, and is looked for: a row that holds
# after all is a failure as well.

# In two halves: each of them whole takes too long with a sanitizer.
of_files="protect deny hostile overlay mandatory writes proc escapes/scenarios"
of_the_rest="placeholders processes refusals status handover network calls limits landlock terminal privileges ports"

# cannot WHO SCENARIO NAME: that row cannot hold here; WHO is root, user or both
cannot() {
	case $1 in
	both) ;;
	root) [ "$ROOT" = yes ] || return 0 ;;
	user) [ "$ROOT" = no ] || return 0 ;;
	esac
	echo "$2|$3" >>"$T/cannot"
}
: >"$T/cannot"

# inside TITLE SCENARIO COMMAND... : runs it inside of COMMAND
inside() {
	inside_title="$2.t inside of $1"
	inside_file=$SRC/tests/behave/guard/$2.t
	sed -n "s:^$2|::p" "$T/cannot" | sort >"$T/wanted"
	shift 2
	"$@" sh "$inside_file" >"$T/rows" 2>"$T/said" </dev/null
	sed -n 's/^not ok [0-9]* - //p' "$T/rows" | sort >"$T/not"
	if ! grep -q '^1\.\.[1-9]' "$T/rows"; then
		fail "$inside_title ends"
		note "$(tail -5 "$T/said")"
	elif cmp -s "$T/wanted" "$T/not"; then
		pass "$inside_title: $(grep -c '^ok' "$T/rows") rows hold, $(grep -c . "$T/not") cannot"
	else
		fail "$inside_title"
		note "$(diff "$T/wanted" "$T/not")"
		note "$(head -c 3000 "$T/said")"
	fi
}

# --- in profile none

in_none() {
	fence-guard exec --profile none --env FENCE_BUILD --env ASAN_OPTIONS -- "$@"
}
cannot_in_none() {
	# A set-group-ID program gains nothing in a user namespace that has not its group.
	cannot user escapes/scenarios "control: outside chage, which is setgid, reads what is root's"
}

# --- in bwrap

in_bwrap() {
	bwrap --bind / / --dev-bind /dev /dev --proc /proc --unshare-user --unshare-pid --cap-add ALL \
		--uid "$(id -u)" --gid "$(id -g)" -- "$@"
}
cannot_in_bwrap() {
	# It is root of one user: there is no other one to become, to be of the group of, or to be
	# kept from.
	cannot root mandatory "control: a user of its group may read /etc/shadow"
	cannot root mandatory "and his command may not"
	cannot root network "another user's session bus: outside it answers, inside it does not, unless it is named"
	for row in "control: which a user gets outside" "control: a setuid program changes its user outside" \
		"root cannot become another" "unless it keeps what that takes" "profile chromium does" \
		"and not inside, profile gate" "and not inside, profile chromium"; do
		cannot root privileges "$row"
	done
	# So nobody else is there for whom what root covers of /proc is locked.
	for row in "with a covered /proc the command still starts" "and the record says what it lacks" \
		"nothing can be read there" "least of all the host's" \
		"profile none has no /proc to hide: it refuses" "with what to do"; do
		cannot root proc "$row"
	done
	# Whoever has all capabilities is bound by no RLIMIT_NPROC.
	cannot user limits "a plain user has a second way"
	# A set-group-ID program gains nothing in a user namespace that has not its group.
	cannot user escapes/scenarios "control: outside chage, which is setgid, reads what is root's"
}

# --- in fence-guard with --allow-nesting

# With nothing of the host's to write: as root nothing of it may be (nesting.t), and as a user
# it is the same. The registry of placeholders is in memory there.
in_guard() (
	cd / && exec fence-guard exec --allow-nesting --ro "$SRC" --ro "$FENCE_BUILD" --tmpfs /var/lib --tmpfs /var/tmp \
		--env FENCE_BUILD --env ASAN_OPTIONS --unset TMPDIR -- "$@"
)
cannot_in_guard() {
	# The outer one answers first, where a control is what is refused inside.
	cannot both calls "control: outside a new terminal gets a line discipline"
	cannot both escapes/scenarios "control: outside who listens to a filter lets calls go on"
	cannot both escapes/scenarios "open: the contents of a set-id program that is there"
	# It lets nobody look into another process's memory: --explain knows no paths and ports.
	cannot both ports "and names the port and what refused it"
	# A set-group-ID program gains nothing under no_new_privs.
	cannot user escapes/scenarios "control: outside chage, which is setgid, reads what is root's"

	# As root the inner one has no cgroup namespace, and says so.
	cannot root status "with its layers"
	# It is uid 0 without capabilities: there is no other user for it, and nothing to mount on the
	# machine.
	cannot root mandatory "control: a user of its group may read /etc/shadow"
	cannot root mandatory "and his command may not"
	cannot root network "another user's session bus: outside it answers, inside it does not, unless it is named"
	for row in "control: which a user gets outside" "control: a setuid program changes its user outside" \
		"root cannot become another" "unless it keeps what that takes" "profile chromium does" \
		"and keeps nothing else" "control: less than root can write them outside"; do
		cannot root privileges "$row"
	done
	for row in "with a covered /proc the command still starts" "and the record says what it lacks" \
		"nothing can be read there" "least of all the host's" \
		"profile none has no /proc to hide: it refuses" "with what to do"; do
		cannot root proc "$row"
	done
	for name in plain "m n" "m|n"; do
		cannot root writes "a mount on <$name> below a read-only folder is read-only"
		cannot root writes "and writable below a writable one"
	done
	# It is in a user namespace, where the limit that is tried is another one; and /proc/sys is
	# read-only, so that no limit of namespaces can be set to 0.
	cannot root limits "and the cause and the way out are said"
	cannot root landlock "without user namespaces gate is refused"
	cannot root landlock "and this starts"
}

# within none|bwrap|guard SCENARIO...
within() {
	within_what=$1
	shift
	"cannot_in_$within_what"
	for within_scenario; do
		inside "$within_what" "$within_scenario" "in_$within_what"
	done
}
