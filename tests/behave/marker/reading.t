#!/bin/sh
# What fence-marker read takes for a marker, and what it does not.
. "$(dirname "$0")/../../lib/tap.sh"

m=$T/m.json
none() { # NAME RULE PATH: no authentic marker, and why
	exits "$1" 2 fence-marker read "$3"
	exits "$1: the rule is told" 2 fence-marker read "$3" --explain --json
	like "$1: the rule is \"$2\"" "$(cat "$T/out")" "*\"outcome\":\"none\",\"rule\":\"$2\"*"
}

ok "a marker is made" fence-marker create "$m" --attempt a1 --pid $$
exits "it is read" 0 fence-marker read "$m"
is "in one sentence" "$(cat "$T/out")" \
	"$m: authentic: attempt a1 is active, supervisor pid $$, seq 1"
exits "it is the attempt's" 0 fence-marker read "$m" --attempt a1
exits "it is not another attempt's" 1 fence-marker read "$m" --attempt a2
exits "the other format is not taken for it" 2 fence-marker read "$m" --format cockpit-executor/v1

before=$(stat -c '%s %Y %Z %i' "$m")
fence-marker read "$m" >/dev/null
is "reading changes nothing" "$(stat -c '%s %Y %Z %i' "$m")" "$before"

cp "$m" "$T/copy"
none "a copy is no marker" identity "$T/copy"
mkdir "$T/dir"
ln "$m" "$T/dir/linked"
none "a hard link in another folder is none" identity "$T/dir/linked"
exits "the marker itself is still one" 0 fence-marker read "$m"
ln -s m.json "$T/link"
none "a link to it is none" entry "$T/link"
ln -s . "$T/here"
none "a linked folder has none" parent "$T/here/m.json"
mv "$m" "$T/dir/moved"
none "a marker that was moved is none" identity "$T/dir/moved"
none "a marker that is gone is none" entry "$m"
mv "$T/dir/moved" "$m"
exits "moved back it is one again" 0 fence-marker read "$m"
mkfifo "$T/fifo"
none "a FIFO is none, and is not waited for" entry "$T/fifo"
none "a device is none" entry /dev/null
none "a folder is none" entry "$T/dir"
: >"$T/empty"
none "an empty file is none" size "$T/empty"
head -c 1025 /dev/zero >"$T/long"
none "1025 bytes are none" size "$T/long"
head -c 1024 /dev/zero >"$T/zeros"
none "1024 zeros are none" json "$T/zeros"
printf ' \n' >>"$m"
none "bytes after its newline make it none" json "$m"

exits "a verb is needed" 64 fence-marker
exits "an unknown verb is refused" 64 fence-marker await "$m"
exits "a path is needed" 64 fence-marker read
exits "one path" 64 fence-marker read "$m" "$m"
exits "an unknown option is refused" 64 fence-marker read "$m" --explian
like "and the nearest named" "$(cat "$T/err")" "fence-marker: --explian: unknown option; did you mean --explain\\?"

done_testing
