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

# state [FOLDER]: all that a repository is: names, modes, owners, sizes, times, contents
state() {
	find "${1:-.git}" -printf '%p %y %m %U %G %n %s %T@\n' | sort
	find "${1:-.git}" -type f -exec sha256sum {} + | sort
}

# attack HOW OPTIONS...: what became of it: "ran" or "kept"
attack() {
	attack_how=$1
	shift
	fresh
	state >"$T/before"
	# shellcheck disable=SC2086
	${GUARD_HOST:-} fence-guard exec --ro "$FENCE_BUILD" --ro "$T/evil" --ro "$HOME" "$@" -- sh -c "$attack_how" - "$T/evil" >/dev/null 2>&1
	echo $? >"$T/attacked"
	state >"$T/after"
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
	ok "and the host's .git is as it was, byte for byte" cmp "$T/before" "$T/after"
	[ $way = parent ] || is "though the command did it, in its copy" "$(cat "$T/attacked")" 0
	is "nor where there is no copy to be had" "$(GUARD_HOST="guard_filter no-overlay" attack "$how")" kept
	is "nor where it is read-only by name" "$(attack "$how" --ro .git)" kept
done
for way in setting hook parent; do
	eval "how=\$by_$way"
	is "not by way of $way where .git may be written either" "$(attack "$how" --rw .git)" kept
done
# Why nobody but its own writes to .git: if these two ever fail to run it, that can be lifted.
is "where it may be written, the index is a way" "$(attack "$by_index" --rw .git)" ran
is "and commondir" "$(attack "$by_commondir" --rw .git)" ran

# --- what works ---------------------------------------------------------------------------
fresh
g() { guard --ro "$HOME" "$@"; }
# where: what was said, with KEPT for the folder that has what was kept aside (git_kept.t)
where() {
	sed 's|in /[^ ]*/kept/[0-9TZ.-]*K|in KEPT|'
}
exits "git can be asked" 0 g -- sh -c 'git status && git log && git diff && git show && git grep one && git blame file'
is "without a word" "$(cat "$T/err")" ""
works='
	echo two >file && git add file && git commit -qm two && git branch b && git checkout -q b && echo three >file
	git stash -q && git stash pop -q && git commit -qam three && git checkout -q main && git merge -q b
	git tag -a -m t t && git gc -q && git worktree add -q ../repo/tree -b c && git -C tree commit -q --allow-empty -m four
	git worktree remove tree && git rebase -q HEAD~1 && git reset -q --hard && git fsck
	test "$(git log --format=%s main | tr "\n" " ")" = "three two one "'
# What takes settings, and folders that go and come back.
more='
	git branch d/e && git branch -m d/e f/g && git pack-refs --all && git branch -D f/g >/dev/null && git branch f
	git remote add r . && git fetch -q r && git remote rename r s 2>/dev/null && git notes add -m note && git config x.y z
	git clone -q . /tmp/clone && cd /tmp/clone && git commit -q --allow-empty -m five && git push -q origin HEAD:refs/heads/g/h
	cd - >/dev/null && git update-ref -d refs/notes/commits && git repack -adq && git prune && git commit-graph write
	rm -r .git/hooks .git/logs && mkdir .git/hooks && git commit -q --allow-empty -m six && git fsck
	test "$(git log --format=%s g/h | head -n 1)" = five'
# Packs of more than a megabyte are held.
for i in 1 2 3; do head -c 500000 /dev/urandom >big$i; done
git add . && git commit -qm one --amend && git gc -q
is "what is in a pack is not copied for being written again" "$(g -- sh -ec '
	cp big1 again && git add again && test "$(df --output=used -k .git | tail -n 1)" -lt 1000 && echo no' 2>/dev/null)" no
rm again
state >"$T/before"
exits "all of git works" 0 g -- sh -ec "$works$more"
lost="fence-guard: what git did in $W/repo/.git was not kept there, but in KEPT; --rw $W/repo/.git keeps it"
is "and it is said that nothing of it was kept" "$(tail -n 1 "$T/err" | where)" "$lost"
state >"$T/after"
ok "the host's .git is as it was" cmp "$T/before" "$T/after"
is "with one commit" "$(git log --all --format=%s)" one
git reset -q --hard
exits "where .git may be written, all of it works" 0 g --rw .git -- sh -ec "$works"
is "and the host has it" "$(git log --format=%s main | tr '\n' ' ')" "three two one "
is "of which nothing is said" "$(tail -n 1 "$T/err" | grep -c fence-guard)" 0
exits "but for its settings" 0 g --rw .git -- sh -c '! git config x.y z'

# --- what is said at the end ----------------------------------------------------------------
fresh
lost="fence-guard: what git did in $W/repo/.git was not kept there, but in KEPT; --rw $W/repo/.git keeps it"
# said COMMAND...: what is said, and what the record has
said() {
	forget "$T" # so that what somebody really keeps is not one too many
	g --status-fd 5 -- "$@" 5>"$T/record" 2>"$T/err" >/dev/null
	echo "$?/$(grep -c . "$T/err")/$(jq -r 'select(.event == "exit") | .discarded | join(" ")' "$T/record")"
}
touch -d @1 file
before=$(stat -c %y%i .git/index)
is "an index that is refreshed is no loss" "$(said git status)" 0/0/
is "nor is what is made and removed again" "$(said sh -c ': >.git/objects/x; rm .git/objects/x')" 0/0/
is "nor what a killed git leaves" "$(said sh -c ': >.git/index.lock; mkdir .git/objects/aa; : >.git/objects/aa/tmp_obj_x')" 0/0/
is "the host's index is as it was" "$(stat -c %y%i .git/index)" "$before"
is "what is added is" "$(said sh -c 'echo staged >file; git add file')" "0/1/$W/repo/.git"
is "in these words" "$(where <"$T/err")" "$lost"
is "the record has the repository" "$(jq -rc 'select(.event == "exec") | .git' "$T/record")" \
	"[{\"path\":\"$W/repo/.git\",\"mode\":\"private\"}]"
git checkout -q file
is "so is a reference that is removed" "$(git branch x && said git branch -D x)" "0/1/$W/repo/.git"
is "a branch may have any name" "$(said git branch tmp_index && said git branch index | sort -u)" \
	"0/1/$W/repo/.git
0/1/$W/repo/.git"
is "and a setting" "$(said git config x.y z)" "0/1/$W/repo/.git"
echo more >>file
is "a stash that is left" "$(said git stash)" "0/1/$W/repo/.git"
is "by name, for what it took" "$(where <"$T/err")" \
	"fence-guard: what git did in $W/repo/.git was not kept there, nor what it stashed away, ${lost##* there, }"
is "which is so" "$(git stash list | wc -l) $(cat file)" "0 one"
echo more >>file
is "not of one that came back" "$(said sh -c 'git stash && git stash pop' && where <"$T/err")" "0/1/$W/repo/.git
$lost"
git stash -q && echo other >>file
is "nor of the host's" "$(said sh -c 'git stash && git stash pop' && where <"$T/err")" "0/1/$W/repo/.git
$lost"
git pack-refs --all
is "also where that is packed" "$(said sh -c 'git stash && git stash pop' && where <"$T/err")" "0/1/$W/repo/.git
$lost"
git checkout -q file
is "a pipe in its place keeps nobody waiting" "$(said sh -c 'rm -f .git/refs/stash; mkfifo .git/refs/stash')" "0/1/$W/repo/.git"
is "nor does a link" "$(said sh -c 'rm -rf .git/refs; ln -s . .git/refs; mkfifo .git/stash')" "0/1/$W/repo/.git"
is "also when the command fails" "$(said sh -c 'git commit -q --allow-empty -m x; exit 3')" "3/1/$W/repo/.git"
is "or is killed" "$(said sh -c 'git commit -q --allow-empty -m x; kill -9 $$')" "137/1/$W/repo/.git"
is "or writes more than anybody looks at" "$(said sh -c 'mkdir .git/objects/aa && cd .git/objects/aa &&
	i=0; while [ $i -lt 5000 ]; do echo tmp_$i; i=$((i+1)); done | xargs touch')" "0/1/$W/repo/.git"
is "nothing is said of a copy that was asked for" \
	"$(g --overlay .git -- git commit -q --allow-empty -m x 2>&1)" ""
is "a closed standard error changes nothing" "$(g -- git commit -q --allow-empty -m x 2>&-; echo $?)" 0
is "nor one that nobody reads" "$({ g -- git commit -q --allow-empty -m x; echo $? >"$T/status"; } 2>&1 | :; cat "$T/status")" 0

# --- two at a time, and what a rule says ------------------------------------------------------
mkfifo ready go
g -- sh -c ': >.git/index.lock && git branch mine && echo x >ready && read x <go && git branch' >"$T/one" 2>&1 &
read -r _ <ready
exits "a second command does not meet the lock of the first" 0 g -- sh -c 'git commit -q --allow-empty -m x && git branch'
unlike "nor its branches" "$(cat "$T/out")" "*mine*"
echo x >go
wait $!
like "which the first one has to its end" "$(cat "$T/one")" "*mine*"
rm ready go
for rule in "--ro .git" "--protect .git" "--profile evaluator"; do
	# shellcheck disable=SC2086
	exits "with $rule there is no copy" 128 g $rule -- git commit -q --allow-empty -m x
	like "with $rule it is read-only" "$(cat "$T/err")" "*index.lock*Read-only file system*"
done
exits "what is denied in it is denied" 1 g --deny .git/logs -- sh -c 'cat .git/logs/HEAD || exit 1'
exits "what is to stay does" 4 g --protect .git/config -- git config x.y z
fails "on the host, too" git config x.y
exits "a part can be the host's" 0 g --rw .git/refs -- git update-ref refs/heads/new HEAD
is "and has it" "$(git rev-parse new)" "$(git rev-parse HEAD)"

# --- a repository elsewhere -----------------------------------------------------------------
# Not below /tmp, where it would be out of sight.
far=$(mktemp -d /var/tmp/fence-test.XXXXXX)
later rm -rf "$far"
later forget "$far"
chmod 755 "$far"
git clone -q "$W/repo" "$far/main"
cd "$far/main" || exit 1
mkdir -p in/deep
git worktree add -q ../tree 2>/dev/null
git init -q --bare ../bare
state >"$T/before"
try='git commit -q --allow-empty -m x && test "$(git rev-list --count HEAD)" = 2'
lost="fence-guard: what git did in $far/main/.git was not kept there, but in KEPT; --rw $far/main/.git keeps it"
exits "from a folder of the work tree git works as well" 0 g --cwd "$far/main/in/deep" -- sh -c "$try"
is "in a copy" "$(where <"$T/err")" "$lost"
exits "from a linked work tree, too" 0 g --cwd "$far/tree" -- sh -c "$try"
is "in a copy of what the links lead to" "$(where <"$T/err")" "$lost"
exits "and from a folder of that" 0 sh -c "mkdir ../tree/in && cd ../tree/in && fence-guard exec --ro $FENCE_BUILD --ro $HOME -- sh -c '$try'"
state >"$T/after"
ok "the host's is as it was" cmp "$T/before" "$T/after"
exits "where it may be written it is the host's" 0 g --cwd "$far/tree" --rw "$far/main/.git" -- sh -c "$try"
is "which has it" "$(git rev-list --count tree)" 2
mv .git ../store && ln -s ../store .git
state ../store >"$T/before"
exits "through a link to it" 0 g -- sh -c "$try"
like "in a copy" "$(cat "$T/err")" "*what git did in $far/store was not kept*"
exits "the link cannot be changed" 1 g -- rm .git
state ../store >"$T/after"
ok "what it leads to is as it was" cmp "$T/before" "$T/after"
rm .git && mkdir -p fake/objects fake/refs && : >fake/HEAD && ln -s / .git
exits "what is no repository is not copied, as the root" 2 g -- sh -c ': >/x'
rm .git && ln -s /etc .git
exits "nor any folder" 2 g -- sh -c ': >/etc/x'
rm .git && echo "gitdir: /tmp" >.git && mkdir -p "$T/objects" "$T/refs" && : >"$T/HEAD"
exits "nor what is hidden" 1 g -- test -e "$T/evil"
echo "gitdir: $T" >.git
exits "though it is one" 1 g -- sh -c "test -e $T/HEAD"
rm -r "$T/objects" "$T/refs" "$T/HEAD" .git
exits "a bare repository that is the root is the host's" 0 g --cwd ../bare -- git fetch -q ../store main:main
is "which has it then" "$(git -C ../bare rev-list --count main)" 1
cd "$W" || exit 1

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
# In a copy all of it works.
outer
state >"$T/before"
module='git commit -q --allow-empty -m y && test "$(git rev-list --count HEAD)" = 2'
exits "git works in a submodule" 0 g -- sh -ec "cd 'a dir/module'; $module; cd ../..; git commit -qam moved; git submodule status"
is "in the copy of what it belongs to" "$(cut -d, -f1 "$T/err")" "fence-guard: what git did in $W/repo/.git was not kept there"
exits "also from the submodule alone" 0 sh -c "cd 'a dir/module' && fence-guard exec --overlay '$W/repo/.git' --ro '$HOME' -- sh -c '$module'"
state >"$T/after"
ok "the host's is as it was" cmp "$T/before" "$T/after"
(cd "a dir/module" && git config --unset core.worktree && rm .git && mv "../../.git/modules/a dir/module" .git)
{ state && state "a dir/module/.git"; } >"$T/before"
exits "one whose .git is a folder has a copy of its own" 0 g -- sh -ec "cd 'a dir/module'; $module"
is "of which is told" "$(cut -d, -f1 "$T/err")" "fence-guard: what git did in $W/repo/a dir/module/.git was not kept there"
{ state && state "a dir/module/.git"; } >"$T/after"
ok "it is as it was" cmp "$T/before" "$T/after"
is "and cannot be swapped" "$(module_attack g)" kept
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
