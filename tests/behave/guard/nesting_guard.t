#!/bin/sh
# The scenarios inside of fence-guard with --allow-nesting, with nothing of the host's to
# write: as root nothing of it may be (nesting.t), and as a user it is the same. The registry
# of placeholders is in memory there.
. "$(dirname "$0")/guard.sh"
. "$SRC/tests/behave/guard/nesting.sh"

cd / || exit 1
outer() {
	fence-guard exec --allow-nesting --ro "$SRC" --ro "$FENCE_BUILD" --tmpfs /var/lib --tmpfs /var/tmp --env FENCE_BUILD \
		--unset TMPDIR -- "$@"
}
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
	"and keeps nothing else" "not in profile chromium either" "nor empty its caches" \
	"control: less than root can write them outside" "and not inside, profile chromium"; do
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
all "fence-guard" outer
done_testing
