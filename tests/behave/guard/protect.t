#!/bin/sh
# What is protected stays what it is, and where it is.
. "$(dirname "$0")/guard.sh"

newline='
'

mkdir -p a/b/c
echo old >a/b/c/file
ok "control: unprotected, a parent can be renamed" guard -- sh -c 'mv a x && mv x a'

says "a protected file cannot be written" EROFS --protect a/b/c/file -- guard_try write a/b/c/file
says "nor renamed" EBUSY --protect a/b/c/file -- guard_try rename a/b/c/file a/b/c/x
says "nor its folder" EBUSY --protect a/b/c/file -- guard_try rename a/b/c a/b/x
says "nor the folder above" EBUSY --protect a/b/c/file -- guard_try rename a x
exits "what lies beside it can be written" 0 guard --protect a/b/c/file -- sh -c 'echo n >a/b/c/new'
exits "a protected folder takes nothing new" 2 guard --protect a/b -- sh -c ': >a/b/c/more'
exits "replacing the whole way does not help" 0 guard --protect a/b/c/file -- \
	sh -c 'mv a g 2>/dev/null; mkdir -p a/b/c; echo bad >a/b/c/file; true'
is "the host has what it had" "$(cat a/b/c/file)" old

ln -s a/b real
ln -s ../real/c/file a/link
says "through links, the object is protected" EROFS --protect a/link -- guard_try write a/b/c/file
says "and the link cannot be replaced" EBUSY --protect a/link -- guard_try rename a/link a/gone
says "nor the link on its way" EBUSY --protect a/link -- guard_try rename real gone
says "nor the folder that has it" EBUSY --protect a/link -- guard_try rename a gone
exits "a wider root does not make a way around" 0 guard --rw "$T" --protect a/b/c/file -- \
	sh -c 'test "$(guard_try rename "$1" "$1.x")" = EBUSY' - "$W"

for name in "a b" "a${newline}b" 'a\b' '-rf' "$(printf 'caf\351')"; do
	mkdir -p "./$name/in"
	echo old >"./$name/in/file"
	shown=$(printf %s "$name" | tr '\n\351' '|?')
	says "below <$shown> a file can be protected" EROFS --protect "./$name/in/file" -- \
		guard_try write "./$name/in/file"
	says "and <$shown> is pinned" EBUSY --protect "./$name/in/file" -- \
		guard_try rename "./$name" moved
done

echo k >key
ln key second
exits "a protected file with a second name is refused" 125 guard --protect key -- true
done_testing
