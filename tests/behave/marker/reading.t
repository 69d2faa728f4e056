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
printf '{' >"$T/one"
none "one byte is none" json "$T/one"
truncate -s 1G "$T/huge"
none "1 GiB is none, and is not read" size "$T/huge"
if [ $ROOT = yes ] && mknod "$T/device" c 1 5 2>/dev/null; then
	none "a device in its folder is none" entry "$T/device"
fi
perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1) or die' "$T/socket"
none "a socket is none" entry "$T/socket"

# The marker's own bytes with one thing wrong, in the very file.
cp "$m" "$T/kept"
inside() { # NAME RULE PERL
	perl -pe "$3" "$T/kept" >"$T/changed"
	cat "$T/changed" >"$m"
	none "$1" "$2" "$m"
}
cat "$T/kept" >"$m"
exits "written anew into its own file it is the same marker" 0 fence-marker read "$m"
# Of a whole size, by a field that is not known to us.
padded() { # BYTES
	perl -e 'local $/; $_ = <STDIN>; s/}\n$//;
		print $_, ",\"x\":\"", "x" x ($ARGV[0] - length($_) - 9), "\"}\n"' "$1" \
		<"$T/kept" >"$T/changed"
	cat "$T/changed" >"$m"
}
padded 1024
is "a marker can be 1024 bytes" "$(stat -c %s "$m")" 1024
exits "and is one" 0 fence-marker read "$m"
padded 1025
is "but not 1025" "$(stat -c %s "$m")" 1025
none "then it is none" size "$m"
inside "without its newline it is none" json 's/\n//'
inside "bytes after its newline make it none" json 's/$/\n /'
inside "a second newline does" json 's/$/\n/'
inside "so does a NUL byte in a string" json 's/"a1"/"a\x001"/'
inside "and one between its members" json 's/,/,\x00/'
inside "and one that is written \\u0000" json 's/"a1"/"a\\u00001"/'
inside "and bytes that are no UTF-8" json 's/}$/,"x":"\xff"}/'
inside "and UTF-8 that is longer than it need be" json 's/}$/,"x":"\xc0\xaf"}/'
inside "and half of a pair in UTF-8" json 's/}$/,"x":"\xed\xa0\x80"}/'
inside "a key that is there twice makes it none" json 's/}$/,"status":"active"}/'
inside "also when it is spelt otherwise" json 's/}$/,"st\\u0061tus":"active"}/'
inside "also when it is not known" json 's/}$/,"x":1,"x":1}/'
inside "and one deep inside" json 's/}$/,"x":{"y":1,"y":2}}/'
inside "2^53+1 does" json 's/"seq":1/"seq":9007199254740993/'
inside "also where it is not known" json 's/}$/,"x":9007199254740993}/'
inside "and a number that is none" json 's/"seq":1/"seq":01/'
inside "and a fraction where a whole number belongs" field 's/"seq":1/"seq":1.5/'
inside "and five levels" json 's/}$/,"x":[[[[1]]]]}/'
inside "and a list" json 's/^(.*)$/[$1]/'
inside "and white space before it" json 's/^/ /'
inside "and a byte order mark" json 's/^/\xef\xbb\xbf/'
inside "and a comma too many" json 's/}$/,}/'
inside "a field that is missing makes it none" field 's/"status":"active",//'
inside "so does a status that is none" field 's/"active"/"ended"/'
inside "and an attempt id with a slash" field 's/"a1"/"a\/1"/'
inside "and pid 0" field 's/"supervisorPid":[0-9]*/"supervisorPid":0/'
inside "and a format that is not known" format 's/fence-marker.v1/fence-marker\/v9/'
for whole in '"x":9007199254740991' '"x":[[[1]]]' '"x":"\xc3\xa9"' '"x":1e3' '"":null'; do
	perl -pe "s/}\$/,$whole}/" "$T/kept" >"$T/changed"
	cat "$T/changed" >"$m"
	exits "what is not known does not make it none: $whole" 0 fence-marker read "$m"
done
cat "$T/kept" >"$m"

# While it is read.
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS
if marker_step probe; then
	for change in grow shrink copy link swap; do
		marker_change $change "$T/during.json" >"$T/count" 2>&1
		is "whenever it is changed while it is read ($change), it is whole or none" $? 0
		note "$change: $(head -c 1000 "$T/count")"
		like "both can be seen" "$(cat "$T/count")" "*taken [1-9]*"
		[ $change = swap ] || continue
		like "a next state is seen" "$(cat "$T/count")" "*next [1-9]*"
		is "and none is no answer then" \
			"$(sed -n 's/rounds \([0-9]*\) .*/\1/p' "$T/count")" \
			"$(sed -n 's/.* taken \([0-9]*\) .*/\1/p' "$T/count")"
	done
else
	lacks "whenever it is changed while it is read, it is whole or none" \
		"a tracer for this processor"
fi

exits "a verb is needed" 64 fence-marker
exits "an unknown verb is refused" 64 fence-marker await "$m"
exits "a path is needed" 64 fence-marker read
exits "one path" 64 fence-marker read "$m" "$m"
exits "an unknown option is refused" 64 fence-marker read "$m" --explian
like "and the nearest named" "$(cat "$T/err")" "fence-marker: --explian: unknown option; did you mean --explain\\?"

long=$(head -c 40000 /dev/zero | tr '\0' x)
exits "a path that no file can have is a mistake" 64 fence-marker read "$long" --json
is "and said in one line" "$(cat "$T/err")" "fence-marker: read: PATH: File name too long"
long=$(printf '/\001%.0s' $(seq 2047))x
exits "the longest one, of bytes that are written longer, is none of a marker" 2 \
	fence-marker read "$long" --json
ok "and in the record" jq -e '.path | length > 4000' "$T/out"
done_testing
