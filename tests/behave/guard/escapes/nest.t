#!/bin/sh
# Namespaces of the command's own, with --allow-nesting: the whole table of guard_escape_nest.
. "$(dirname "$0")/escapes.sh"

make_ready() {
	rm -rf ./*
	mkdir -p denied.d pinned/hooks plain.d scratch
	for f in denied denied.d/name pinned/hooks/pre-commit plain; do
		echo "$f" >"$f"
	done
}
state() {
	find "$HOST" . -printf '%p %m %u %g %s %C@\n' | grep -v '^\.\(/plain.d\|/scratch\| \)' | sort
	cat /proc/self/mountinfo /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname
	cat denied denied.d/name pinned/hooks/pre-commit plain
	find . "$HOST" -exec getfattr --absolute-names -m - -d {} + 2>/dev/null
}
# As root a folder may be written beside it only together with --allow-set-id.
set_id=
[ "$ROOT" = yes ] && set_id=--allow-set-id
# inside OPTIONS -- COMMAND
inside() {
	# shellcheck disable=SC2086 # a word or none
	fence-guard exec --allow-nesting $set_id --ro "$FENCE_BUILD" --ro "$HOST" "$@"
}

make_ready
if [ "$ROOT" = yes ]; then
	guard_escape_nest own "$WHO" "$HOST" >"$T/own"
else
	unshare --user --map-root-user guard_escape_nest own "$WHO" "$HOST" >"$T/own"
fi
cp "$T/own" "$T/outside"
judge "outside, as root of its own mounts" <"$T/own"

make_ready
state >"$T/before"
inside --deny denied --deny denied.d --protect pinned/hooks -- guard_escape_nest inside "$WHO" "$HOST" >"$T/inside"
judge inside <"$T/inside"
tried inside "$T/inside" guard_escape_nest
inside --deny denied --deny denied.d --protect pinned/hooks --explain -- guard_escape_nest inside "$WHO" "$HOST" \
	>"$T/explained" 2>"$T/told"
same "while they are explained the answers are the same" "$T/explained"
is "the host is unchanged" "$(state)" "$(cat "$T/before")"

# attempt: nested-as-root-in-host-folder launcher 125
if [ "$ROOT" = yes ]; then
	cp /bin/true "$HOST/capable"
	chmod 4755 "$HOST/capable"
	guard_try setfcap "$HOST/capable" 10 >"$T/set"
	is "there is a set-id file with a capability" "$(cat "$T/set")" ok
	is "control: with --allow-set-id an overlay copies it into a writable folder" \
		"$(inside -- guard_escape_nest copying-up "$WHO" "$HOST")" "copying-up ok ok"
	ok "where the host has it" test -u scratch/upper/capable
	make_ready
	set_id=
	exits "so without that no folder can be written" 125 inside -- guard_escape_nest copying-up "$WHO" "$HOST"
	like "which is said, with what to do" "$(cat "$T/err")" \
		"fence-guard: --allow-nesting while $W can be written: root could copy set-id files of the host into it; *--overlay*"
	is "in memory it works" "$(inside --profile evaluator --tmpfs scratch -- guard_escape_nest copying-up "$WHO" "$HOST")" \
		"copying-up ok ok"
	is "and nothing of it is the host's" "$(ls scratch)" ""
fi
done_testing
