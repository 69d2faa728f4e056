#!/bin/sh
# Nothing that a confined command writes makes git run a program on the host.
. "$(dirname "$0")/guard.sh"

if ! command -v git >/dev/null; then
	lacks "what git would run" git
	done_testing
fi
HOME=$T/home
export HOME
mkdir "$HOME"
git config --global user.name n
git config --global user.email n@example.org
git config --global init.defaultBranch main
git config --global protocol.file.allow always
git config --global advice.addEmbeddedRepo false

# fresh: a repository with one commit
fresh() {
	rm -rf "$W/repo" "$T/ran"
	git init -q "$W/repo"
	cd "$W/repo" || exit 1
	echo one >file
	git add file
	git commit -qm one
}

# Each makes the host's next git run a program that leaves $T/ran, if it may do what it does.
# A program that is named alone, since it is asked for an answer.
cat >"$T/evil" <<EOF
#!/bin/sh
: >"$T/ran"
EOF
chmod 755 "$T/evil"
by_setting='printf "[core]\n\tfsmonitor = %s\n" "$1" >>.git/config'
by_hook='cp "$1" .git/hooks/post-index-change'
by_commondir='mkdir -p evil/objects evil/refs && printf "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = %s\n" "$1" >evil/config &&
	echo ../evil >.git/commondir'
by_parent='mv .git g && mkdir .git && cp -r g/* .git/ && printf "[core]\n\tfsmonitor = %s\n" "$1" >>.git/config'
by_index='git init -q nested && (cd nested && git commit -q --allow-empty -m x && git config core.fsmonitor "$1") &&
	git add nested'

# ask: what somebody outside does with git then, and whether it ran the program
ask() {
	git status >/dev/null 2>&1
	echo more >>file
	git add file >/dev/null 2>&1
	if [ -e "$T/ran" ]; then echo ran; else echo kept; fi
}

# attack HOW OPTIONS...: what became of it: "ran" or "kept"
attack() {
	attack_how=$1
	shift
	fresh
	fence-guard exec --ro "$FENCE_BUILD" --ro "$T/evil" --ro "$HOME" "$@" -- sh -c "$attack_how" - "$T/evil" >/dev/null 2>&1
	rm -f "$T/ran"
	ask
}

open_way() { # control: the same, not confined at all
	fresh
	sh -c "$1" - "$T/evil" >/dev/null 2>&1
	rm -f "$T/ran"
	ask
}

for way in setting hook commondir parent index; do
	eval "how=\$by_$way"
	# shellcheck disable=SC2154
	is "control: outside, git is made to run a program by way of $way" "$(open_way "$how")" ran
	is "confined, it is not" "$(attack "$how")" kept
done
for way in setting hook parent; do
	eval "how=\$by_$way"
	is "not by way of $way where .git may be written either" "$(attack "$how" --rw .git)" kept
done
# Why .git is read-only as a whole: if these two ever fail to run it, that can be lifted.
is "where it may be written, the index is a way" "$(attack "$by_index" --rw .git)" ran
is "and commondir" "$(attack "$by_commondir" --rw .git)" ran

# --- what works ---------------------------------------------------------------------------
fresh
g() { guard --ro "$HOME" "$@"; }
exits "git can be asked" 0 g -- sh -c 'git status && git log && git diff && git show && git grep one && git blame file'
exits "and no changes made" 128 g -- git add file
like "for the reason that the manual names" "$(cat "$T/err")" "*index.lock*Read-only file system*"
exits "where .git may be written, all of it works" 0 g --rw .git -- sh -ec '
	echo two >file && git add file && git commit -qm two && git branch b && git checkout -q b && echo three >file
	git stash -q && git stash pop -q && git commit -qam three && git checkout -q main && git merge -q b
	git tag -a -m t t && git gc -q && git worktree add -q ../repo/tree -b c && git -C tree commit -q --allow-empty -m four
	git worktree remove tree && git rebase -q HEAD~1 && git reset -q --hard && git fsck'
is "and the host has it" "$(git log --format=%s main | tr '\n' ' ')" "three two one "
exits "but for its settings" 0 g --rw .git -- sh -c '! git config x.y z'

