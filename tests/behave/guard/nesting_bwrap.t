#!/bin/sh
# The scenarios inside of bwrap.
. "$(dirname "$0")/guard.sh"
. "$SRC/tests/behave/guard/nesting.sh"

if ! command -v bwrap >/dev/null; then
	lacks "inside of bwrap" bubblewrap
	done_testing
fi
outer() {
	bwrap --bind / / --dev-bind /dev /dev --proc /proc --unshare-user --unshare-pid --cap-add ALL \
		--uid "$(id -u)" --gid "$(id -g)" -- "$@"
}
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
all "bwrap" outer
done_testing
