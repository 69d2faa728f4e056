#!/bin/sh
# Everything is read-only but what is named.
. "$(dirname "$0")/guard.sh"

newline='
'

mkdir "$T/other" sub
echo old >"$T/other/file"

ok "control: unconfined, the other folder can be written" sh -c 'echo old >"$1/file"' - "$T/other"
exits "the working directory can be written" 0 guard -- sh -c 'echo in >here'
is "and the host has it" "$(cat here)" in
says "a folder outside cannot: it is read-only" EROFS --ro "$T/other" -- guard_try write "$T/other/file"
is "nothing was written outside" "$(cat "$T/other/file")" old

says "--rw opens it" ok --rw "$T/other" -- guard_try write "$T/other/file"
echo x >sub/file
says "--ro closes a part of what is writable" EROFS --ro sub -- guard_try write sub/file
exits "a file can be named alone" 0 guard --rw "$T/other/file" -- sh -c 'echo new >"$1"' - "$T/other/file"
is "and is changed on the host" "$(cat "$T/other/file")" new
guard --rw "$T/other/file" -- sh -c ': >"$1/more"' - "$T/other" 2>/dev/null
is "its folder stays as it was" "$(ls -A "$T/other")" file

exits "--tmpfs gives an empty folder that can be written" 0 \
	guard --tmpfs sub -- sh -c 'test -z "$(ls -A sub)" && echo x >sub/x'
exits "also in the place of the working directory" 0 guard --tmpfs . -- sh -c 'test -z "$(ls -A)" && echo x >x'
is "of which nothing is left" "$(ls -A sub)" file

echo secret >"$T/private"
exits "/tmp is private" 0 guard -- sh -c 'test ! -e "$1" && echo x >/tmp/x && rm /tmp/x' - "$T/private"
exits "--ro shows what would be hidden in it" 0 guard --ro "$T/private" -- grep -q secret "$T/private"
exits "--cwd is entered and can be written" 0 guard --cwd "$T/other" -- sh -c 'pwd >where'
is "there" "$(cat "$T/other/where")" "$T/other"

for name in "a b" "a${newline}b" 'a\b' '-rf' "$(printf 'caf\351')" '*?[x]' "'\"\$(x)"; do
	mkdir -p "./$name/deep"
	echo keep >"./$name/deep/file"
	shown=$(printf %s "$name" | tr '\n\351' '|?')
	says "a folder called <$shown> can be read-only" EROFS --ro "./$name" -- \
		guard_try write "./$name/deep/file"
	says "and writable when it lies outside" ok --cwd "$T/other" --rw "$W/$name" -- \
		guard_try write "$W/$name/deep/file"
done

# What is mounted below is closed and opened along; names that need escapes in
# /proc/self/mountinfo have fooled others.
mkdir -p "plain" "m n" "m${newline}n"
submounts() {
	map=--map-root-user
	[ "$ROOT" = no ] || map=
	unshare $map --mount sh -c '
		for m in plain "m n" "m
n"; do mount -t tmpfs none "$m" && echo x >"$m/file" || exit 1; done
		exec "$@"' - "$@"
}
for m in plain "m n" "m${newline}n"; do
	shown=$(printf %s "$m" | tr '\n' '|')
	is "a mount on <$shown> below a read-only folder is read-only" \
		"$(submounts fence-guard exec --cwd "$T/other" --ro "$FENCE_BUILD" --ro "$W" -- guard_try write "$W/$m/file")" EROFS
	is "and writable below a writable one" \
		"$(submounts fence-guard exec --ro "$FENCE_BUILD" -- guard_try write "$m/file")" ok
done

# A link that a command put there must not lead the next one out.
ln -s "$T/other" way
mkdir "$T/far"
ln -s "$W/sub" "$T/far/in"
says "control: a link that the command cannot change may be named" ok --rw "$T/far/in" --cwd "$T/far/in" -- \
	guard_try write "$T/work/sub/file"
for kind in rw ro; do
	exits "--$kind does not follow a link in a writable folder" 125 guard --$kind way/file -- true
done
like "which is said" "$(cat "$T/err")" "fence-guard: way/file leads through the link $W/way: *; name what it leads to"
exits "nor does --cwd" 125 guard --rw "$W" --cwd way -- true
says "what it leads to can be named" ok --rw "$T/other" -- guard_try write way/file
rm way

device=
for name in fuse loop-control ttyS0 console; do # kmsg wants a capability
	[ -n "$device" ] || [ ! -c "/dev/$name" ] || device=/dev/$name
done
if [ -n "$device" ]; then
	says "a device of the host is not there" ENOENT -- guard_try open "$device"
	says "unless it is named" "$(guard_try open "$device")" --rw "$device" -- guard_try open "$device"
else
	lacks "a device that is named is there" "a device in /dev that is not one of the usual"
fi
exits "what does not exist cannot be named" 125 guard --rw "$T/nope" -- true
like "and is said by name" "$(cat "$T/err")" "fence-guard: --rw $T/nope: No such file or directory; *"
exits "the root itself cannot be opened" 125 guard --rw / -- true
for kind in rw ro tmpfs deny; do
	exits "nor can /proc be named, here with --$kind" 125 guard --$kind /proc -- true
done
exits "nor /dev" 125 guard --ro /dev -- true
like "which is said" "$(cat "$T/err")" "fence-guard: /dev cannot be named: *"
exits "nor can it be the working directory: the one inside is another" 125 sh -c \
	'cd /proc && exec fence-guard exec -- true'
like "which is said, too" "$(cat "$T/err")" "fence-guard: enter the working directory /proc: another folder*--cwd"
exits "/sys as the working directory is only read" 0 guard --cwd /sys/kernel -- \
	sh -c 'mkdir fence 2>&1 | grep -q "Read-only file system"'
exits "nor may two rules contradict each other" 125 guard --rw sub --deny sub -- true
like "which is said" "$(cat "$T/err")" "*contradict*"
done_testing