# --- submodules ---------------------------------------------------------------------------
outer() {
	fresh
	git init -q "$W/inner"
	git -C "$W/inner" commit -q --allow-empty -m x
	git submodule -q add "$W/inner" "a dir/module" >/dev/null 2>&1
	git commit -qm module
	rm -rf "$W/inner"
}
outer
swap='rm -rf "a dir/module/.git"; mkdir -p "a dir/module" && cd "a dir/module" && git init -q . && git commit -q --allow-empty -m x &&
	git config core.fsmonitor "$1"'
module_attack() {
	"$@" -- sh -c "$swap" - "$T/evil" >/dev/null 2>&1
	rm -f "$T/ran"
	git status >/dev/null 2>&1
	if [ -e "$T/ran" ]; then echo ran; else echo kept; fi
}
exits "control: outside, a submodule's .git can be swapped" 0 sh -c "$swap" - "$T/evil"
git status >/dev/null 2>&1
ok "control: and git runs what it names" test -e "$T/ran"
outer
is "confined, it cannot" "$(module_attack g)" kept
is "the host has the submodule" "$(git submodule status | cut -c43-54)" "a dir/module"
says "its other files can be written" ok -- sh -c ': >"a dir/module/new"; guard_try write "a dir/module/new"'
says "but not moved away" EBUSY -- guard_try rename "a dir/module" "a dir/gone"
git submodule -q deinit -f "a dir/module"
is "nor in one that is not checked out" "$(module_attack g)" kept
rmdir "a dir/module" "a dir"
is "nor in one whose folder is missing" "$(module_attack g)" kept
fails "which is missing afterwards" test -e "a dir"
git config -f .gitmodules --remove-section "submodule.a dir/module"
git checkout -q -- "a dir" 2>/dev/null
is "nor when .gitmodules does not tell of it any more" "$(module_attack g)" kept
for version in 4 3 2; do
	outer
	git update-index --index-version $version
	[ $version = 3 ] && git add -N file2 2>/dev/null
	is "with an index of version $version" "$(module_attack g)" kept
done
# A work tree that begins above the writable root.
inner_attack() { # FOLDER PATH-OF-THE-MODULE-FROM-THERE
	(cd "$1" && fence-guard exec -- sh -c "mkdir -p '$2'; cd '$2' && rm -rf .git && git init -q . &&
		git commit -q --allow-empty -m x; git config core.fsmonitor \"\$1\"" - "$T/evil") >/dev/null 2>&1
	rm -f "$T/ran"
	git status >/dev/null 2>&1
	if [ -e "$T/ran" ]; then echo ran; else echo kept; fi
}
outer
is "from a folder between, it cannot either" "$(inner_attack "a dir" module)" kept
is "nor from the submodule itself" "$(inner_attack "a dir/module" .)" kept
ok "where it works as elsewhere" sh -c "cd 'a dir/module' && fence-guard exec -- sh -c 'echo x >new'"
ok "it was written" test -s "a dir/module/new"
git submodule -q deinit -f "a dir/module"
is "nor from a folder between, when it is not checked out" "$(inner_attack "a dir" module)" kept
is "nor from the empty folder of one" "$(inner_attack "a dir/module" .)" kept
is "in which nothing is left" "$(ls -A "a dir/module")" ""
mkdir -p "a dir/other/deep"
is "nor by another way down" "$(inner_attack "a dir/other/deep" ../../module)" kept
(cd "a dir/other" && fence-guard exec -- sh -c 'echo x >deep/new')
ok "control: what is no module can be written there" test -s "a dir/other/deep/new"
outer
git update-index --split-index
git reset -q
exits "an index that is split is refused, for what is in its other part" 125 g -- true
split="fence-guard: look for submodules in $W/repo/.git/index: it is split, and what it has is in another file; git update-index --no-split-index"
is "by name" "$(cat "$T/err")" "$split"
echo x >>"a dir/../.gitmodules"
git add .gitmodules
exits "also when some of it is there" 125 g -- true
is "by the same name" "$(cat "$T/err")" "$split"
git update-index --no-split-index
exits "and taken when it is whole again" 0 g -- true
printf 'DIRC\0\0\0\002\0\0\0\001broken' >.git/index
exits "an index that cannot be read is refused" 125 g -- true
like "by name" "$(cat "$T/err")" "fence-guard: look for submodules in $W/repo/.git/index: no index that git could have written"
done_testing
