#!/bin/sh
# What a replacement answers when the disk, the folder or another program gets in its
# way: nothing changed, or changed and not known to be durable, and never neither.
. "$(dirname "$0")/../../lib/tap.sh"

m=$T/m.json
ASAN_OPTIONS=detect_leaks=0 # not under a tracer
export ASAN_OPTIONS

temporaries() {
	for file in "$T"/.m.json*; do
		[ ! -e "$file" ] || echo "$file"
	done
}
approved() {
	fence-marker read "$m" --json | sed 's/.*"approved":\({[^}]*}\).*/\1/'
}
# with FAULT: a replacement during which a system call fails
with() {
	strace -o "$T/trace" -e trace=fsync,write,rename,renameat,renameat2,openat -e "inject=$1" \
		fence-marker replace "$m" --attempt a --approved "$(approved)" --status active --json
}
unchanged() {
	ok "$1: the marker is as it was" cmp "$m" "$T/kept"
	is "$1: nothing else is left" "$(temporaries)" ""
}

ok "a marker is made" fence-marker create "$m" --attempt a --pid $$
cp "$m" "$T/kept"

# A delay changes nothing: the control of the injection itself.
exits "a slow disk is no fault" 0 with fsync:delay_enter=1000:when=1
like "it was synced twice" "$(grep -c '^fsync' "$T/trace")" 2
cp "$m" "$T/kept"

exits "the file cannot be synced: not replaced" 77 with fsync:error=EIO:when=1
like "and says so" "$(cat "$T/out")" '*"outcome":"not-replaced"*"why":"Input/output error"*'
unchanged "after a failed sync"
is "and the sync is not tried again" "$(grep -c '^fsync' "$T/trace")" 1

exits "the disk is full: not replaced" 77 with write:error=ENOSPC:when=1
unchanged "on a full disk"

with fsync:delay_enter=1:when=1 >/dev/null
call=$(sed -n 's/^\(rename[a-z0-9]*\)(.*/\1/p' "$T/trace")
cp "$m" "$T/kept"
exits "it cannot be renamed: not replaced" 77 with "$call:error=EACCES:when=1"
unchanged "after a failed rename"

exits "the folder cannot be synced: replaced, but not known to be durable" 1 \
	with fsync:error=EIO:when=2
like "and says so" "$(cat "$T/out")" '*"outcome":"not-durable"*"status":"active"*'
fails "the new state is there" cmp -s "$m" "$T/kept"
ok "and authentic" fence-marker read "$m"

# Making one.
making() { # FAULT PATH
	strace -o "$T/trace" -e trace=fsync,renameat2,linkat -e "inject=$1" \
		fence-marker create "$2" --attempt a --pid $$ --json
}
exits "where a rename always replaces, it is linked into place" 0 \
	making renameat2:error=EINVAL:when=1 "$T/linked"
ok "by link" grep -q '^linkat(.* = 0' "$T/trace"
ok "and is a marker" fence-marker read "$T/linked"
is "of one name" "$(stat -c %h "$T/linked")" 1
exits "the file cannot be synced: not made" 77 making fsync:error=EIO:when=1 "$T/none"
ok "there is none" test ! -e "$T/none"
exits "the folder cannot be synced: made, but not known to be durable" 1 \
	making fsync:error=EIO:when=2 "$T/unsure"
like "and says so" "$(cat "$T/out")" '*"outcome":"not-durable"*"marker":{*'
ok "it is a marker" fence-marker read "$T/unsure"
twice() {
	strace -o "$T/trace" -e trace=renameat2,linkat,unlinkat,unlink \
		-e inject=renameat2:error=EINVAL -e inject=unlinkat,unlink:error=EIO:when=1 \
		fence-marker create "$T/twice" --attempt a --pid $$ --json
}
exits "linked into place, but its first name stays: not known to be durable" 1 twice
like "and says so" "$(cat "$T/out")" '*"outcome":"not-durable"*"why":"Input/output error"*'
ok "it is a marker" fence-marker read "$T/twice"
is "and has one name after all" "$(stat -c %h "$T/twice")" 1
none=$(cd "$T" && echo .none* .linked* .unsure* .twice*)
is "no temporary is left" "$none" ".none* .linked* .unsure* .twice*"

# Two failures at once. The first removal is that of what the writer before may have left.
both() {
	strace -o "$T/trace" -e trace=fsync,unlinkat,unlink -e inject=fsync:error=EIO:when=1 \
		-e inject=unlinkat,unlink:error=EACCES:when=2 \
		fence-marker replace "$m" --attempt a --approved "$(approved)" --status active
}
cp "$m" "$T/kept"
exits "neither can it be synced nor removed again: not replaced" 77 both
like "and the one line says both" "$(cat "$T/err")" \
	"fence-marker: sync *: Input/output error; *could not be removed (Permission denied)*"
