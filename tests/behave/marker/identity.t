#!/bin/sh
# What is not the very marker, of the very supervisor, from here, is refused, and for the
# right reason; and no process is taken for one that had its pid before.
. "$(dirname "$0")/../../lib/tap.sh"
. "$SRC/tests/lib/attempts.sh"

m=$T/m
own=
[ $ROOT = yes ] || own=-Ur
edit() { # SED: in place, so that the inode stays
	sed "$1" "$m" >"$T/text"
	cat "$T/text" >"$m"
}
# none NAME RULE PATH: no authentic marker to any verb
none() {
	exits "$1: not read" 2 fence-marker read "$3" --explain --json
	like "$1: by the rule \"$2\"" "$(cat "$T/out")" "*\"rule\":\"$2\"*"
	exits "$1: not waited for" 2 fence-marker wait "$3" --status active --appear 0s
	exits "$1: not cancelled" 2 fence-marker cancel "$3"
	exits "$1: not repaired" 2 fence-marker repair "$3" --apply --force
}

begin "$m" a --no-stamp -- sleep "$W"
await_sleepers 1
die
exits "the marker itself is read" 0 fence-marker read "$m"
exits "and can be repaired" 0 fence-marker repair "$m"
cp "$m" "$T/kept"

# --- another file ----------------------------------------------------------------------------
cp "$m" "$T/copy"
none "a copy" identity "$T/copy"
mkdir "$T/dir"
mv "$m" "$T/dir/m"
none "moved in from elsewhere" identity "$T/dir/m"
ln "$T/dir/m" "$m"
none "linked in from elsewhere" identity "$T/dir/m"
rm "$T/dir/m"
ln -s m "$T/link"
none "a symbolic link to it" entry "$T/link"
mv "$m" "$T/there"
ln -s there "$m"
none "replaced by a symbolic link" entry "$m"
mv "$T/there" "$m"
ln "$m" "$T/m2"
exits "a second name in its folder reads as it" 0 fence-marker read "$T/m2"
exits "but nothing is written through one of two" 77 fence-marker repair "$T/m2" --apply
exits "nor through the other" 77 fence-marker repair "$m" --apply
fence-marker read "$m" --json >"$T/out"
approved=$(sed 's/.*"approved":\({[^}]*}\).*/\1/' "$T/out")
attempt=$(sed 's/.*"attemptId":"\([^"]*\)".*/\1/' "$T/out")
status=$(sed 's/.*"marker":{[^}]*"status":"\([a-z]*\)".*/\1/' "$T/out")
exits "nor by replacing it" 77 fence-marker replace "$m" --attempt "$attempt" \
	--approved "$approved" --status "$status"
like "which says why" "$(cat "$T/err")" "fence-marker: *it has a second name, which would keep the old state; *"
rm "$T/m2"
ok "all of that changed nothing" cmp "$m" "$T/kept"
is "and signalled nobody" "$(sleepers)" 1

marker_attempt swap "$m" "$T/copy" 2000000 &
swapper=$!
wrong=0 read=0 none=0 round=0
while [ $round -lt 60 ]; do
	round=$((round + 1))
	fence-marker read "$m" >"$T/out" 2>/dev/null
	case $? in
	0) read=$((read + 1)) ;;
	2) none=$((none + 1)) ;;
	*) wrong=$((wrong + 1)) ;;
	esac
	fence-marker repair "$m" --json >"$T/out" 2>/dev/null
	case $? in
	0 | 2) ;;
	*) wrong=$((wrong + 1)) ;;
	esac
done
kill -KILL $swapper
wait $swapper 2>/dev/null
is "swapped with a copy all the while, it is the marker or none" "$wrong" 0
note "$read times the marker, $none times none"
fence-marker read "$m" >/dev/null 2>&1 || mv "$T/copy" "$m"
exits "(it is there again)" 0 fence-marker read "$m"

# --- elsewhere ---------------------------------------------------------------------------------
# elsewhere NAME LIFE COMMAND...: the supervisor cannot be judged
elsewhere() {
	name=$1 life=$2
	shift 2
	exits "$name: it is read" 0 "$@" fence-marker read "$m"
	exits "$name: its supervisor is not taken for dead" 75 \
		"$@" fence-marker wait "$m" --over --timeout 20ms --json
	like "$name: it is $life" "$(cat "$T/out")" "*\"life\":\"$life\"*"
	exits "$name: it is not repaired" 77 "$@" fence-marker repair "$m" --apply --json
	like "$name: since it is $life" "$(cat "$T/out")" "*\"life\":\"$life\"*nobody here can know*"
	is "$name: nobody was signalled" "$(sleepers)" 1
}
if ! unshare $own -u -pf --mount-proc true 2>/dev/null; then
	lacks "on another host and in another pid namespace" "namespaces"
else
	# shellcheck disable=SC2016
	elsewhere "on another host" other-host unshare $own -u sh -c \
		'hostname elsewhere && exec "$@"' sh
	elsewhere "in another pid namespace" other-pid-namespace unshare $own -pf --mount-proc
fi
edit 's/"bootId":"......../"bootId":"00000000/'
elsewhere "on another boot" other-boot env
exits "whoever knows can say so" 0 fence-marker repair "$m" --apply --force --json
is "which is told" "$(jq -r '[.outcome, .life, (.forced | tostring)] | join(" ")' "$T/out")" \
	"repaired other-boot true"
is "nothing is looked for then, and nobody signalled" "$(sleepers)" 1
is "and it is over" "$(jq -r .status "$m")" terminated
kill -KILL "-$group"
await_sleepers 0

# Where /proc shows no processes of others, who is hidden is not dead.
if [ $ROOT = yes ] && [ $DROPS = no ]; then
	lacks "a supervisor that is hidden is not taken for dead" \
		"the capabilities to mount a proc and to become another user"
elif [ $ROOT = yes ]; then
	begin "$T/hidden" a
	chmod 644 "$T/hidden"
	exits "a supervisor that is hidden is not taken for dead" 77 unshare -m sh -c "
		mount -t proc -o hidepid=2 proc /proc || exit 9
		exec setpriv --reuid=65534 --regid=65534 --clear-groups '$BIN/fence-marker' \
			repair '$T/hidden' --json"
	like "it is unknown" "$(cat "$T/out")" '*"life":"unknown"*'
	die
fi

# --- a pid that is given out again ------------------------------------------------------------
rounds=200
! grep -q __asan_init "$BIN/fence-marker" || rounds=50 # each starts two programs, slowly
if ! unshare $own -pf --mount-proc true 2>/dev/null; then
	lacks "each pid was given to a stranger, none of which was signalled" "a pid namespace"
elif unshare $own -pf --mount-proc marker_reuse $rounds "$T/reused" "$BIN/fence-marker" >"$T/out" 2>"$T/err"; then
	is "each pid was given to a stranger, none of which was signalled" \
		"$(sed 's/shared [0-9]* //; s/ repaired.*//' "$T/out")" "$rounds reused $((2 * rounds)) signalled 0 dead 0"
	shared=$(sed 's/.*shared \([0-9]*\) .*/\1/' "$T/out")
	if grep -q supervisorId "$T/reused"; then
		is "all supervisors were seen to be dead, and half of the groups to be gone" \
			"$(sed 's/.* repaired/repaired/' "$T/out")" \
			"repaired $((rounds / 2)) unproven $((rounds / 2))"
	fi
	ok "some of them shared the start tick, too" test "$shared" -gt 0
	note "$(cat "$T/out")"
else
	fail "each pid was given to a stranger, none of which was signalled"
	note "$(cat "$T/err" "$T/out")"
fi

done_testing
