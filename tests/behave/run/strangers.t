#!/bin/sh
# Dead children of the launcher that are none of the command's are reaped while it runs.
. "$(dirname "$0")/../../lib/tap.sh"

# What a shell had started before it became us.
cat >"$T/gone" <<'END'
#!/bin/sh
# A zombie counts as there.
until [ -s "$1" ]; do :; done
kill "$(cat "$1")"
exec await -t 5 gone "$(cat "$1")"
END
chmod 755 "$T/gone"
become() { sh -c 'sleep 600 & echo $! >"$1"; shift; exec "$@"' sh "$T/pid" "$@" "$T/gone" "$T/pid"; }
ok "control: a shell leaves its child to what it becomes" sh -c '! "$@"' sh \
	sh -c 'sleep 600 & kill $!; exec await -t .3 gone $!'
ok "a child of the shell that became us is reaped when it dies" become fence-run -q --
ok "so it is with --foreground" become fence-run -q --foreground --

# As process 1 we get the orphans of all who come from elsewhere.
cat >"$T/inside" <<'END'
#!/bin/sh
# By now process 1 is the launcher; nsenter's shell is no descendant of it.
echo $$ >"$1/up"
until [ -s "$1/orphan" ]; do :; done
await -t 5 gone "$(cat "$1/orphan")" && echo reaped >"$1/got"
END
chmod 755 "$T/inside"
chmod 777 "$T"
if [ $ROOT = yes ] && unshare -pf --mount-proc nsenter --version >/dev/null 2>&1; then
	unshare -pf --mount-proc "$BIN/fence-run" -q -- "$T/inside" "$T" &
	await file "$T/up"
	launcher=$(command ps -o pid= --ppid $! | tr -d ' ')
	nsenter -t "$launcher" -p -m sh -c "(sleep .1 & echo \$! >$T/.o; mv $T/.o $T/orphan)"
	wait $!
	is "an orphan from outside of the command is reaped by process 1" "$(cat "$T/got")" reaped
else
	pass "control: only root enters another's pid namespace"
fi
done_testing
