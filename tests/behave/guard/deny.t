#!/bin/sh
# What is denied can be neither read, written, renamed nor listed.
. "$(dirname "$0")/guard.sh"

newline='
'

mkdir dir deep deep/er
echo secret >dir/inner
echo secret >file
echo secret >deep/er/file
ln -s file link
mkdir -p "$T/home/.config/gcloud"

ok "control: the file can be read when nothing is denied" guard -- grep -q secret file
says "a denied file cannot be read" EACCES --deny file -- guard_try open file
says "nor written" EROFS --deny file -- sh -c 'guard_try write file | sed s/EACCES/EROFS/'
says "nor renamed away" EBUSY --deny file -- guard_try rename file other
exits "a denied folder cannot be listed" 0 guard --deny dir -- sh -c '! ls dir 2>/dev/null'
says "nor anything in it be opened" EACCES --deny dir -- guard_try open dir/inner
exits "nor be opened again by its owner" 0 guard --deny dir -- sh -c '! chmod 777 dir 2>/dev/null'
says "denied by a link, the real object is closed" EACCES --deny link -- guard_try open file
says "and so is the way through the link" EACCES --deny link -- guard_try open link
says "a folder above it cannot be moved to where the next command could read it" EBUSY --deny deep/er/file -- \
	guard_try rename deep shallow
says "nor one in between" EBUSY --deny deep/er/file -- guard_try rename deep/er deep/other
says "nor a link that led to it be led elsewhere" EBUSY --deny link -- guard_try rename link gone
says "nor what is masked unnamed be moved" EBUSY --rw "$T/home" --env "HOME=$T/home" -- \
	guard_try rename "$T/home/.config" "$T/home/config"
exits "what is denied and does not exist is no error" 0 guard --deny "$T/nope" --deny file/x -- true

i=0
set --
while [ $i -lt 300 ]; do
	echo secret >"many $i"
	set -- "$@" --deny "many $i"
	i=$((i + 1))
done
# shellcheck disable=SC3045 # dash and bash have it
ulimit -S -n 200
says "three hundred are as good as one, also with few descriptors" "300 200" "$@" -- \
	sh -c 'echo $(for f in many*; do cat "$f" 2>&1; done | grep -c "Permission denied") $(ulimit -n)'
rm -f many*
i=0
set --
while [ $i -lt 50 ]; do
	mkdir -p "many/$i/deep"
	echo secret >"many/$i/deep/file"
	set -- "$@" --deny "many/$i/deep/file"
	i=$((i + 1))
done
says "and fifty in as many folders, each of which is pinned" "50 200" "$@" -- \
	sh -c 'echo $(for f in many/*/deep/file; do cat "$f" 2>&1; done | grep -c "Permission denied") $(ulimit -n)'
rm -rf many

for name in "a b" "a${newline}b" 'a\b' '-rf' "$(printf 'caf\351')"; do
	echo secret >"./$name"
	shown=$(printf %s "$name" | tr '\n\351' '|?')
	says "a file called <$shown> can be denied" EACCES --deny "./$name" -- guard_try open "./$name"
done

is "the host has what it had" "$(cat file dir/inner deep/er/file)" "secret${newline}secret${newline}secret"

echo k >key
ln key second
exits "a file with a second name is refused" 125 guard --deny key -- cat second
like "by its name" "$(cat "$T/err")" "fence-guard: deny $W/key: the file has another name*"
exits "unless that is accepted" 0 guard --deny key --allow-hardlinks -- cat second

long=$W
while [ ${#long} -lt 3700 ]; do
	long=$long/$(printf '%0200d' 0)
done
mkdir -p "$long"
echo secret >"$long/file"
says "a path of nearly 4,000 bytes can be denied" EACCES --deny "$long/file" -- guard_try open "$long/file"
done_testing
