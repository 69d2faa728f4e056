#!/bin/sh
# Places with hostile names, mounts in them, links that lead nowhere, and a host that moves
# things about.
. "$(dirname "$0")/guard.sh"

newline='
'
names() {
	for name in "a b" "a${newline}b" "a	b" 'a\b' 'a\040b' '-rf' "$(printf 'caf\351')" '"' "'" '*' '$x' "$(printf '%0255d' 0)"; do
		shown=$(printf %.20s "$name" | tr '\n\t\351' '|>?')
		"$@"
	done
}

# --- every kind of rule with each of the names ------------------------------------------
place() {
	rm -rf "./$name"
	mkdir "./$name"
	echo old >"./$name/file"
	cd "./$name" || exit 1
	says "<$shown> as the working directory can be written" ok -- guard_try write file
	cd "$W" || exit 1
	says "<$shown> by --rw" ok --cwd "$T" --rw "$W/$name" -- guard_try write "$W/$name/file"
	says "and no other" EROFS --ro "$W" --cwd "$W/other" --rw "$W/$name" -- guard_try write "$W/plain"
	says "<$shown> by --ro in a writable folder cannot" EROFS --ro "./$name" -- guard_try write "./$name/file"
	says "<$shown> by --tmpfs is empty" "ok" --tmpfs "./$name" -- sh -c 'test -z "$(ls -A "./$1")" && echo ok' - "$name"
	says "<$shown> by --deny shows nothing" EACCES --deny "./$name" -- guard_try open "./$name/file"
	exits "<$shown> is where the command works" 0 guard --cwd "./$name" -- test -f file
	ln -sfn "./$name" link
	says "through a link, <$shown> is denied where it is" EACCES --deny link/file -- guard_try open "./$name/file"
	says "and the link stays" EBUSY --deny link/file -- guard_try rename link gone
	rm link
	is "the host has what it had" "$(cat "./$name/file")" old
	rm -r "./$name"
}
mkdir other
echo old >plain
names place

# --- what is mounted in a place ----------------------------------------------------------
# In a mount namespace of our own; as a user in one of a user namespace, where we are uid 0.
if [ "$ROOT" = yes ]; then
	mounted() { unshare -m "$@"; }
else
	mounted() { unshare -Urm "$@"; }
fi
if mounted true 2>/dev/null; then
	export W FENCE_BUILD
	mkdir sub
	for name in "a b" "a${newline}b" "a	b" 'a\b' '\040' '-x'; do
		shown=$(printf %s "$name" | tr '\n\t' '|>')
		mkdir "sub/$name" "sub/$name/in"
		is "what is mounted on <$shown> is closed with the rest, nosuid and nodev" "$(mounted sh -c '
			mount -t tmpfs -o mode=0777 none "sub/$1" && : >"sub/$1/file" || exit 1
			guard_try write "sub/$1/file"
			fence-guard exec --ro "$FENCE_BUILD" --ro "$W" --cwd other -- guard_try write "$W/sub/$1/file"
			fence-guard exec --ro "$FENCE_BUILD" --ro sub -- guard_try write "sub/$1/file"
			fence-guard exec --ro "$W" --cwd other -- stat -fc %T "$W/sub/$1"
			fence-guard exec --ro "$W" --cwd other -- sh -c "grep /sub/ /proc/self/mountinfo | grep -vc \" ro,nosuid,nodev\""' - "$name" 2>&1 | tr '\n' ' ')" \
			"ok EROFS EROFS tmpfs 0 "
		is "and open where its folder is" "$(mounted sh -c '
			mount -t tmpfs -o mode=0777 none "sub/$1" && : >"sub/$1/file" || exit 1
			fence-guard exec --ro "$FENCE_BUILD" -- guard_try write "sub/$1/file"
			fence-guard exec --ro "$FENCE_BUILD" --protect "sub/$1/file" -- guard_try write "sub/$1/file"
			fence-guard exec --ro "$FENCE_BUILD" --deny "sub/$1" -- guard_try open "sub/$1/file"' - "$name" 2>&1 | tr '\n' ' ')" \
			"ok EROFS EACCES "
	done
	rm -r sub
else
	lacks "mounts with hostile names" "a user namespace for unshare(1)"
fi

# --- links -------------------------------------------------------------------------------
ln -s "$T/none" dangling
ln -s /run/none absolute
exits "a link that leads nowhere is refused as a place to write" 125 guard --rw dangling -- true
like "by name" "$(cat "$T/err")" "fence-guard: --rw dangling: No such file or directory; create it first"
exits "and no obstacle elsewhere" 0 guard -- test -h absolute
exits "nor as something that is denied" 0 guard --deny dangling --deny absolute -- true
ln -s loop loop
exits "a link to itself is refused" 125 guard --deny loop -- true
like "as what it is" "$(cat "$T/err")" "fence-guard: deny */loop: Too many levels of symbolic links*"
mkdir -p dot/stow
echo secret >dot/stow/conf
ln -s dot/stow/conf conf
says "a stowed dotfile is denied by its link" EACCES --deny conf -- guard_try open conf
says "and where it is" EACCES --deny conf -- guard_try open dot/stow/conf
says "and protected, too" EROFS --protect conf -- guard_try write dot/stow/conf
rm -r loop dangling absolute conf dot

# --- a host that moves things ---------------------------------------------------------------
# A shell sits in a folder; somebody outside moves that folder to where the shell may not go.
mkdir -p hidden/deep root/sits
echo secret >hidden/deep/secret
echo old >hidden/deep/file
mkfifo root/sits/go
fence-guard exec --ro "$FENCE_BUILD" --cwd root --deny "$W/hidden" -- sh -c '
	cd sits && echo up >../ready && read -r _ <go
	guard_try open ../secret; guard_try write ../file; guard_try open ../../plain' >"$T/moved" 2>"$T/err" &
pid=$!
await file root/ready
mv root/sits hidden/deep/sits
echo go >hidden/deep/sits/go
wait "$pid"
is "moved out of the writable root, the way up ends" "$(tr '\n' ' ' <"$T/moved")" "ENOENT ENOENT ENOENT "
is "the host has what it had" "$(cat hidden/deep/file)" old
mkdir outside
mkfifo outside/go
cd outside || exit 1
fence-guard exec --ro "$FENCE_BUILD" --ro "$W/outside" --cwd "$W/root" --deny "$W/hidden" -- sh -c '
	cd ../outside && echo up >../root/ready2 && read -r _ <go
	guard_try write ../file' >"$T/moved" 2>"$T/err" &
pid=$!
cd "$W" || exit 1
await file root/ready2
mv outside hidden/deep/outside
echo go >hidden/deep/outside/go
wait "$pid"
unlike "moved from outside to below a mask, nothing can be written by the way up" "$(cat "$T/moved")" ok
is "the host still has what it had" "$(cat hidden/deep/file)" old
done_testing