ok "the marker is as it was" cmp "$m" "$T/kept"
unlike "a temporary is left" "$(temporaries)" ""
exits "which the next writer removes" 0 with fsync:delay_enter=1:when=1
is "so that none is left" "$(temporaries)" ""

# Each of the calls, from the opening of the folder on, fails in each of four ways; and
# answers EIO although it was done, as a network file system does that lost a reply.
# In memory where there is some: a thousand rounds are synced, and nothing is to be learned
# from how busy the disk is.
memory=$(mktemp -d /dev/shm/fence-test.XXXXXX 2>/dev/null) || memory=$T
[ "$memory" = "$T" ] || later rm -rf "$memory"

number() {
	sed -n "s/.*\<$1 \([0-9]*\).*/\1/p" "$T/count" | tail -n 1
}
if marker_step probe; then
	for step in create replace over; do
		marker_torn fail $step "$memory/$step.json" >"$T/count" 2>&1
		is "$step: each call fails: one line, the right status, no temporary" $? 0
		is "$step: nothing went wrong" "$(grep -c '^wrong' "$T/count")" 0
		ok "$step: those were all of its calls" test "$(number calls)" -gt 40
		is "$step: each in each way" "$(number rounds)" $(($(number each) * $(number calls)))
		ok "$step: some changed nothing" test "$(number undone)" -gt 30
		ok "$step: some are not known to be durable" test "$(number unsure)" -gt 1
		note "$step: $(head -c 2000 "$T/count")"
	done
else
	lacks "each call fails: one line, the right status, no temporary" \
		"a tracer for this processor"
fi

# Another program, which knows nothing of the lock, is faster.
approved=$(approved)
strace -o /dev/null -e trace=fsync -e inject=fsync:delay_enter=2s:when=1 \
	fence-marker replace "$m" --attempt a --approved "$approved" --status terminating \
	>"$T/out" 2>"$T/err" &
writer=$!
tries=0
until temporaries | grep -q executor; do
	tries=$((tries + 1))
	[ $tries -lt 100000 ] || break
done
ok "while a writer waits for its disk another replaces the marker" \
	marker_race foreign "$m" b 1
cp "$m" "$T/kept"
wait "$writer"
is "the writer does not replace that" $? 77
unchanged "the other's state stays"

# A limit on the size of files, which ends whoever does not expect it.
n=$T/limited
fence-marker create "$n" --attempt a --pid $$ >"$T/out"
said=$(ulimit -f 0 && fence-marker cancel "$n" 2>&1)
is "a limit on the size of files: not replaced" $? 77
like "and said" "$said" "*fence-marker: write $T/*: File too large*"
ok "no temporary is left" test -z "$(find "$T" -maxdepth 1 -name '.limited*')"

# Another folder is at the path than the one that was opened.
mkdir "$T/path"
n=$T/path/n
fence-marker create "$n" --attempt a --pid $$ >"$T/out"
approved=$(fence-marker read "$n" --json | jq -c .approved)
mv "$T/path" "$T/right"
mkdir "$T/path"
: >"$n"
strace -o /dev/null -e trace=fcntl -e inject=fcntl:delay_enter=300ms \
	fence-marker replace "$n" --attempt a --approved "$approved" --status terminating \
	>"$T/out" 2>"$T/err" &
writer=$!
until [ -e "$n.lock" ]; do :; done
mv "$T/path" "$T/wrong" && mv "$T/right" "$T/path"
wait "$writer"
is "a writer does not take another folder for the marker's" $? 77
like "and says so" "$(cat "$T/err")" "fence-marker: $n: another file or folder was put there"
is "what is in the other is as it was" "$(stat -c %s "$T/wrong/n")" 0
like "and so is the marker" "$(fence-marker read "$n")" "*attempt a is active*"

# A folder that cannot be written.
if [ $ROOT = no ]; then
	mkdir "$T/dir"
	fence-marker create "$T/dir/n" --attempt a --pid $$ >/dev/null
	approved=$(fence-marker read "$T/dir/n" --json | sed 's/.*"approved":\({[^}]*}\).*/\1/')
	chmod 500 "$T/dir"
	exits "a folder that cannot be written: not replaced" 77 \
		fence-marker replace "$T/dir/n" --attempt a --approved "$approved" --status active
	exits "its marker is still read" 0 fence-marker read "$T/dir/n"
	chmod 700 "$T/dir"
fi

done_testing
