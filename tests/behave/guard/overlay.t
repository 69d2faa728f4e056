#!/bin/sh
# What is written on an overlay is there for the command and goes with it.
. "$(dirname "$0")/guard.sh"

mkdir -p ov/dir/deep ov/gone
echo old >ov/file
echo old >ov/dir/deep/file
chmod 750 ov
before=$(ls -lAR --time-style=full-iso ov && cat ov/file)
exits "control: without it the changes stay" 0 guard -- sh -c 'echo x >ov/new'
ok "the host has them" test -e ov/new
rm ov/new
before=$(ls -lAR --time-style=full-iso ov && cat ov/file)

is "the command sees what was there, and what it writes" "$(guard --overlay ov -- sh -c '
	cat ov/file && echo new >ov/file && cat ov/file && echo x >ov/other && mv ov/file ov/moved && cat ov/moved ov/dir/deep/file && rm -r ov/gone &&
	ls ov && stat -c %a ov' 2>&1 | tr '\n' ' ')" "old new new old dir moved other 750 "
is "the host has what it had" "$(ls -lAR --time-style=full-iso ov && cat ov/file)" "$before"
exits "the working directory as one" 0 guard --overlay . -- sh -c 'echo x >y && test -e y && cd ov && echo z >file'
fails "the host has nothing of it" test -e y
is "nor of that" "$(cat ov/file)" old
exits "a working directory below one" 0 guard --cwd ov/dir --ro "$W" --overlay "$W/ov" -- sh -c 'test -e deep/file'
says "what is denied in it is denied" EACCES --overlay ov --deny ov/dir/deep/file -- guard_try open ov/dir/deep/file
exits "wherever it is moved" 0 guard --overlay ov --deny ov/dir/deep/file -- \
	sh -c 'mv ov/dir ov/g 2>/dev/null; ! cat ov/g/deep/file ov/dir/deep/file 2>/dev/null'
says "what is to stay as it is does, on the host" ok --overlay ov --protect ov/file -- sh -c 'echo n >ov/file; guard_try write ov/file'
is "it does" "$(cat ov/file)" old
says "a folder in it can be the host's all the same" ok --overlay ov --rw ov/dir -- sh -c 'echo n >ov/dir/new; guard_try write ov/dir/new'
is "as it is" "$(cat ov/dir/new)" n
rm ov/dir/new
exits "a file cannot be one" 125 guard --overlay ov/file -- true
exits "nor the root" 125 guard --overlay / -- true
# In a user namespace with one user there is nobody to give it to.
if [ "$ROOT" = yes ] && : >given && chown 65534:65534 given 2>/dev/null; then
	rm given
	cp "$(command -v id)" ov/id
	chmod 6755 ov/id && chown 65534:65534 ov/id && chmod 6755 ov/id
	is "a setuid program in it is none" "$(guard --overlay ov -- ov/id -u)" 0
	chown 65534:65534 ov
	is "its owner is who it was" "$(guard --overlay ov -- stat -c %u ov)" 65534
	rm ov/id
fi

if command -v git >/dev/null; then
	HOME=$T/home
	export HOME
	mkdir "$HOME"
	git config --global user.name n
	git config --global user.email n@example.org
	git config --global init.defaultBranch main
	git init -q repo
	cd repo || exit 1
	echo one >file
	git add file
	git commit -qm one
	exits "git does all that it can" 0 guard --ro "$HOME" --overlay .git -- sh -ec '
		echo two >file && git add file && git commit -qm two && git branch b && git stash list && git gc -q &&
		git worktree add -q ../repo/tree -b c && git config x.y z && test "$(git rev-list --count HEAD)" = 2'
	is "the host has one commit" "$(git rev-list --count HEAD)" 1
	fails "and no new setting" git config x.y
	ok "and a repository that is whole" git fsck
	rm -rf tree
	cd "$W" || exit 1
fi
done_testing
