#!/bin/sh
# fence-marker replace: only the approved state, never half, never silently.
. "$(dirname "$0")/../../lib/tap.sh"

m=$T/m.json
temporaries() {
	for file in "$T"/.m.json*; do
		[ ! -e "$file" ] || echo "$file"
	done
}
approved() { # [MARKER]
	fence-marker read "${1:-$m}" --json | sed 's/.*"approved":\({[^}]*}\).*/\1/'
}

exits "a marker is made" 0 fence-marker create "$m" --attempt a1 --pid $$ --json
like "and shown whole" "$(cat "$T/out")" '*"schema":"fence-marker-create/v1"*"outcome":"created"*"status":"active"*"identity":{*"approved":{"supervisorPid":*'
is "it and its lock are the owner's alone" \
	"$(stat -c %a "$m") $(stat -c %a "$m.lock")" "600 600"
exits "a second one is refused" 77 fence-marker create "$m" --attempt a2 --pid $$
exits "so is one for a process that is not there" 77 \
	fence-marker create "$T/n" --attempt a1 --pid 2147483647
ok "which makes no marker" test ! -e "$T/n"

first=$(approved)
exits "the next state follows" 0 \
	fence-marker replace "$m" --attempt a1 --approved "$first" --status terminating --json
like "and is shown" "$(cat "$T/out")" '*"outcome":"replaced"*"status":"terminating"*"seq":2*'
cp "$m" "$T/kept"
exits "the state before it is no longer approved" 77 \
	fence-marker replace "$m" --attempt a1 --approved "$first" --status cancelled --json
like "which is said" "$(cat "$T/out")" '*"outcome":"not-replaced"*'
second=$(approved)
exits "another attempt is refused" 77 \
	fence-marker replace "$m" --attempt a2 --approved "$second" --status cancelled
other=$(echo "$second" | sed 's/"supervisorPid":[0-9]*/"supervisorPid":1/')
exits "another supervisor is refused" 77 \
	fence-marker replace "$m" --attempt a1 --approved "$other" --status cancelled
other=$(echo "$second" | sed 's/"markerIno":"[0-9]*"/"markerIno":"1"/')
exits "another file is refused" 77 \
	fence-marker replace "$m" --attempt a1 --approved "$other" --status cancelled
exits "a status that cannot follow is refused" 77 \
	fence-marker replace "$m" --attempt a1 --approved "$second" --status active
like "by name" "$(cat "$T/err")" "*from terminating to active*"
exits "an approved marker without its fields is a mistake" 64 \
	fence-marker replace "$m" --attempt a1 --approved '{"supervisorPid":1}' --status cancelled
exits "so is an unknown status" 64 \
	fence-marker replace "$m" --attempt a1 --approved "$second" --status "done"
ok "all of that changed nothing" cmp "$m" "$T/kept"

mkfifo "$T/go" "$T/held"
marker_race hold "$m" <"$T/go" >"$T/held" &
holder=$!
exec 3>"$T/go"
read -r word <"$T/held"
is "another writer holds the lock" "$word" held
exits "a writer waits so long and says busy" 75 \
	fence-marker replace "$m" --attempt a1 --approved "$second" --status terminated --lock-wait 50ms
ok "having changed nothing" cmp "$m" "$T/kept"
exec 3>&-
wait "$holder"
exits "then it has its turn" 0 \
	fence-marker replace "$m" --attempt a1 --approved "$second" --status terminated --durable rename
exits "terminated is the end" 77 \
	fence-marker replace "$m" --attempt a1 --approved "$(approved)" --status cancelled
cp "$m" "$T/copy"
mv "$T/copy" "$m"
exits "a copy is not replaced" 2 \
	fence-marker replace "$m" --attempt a1 --approved "$second" --status cancelled
is "no temporary is in the folder" "$(temporaries)" ""

n=$T/n.json
exits "the other format is made when asked for" 0 \
	fence-marker create "$n" --attempt a1 --pid $$ --format cockpit-executor/v1
is "with its eight fields" "$(tr ',' '\n' <"$n" | sed 's/^{*"\([a-zA-Z]*\)".*/\1/' | tr '\n' ' ')" \
	"format attemptId supervisorPid status markerDev markerIno parentDev parentIno "
exits "and read when asked for" 0 fence-marker read "$n" --format cockpit-executor/v1
exits "not otherwise" 2 fence-marker read "$n"

if [ -w /dev/full ]; then
	fence-marker read "$n" --format cockpit-executor/v1 >/dev/full 2>"$T/err"
	is "what cannot be said about a marker that is only read is 77" $? 77
	fence-marker create "$T/said" --attempt a1 --pid $$ >/dev/full 2>"$T/err"
	is "but one that was made is no refusal" $? 1
	like "and that is said" "$(cat "$T/err")" \
		"fence-marker: write to standard output: No space left on device; the marker was written*"
	exits "for it is there" 0 fence-marker read "$T/said"
else
	lacks "what cannot be said about a marker that is only read is 77" "a writable /dev/full"
fi

# Where a file system cannot rename without replacing, a new marker is linked and its
# temporary unlinked; a writer that was killed between the two left this.
n=$T/linked.json
ASAN_OPTIONS=detect_leaks=0 strace -o /dev/null -e trace=renameat2,unlinkat,unlink \
	-e inject=renameat2:error=EINVAL -e inject=unlinkat,unlink:signal=KILL:when=1 \
	fence-marker create "$n" --attempt a1 --pid $$ >"$T/out" 2>&1
is "control: a killed writer left the marker with two names" "$(stat -c %h "$n")" 2
exits "they keep no other writer away" 0 fence-marker cancel "$n"
is "who removes the one that is not the marker's" "$(find "$T" -maxdepth 1 -name "*linked*" | wc -l)" 2

# What a killed writer left is known by a note in the lock. Without one, and where the note
# is of another boot, the folder is looked through.
littered() { # NAME
	exits "$1: it is written all the same" 0 \
		fence-marker replace "$n" --attempt a1 --approved "$(approved "$n")" --status cancelled
	ok "$1: and no temporary is left" test ! -e "$T/.linked.json.executor-1-0123456789abcdef"
}
touch "$T/.linked.json.executor-1-0123456789abcdef"
littered_note=$(tr '\0' '\n' <"$n.lock" | head -n 1)
like "the note names boot and temporary" "$littered_note" \
	"$(cat /proc/sys/kernel/random/boot_id) .linked.json.cancel-*"
fence-marker replace "$n" --attempt a1 --approved "$(approved "$n")" --status cancelled >"$T/out"
ok "with a note of this boot nothing is looked for" test -e "$T/.linked.json.executor-1-0123456789abcdef"
: >"$n.lock"
littered "a lock without a note"
touch "$T/.linked.json.executor-1-0123456789abcdef"
printf 0 | dd of="$n.lock" bs=1 seek=3 conv=notrunc 2>/dev/null
printf g | dd of="$n.lock" bs=1 seek=4 conv=notrunc 2>/dev/null
littered "a note of another boot"

for mask in 0777 0277 0022; do
	n=$T/n$mask
	exits "umask $mask: a marker is made" 0 \
		sh -c "umask $mask; fence-marker create '$n' --attempt a1 --pid $$"
	is "umask $mask: it and its lock are the owner's to read and write" \
		"$(stat -c %a "$n" "$n.lock" | tr '\n' ' ')" "600 600 "
	exits "umask $mask: and to replace" 0 sh -c "umask $mask; fence-marker cancel '$n'"
	is "umask $mask: it stays so" "$(stat -c %a "$n")" 600
done

done_testing
