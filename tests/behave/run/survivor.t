#!/bin/sh
# What we may not signal outlives KILL: that is said, and is a failure.
. "$(dirname "$0")/../../lib/tap.sh"
word=608.$$

if [ $ROOT = no ]; then
	exits "control: what we may signal does not survive" 0 fence-run -q --grace 0 -- \
		sh -c "sleep $word & exit 0"
	done_testing
fi
cp "$HELP/run_root" "$T/run_root"
chmod 4755 "$T/run_root"
chmod 777 "$T"
as_user() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
if ! as_user true 2>/dev/null || [ "$(as_user "$T/run_root" id -u)" != 0 ]; then
	lacks "a survivor is said" "the capabilities to become another user and root again (CAP_SETUID, CAP_SETGID; no nosuid mount, no no_new_privs)"
	done_testing
fi
as_user "$BIN/fence-run" --grace 0 --result "$T/r" -- \
	sh -c "$T/run_root sleep $word & echo \$! >$T/pid; until grep -q '^Uid:.0.0' /proc/\$!/status; do :; done; exit 0" >/dev/null 2>"$T/err"
is "a survivor makes it 125" $? 125
is "it is counted and named" "$(jq -r '.reap, .survivors.count, .survivors.pids[0]' "$T/r" | xargs)" \
	"survived 1 $(cat "$T/pid")"
like "in words too" "$(cat "$T/err")" "*fence-run: end process $(cat "$T/pid"): KILL did not end it; *"
ok "control: it does run, as root" kill -0 "$(cat "$T/pid")"
kill "$(cat "$T/pid")"
ok "nothing is left" await none "$word"
done_testing
