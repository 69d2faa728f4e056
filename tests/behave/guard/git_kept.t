#!/bin/sh
# What git did in its private copy of a repository is kept aside on the host, where it does
# nothing by itself, and is got back by what the manual says.
. "$(dirname "$0")/guard.sh"

if ! command -v git >/dev/null; then
	lacks "what git did is kept" git
	done_testing
fi
HOME=$T/home
export HOME
mkdir "$HOME"
git config --global user.name n
git config --global user.email n@example.org
git config --global init.defaultBranch main
git config --global protocol.file.allow always
# So that all have the same hashes each time.
GIT_AUTHOR_DATE="2001-02-03T04:05:06Z"
GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
export GIT_AUTHOR_DATE GIT_COMMITTER_DATE
registry=/var/tmp/fenceline-$(id -u)
[ "$ROOT" = yes ] && registry=/var/lib/fenceline

g() { guard --ro "$HOME" "$@"; }
# fresh: a repository with one commit, another branch, and a change that is not committed
fresh() {
	forget "$T" # so that what somebody really keeps is not one too many
	cd "$W" || exit 1
	rm -rf "$W/repo"
	git init -q repo
	cd repo || exit 1
	echo one >file
	git add file
	git commit -qm one
	git branch other
	echo precious >file
}
# kept: the folder that the last line names
kept() {
	sed -n 's/.*, but in \(\/[^ ;,]*\).*/\1/p' "$T/err" | tail -n 1
}
# hash NAME [FILE]: what it names in what was kept
hash() {
	awk -v name="$1" '$2 == name { print $1; exit }' "${2:-$(kept)/names}"
}
back() {
	cp -rn "$(kept)/objects" .git/
}

# --- the changes of a work tree, and back ----------------------------------------------------
fresh
exits "a command stashes what was not committed" 0 g -- git stash
is "control: then the host has it neither in the work tree nor in the repository" "$(cat file)$(git stash list)" one
like "where it is is said" "$(cat "$T/err")" "fence-guard: what git did in $W/repo/.git was not kept there, nor what it stashed away, but in $registry/kept/*K; --rw $W/repo/.git keeps it"
like "the time is in it, and who it was" "$(kept)" "$registry/kept/$(date -u +%Y%m)*T*Z-*-*K"
is "for its owner alone" "$(stat -c '%a %u' "$(kept)" "$(kept)/names" "$registry/kept" | sort -u)" "600 $(id -u)
700 $(id -u)"
is "with what it is of" "$(head -n 1 "$(kept)/names")" "# what git did in $W/repo/.git"
ok "it is got back" sh -c 'cp -rn "$1/objects" .git/ && git stash apply "$2"' - "$(kept)" "$(hash refs/stash)"
is "all of it" "$(cat file)" precious
ok "and the repository is sound" git fsck --strict

fresh
echo new >untracked
exits "a stash that is popped in the next command" 1 sh -c 'fence-guard exec --ro "$HOME" -- git stash -u >/dev/null && exec fence-guard exec --ro "$HOME" -- git stash pop'
ok "is got back" sh -c 'cp -rn "$1/objects" .git/ && git stash apply "$2"' - "$(kept)" "$(hash refs/stash)"
is "with what git did not know" "$(cat file untracked)" "precious
new"

fresh
fence-guard exec --ro "$HOME" -- sh -c 'git stash && echo up >ready && exec sleep 98774' 2>"$T/err" >/dev/null &
one=$!
await file ready
kill -TERM "$one"
wait "$one"
is "one whose command was ended before it popped it" "$?" 143
ok "is got back as well" sh -c 'cp -rn "$1/objects" .git/ && git stash apply "$2"' - "$(kept)" "$(hash refs/stash)"
is "the same" "$(cat file)" precious

fresh
exits "an older one" 0 g -- sh -c 'git stash && echo two >file && git stash'
back
ok "is in the log" git stash apply "$(hash 'refs/stash@{1}')"
is "it is that" "$(cat file)" precious

fresh
exits "one in a pack, with packed references" 0 g -- sh -c 'git stash -q && git gc -q && git pack-refs --all && test ! -e .git/refs/stash'
ls "$(kept)/objects/pack" >"$T/packs"
is "is kept with its index" "$(sed 's/.*\.//' "$T/packs" | sort | xargs)" "idx pack"
back
ok "and got back" git stash apply "$(hash refs/stash)"
is "the same" "$(cat file)" precious

fresh
git add file
echo more >>file
exits "where something was staged" 0 g -- git stash
back
fails "control: git does not overwrite that" git stash apply "$(hash refs/stash)"
ok "it goes back after git reset" sh -c 'git reset -q && git stash apply "$1"' - "$(hash refs/stash)"
is "what there was in the work tree is there" "$(cat file)" "precious
more"

fresh
exits "a rebase stops with what it stashed" 1 g -- sh -c 'git commit -q --allow-empty -m x; echo precious >file; git rebase -q --autostash -x false HEAD~1'
back
ok "which is got back" git stash apply "$(hash rebase-merge/autostash)"
is "as it was" "$(cat file)" precious

# --- commits ------------------------------------------------------------------------------------
fresh
exits "a command commits, and switches to something else" 0 g -- sh -c 'git commit -qam x && git checkout -q other'
is "control: the host's work tree has lost it" "$(cat file) $(git log --all --format=%s)" "one one"
like "where it is is said" "$(cat "$T/err")" "*was not kept there, but in $registry/kept/*"
back
ok "a branch is made of it" git branch saved "$(hash refs/heads/main)"
is "which has it" "$(git show saved:file) $(git log -1 --format=%s saved)" "precious x"
ok "or it is put back into the work tree" git restore --source "$(hash refs/heads/main)" .
is "as a change that is not committed" "$(cat file) $(git status --porcelain)" "precious  M file"

fresh
exits "what only the log names, too" 0 g -- sh -c 'git commit -qam x && git reset -q --hard HEAD~1'
back
is "is in the names" "$(git show "$(hash 'HEAD@{1}'):file")" precious
fresh
exits "and what nothing names" 0 g -- sh -c 'git add file && git reset -q --hard'
back
like "git finds itself" "$(git fsck --lost-found)" "*dangling blob*"

# --- linked work trees, and submodules ----------------------------------------------------------
far=$(mktemp -d /var/tmp/fence-test.XXXXXX)
later rm -rf "$far"
later forget "$far"
chmod 755 "$far"
fresh
git stash -q
git clone -q . "$far/main"
cd "$far/main" || exit 1
git worktree add -q ../tree 2>/dev/null
cd ../tree || exit 1
echo precious >file
exits "in a linked work tree" 0 g -- sh -c 'git commit -qam x && git checkout -q --detach HEAD~1'
is "control: the change is lost" "$(cat file)" one
like "what was done is in what it belongs to" "$(cat "$T/err")" "*what git did in $far/main/.git was not kept there, but in *"
is "by the work tree's name" "$(git cat-file -t "$(hash worktrees/tree/HEAD)") $(grep -c ' worktrees/tree/HEAD@{0} checkout: ' "$(kept)/names")" "commit 1"
cp -rn "$(kept)/objects" "$(git rev-parse --git-common-dir)/"
ok "it is put back" git restore --source "$(hash refs/heads/tree)" .
is "the same" "$(cat file)" precious

fresh
git stash -q
git clone -q . "$W/inner"
git submodule -q add "$W/inner" "a dir/module" >/dev/null 2>&1
git commit -qm module
rm -rf "$W/inner"
echo precious >"a dir/module/file"
exits "in a submodule" 0 g -- sh -c 'cd "a dir/module" && git stash'
is "control: the change is lost" "$(cat "a dir/module/file")" one
module=$(kept)/modules/a\ dir/module
cp -rn "$module/objects" ".git/modules/a dir/module/"
ok "it is put back" git -C "a dir/module" stash apply "$(hash refs/stash "$module/names")"
is "the same" "$(cat "a dir/module/file")" precious

# --- what is said ---------------------------------------------------------------------------
fresh
g --status-fd 5 -- git stash 5>"$T/record" 2>"$T/err" >/dev/null
is "the record has the folder" "$(jq -rc 'select(.event == "exit") | .kept' "$T/record")" \
	"[{\"path\":\"$W/repo/.git\",\"folder\":\"$(kept)\",\"why\":null}]"
is "by its schema" "$(jq -r --slurpfile schema "$SRC/schemas/fence-guard-status-v1.json" \
	-f "$SRC/tests/lib/schema.jq" "$T/record" 2>&1)" ""
fresh
for nothing in "config a.b c" "branch -D other"; do
	# shellcheck disable=SC2086
	exits "of git $nothing there is nothing to keep" 0 g -- git $nothing
	is "which is said" "$(cat "$T/err")" \
		"fence-guard: what git did in $W/repo/.git was not kept: the command had a private copy; --rw $W/repo/.git keeps it"
done
exits "the command's status is its own" 3 g -- sh -c 'git stash; exit 3'
git init -q second
git -C second commit -q --allow-empty -m x
git submodule -q add ./second >/dev/null 2>&1
git commit -qm second
exits "of two repositories" 0 g -- sh -c 'git commit -q --allow-empty -m y && git -C second commit -q --allow-empty -m z'
is "each is said" "$(grep -c 'but in' "$T/err")" 2
is "with its own folder" "$(sed -n 's/.*, but in \([^;]*\);.*/\1/p' "$T/err" | while read -r dir; do head -n 1 "$dir/names"; done)" \
	"# what git did in $W/repo/.git
# what git did in $W/repo/second/.git"

mkfifo one two
for side in one two; do
	g -- sh -c "read x <$side; git commit -q --allow-empty -m $side" 2>"$T/$side" >/dev/null &
done
echo x >one
echo x >two
wait
is "two commands at once have a folder each" "$(cat "$T/one" "$T/two" | sed -n 's/.*, but in \([^;]*\);.*/\1/p' | sort -u | grep -c .)" 2
rm one two

# --- it does nothing by itself --------------------------------------------------------------
cat >"$T/evil" <<EOF
#!/bin/sh
: >"$T/ran"
EOF
chmod 755 "$T/evil"
# plant EVIL: in .git, in each place where git may look for settings
cat >"$T/plant" <<'EOF'
plant() {
	mkdir -p "$1/objects/info" "$1/refs/heads" "$1/hooks" "$1/info"
	[ -s "$1/HEAD" ] || echo 'ref: refs/heads/main' >"$1/HEAD"
	printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = %s\n\thooksPath = hooks\n' "$evil" >"$1/config"
	cp "$evil" "$1/hooks/post-index-change"
	cp "$evil" "$1/hooks/post-checkout"
	echo "* filter=x" >"$1/info/attributes"
	echo "$PWD/.git/objects" >"$1/objects/info/alternates"
}
evil=$1
git stash -q
for dir in .git .git/refs/x .git/logs/x .git/objects/x .git/objects/aa .git/objects/pack/x .git/modules/x .git/modules/y/z .git/worktrees/x; do
	plant "$dir"
done
echo ../evil >.git/refs/heads/commondir
mkdir -p .git/modules/names/objects/aa .git/refs/y
echo "gitdir: ../x" >.git/refs/y/.git
mkdir -p .git/modules/z
echo ../x >.git/modules/z/commondir
for name in HEAD config commondir; do
	mkdir -p .git/modules/w/$name/objects/aa
	cp "$evil" .git/modules/w/$name/objects/aa/$name
	cp "$evil" .git/modules/w/$name/objects/aa/00000000000000000000000000000000000000
done
EOF
# go_there FOLDER: calls git in it, and in each folder in it: whether anything was run
go_there() {
	rm -f "$T/ran"
	find "$1" -type d >"$T/folders"
	while read -r dir; do
		(cd "$dir" && git status && git log -1 && git add -A && git checkout main && git diff) </dev/null >/dev/null 2>&1
	done <"$T/folders"
	if [ -e "$T/ran" ]; then echo ran; else echo "nothing in $(grep -c . "$T/folders") folders"; fi
}
fresh
cp -r "$W/repo" "$T/control"
(cd "$T/control" && sh "$T/plant" "$T/evil") >/dev/null 2>&1
is "control: outside git runs what is planted" "$(go_there "$T/control/.git")" ran
is "in more than one place" "$(go_there "$T/control/.git/refs/x") $(go_there "$T/control/.git/modules/y/z")" "ran ran"
exits "the same is planted inside" 0 g --ro "$T/evil" --ro "$T/plant" -- sh "$T/plant" "$T/evil"
like "and in what is kept git runs nothing" "$(go_there "$(kept)")" "nothing in [1-9]* folders"
is "in which there is nothing but objects and names" "$(find "$(kept)" ! -type d | sed "s|^$(kept)/||" |
	grep -vxE '(modules/([^/]+/)+)?(names|objects/[0-9a-f]{2}/[0-9a-f]{38}|objects/pack/pack-[0-9a-f]{40}\.(pack|idx))')" ""
is "that are files" "$(find "$(kept)" ! -type d ! -type f)" ""
is "which nobody executes" "$(find "$(kept)" -type f ! -perm 600)" ""
back
ok "and with what is wanted" git stash apply "$(hash refs/stash)"
is "untouched" "$(cat file)" precious

# --- odd things in it --------------------------------------------------------------------------
fresh
exits "what git would not write keeps nobody waiting" 0 g -- sh -c 'git stash -q && cd .git/objects && mkdir -p aa bb cc &&
	name=0123456789012345678901234567890123456 &&
	ln -s /etc/passwd aa/${name}0 && ln file aa/${name}1 2>/dev/null; mkfifo aa/${name}2 && mkdir aa/${name}3 && : >aa/${name}4 &&
	ln -s /etc dd && mkfifo ee && echo x >"aa/${name}
5" && echo x >aa/${name}6x && mkfifo pack/pack-${name}777.idx && echo x >pack/pack-${name}888.idx &&
	echo closed >bb/${name}9 && chmod 000 bb/${name}9 && cd ../refs && mkfifo pipe && ln -s /etc/passwd link &&
	echo "$(cat stash)" >"a
b" && printf "%s\033[31m" "$(cat stash)" >escape && cat stash >"$(printf "\302\233m")" && mkdir x && chmod 000 x && mkfifo ../MERGE_HEAD && ln -s /etc/passwd ../packed-refs'
is "nothing of it is taken" "$(cd "$(kept)/objects" && ls -d aa dd ee pack/* 2>/dev/null)" ""
if [ "$ROOT" = yes ]; then
	is "but what has an object's name" "$(cat "$(kept)"/objects/bb/*)" closed
else
	like "nor what has no right to be read, of which is told" "$(cat "$T/err")" "*, and not all of it: some of it cannot be read; --rw *"
fi
is "there is no link" "$(find "$(kept)" -type l)" ""
is "names are such that a terminal can show them" "$(LC_ALL=C grep -c '[^ -~]' "$(kept)/names")" 0
back
ok "what was wanted is there" git stash apply "$(hash refs/stash)"
is "all of it" "$(cat file)" precious

fresh
exits "a file that says that it is huge" 0 g -- sh -c 'git stash -q && mkdir -p .git/objects/00 && truncate -s 1T .git/objects/00/01234567890123456789012345678901234567'
like "is left out, which is said" "$(cat "$T/err")" "*, but in $registry/kept/*K, and not all of it: it is too large; --rw *"
back
ok "the rest is there" git stash apply "$(hash refs/stash)"
is "the file" "$(cat file)" precious
fresh
g --status-fd 5 -- sh -c 'git stash -q && p=.git/refs && i=0 && while [ $i -lt 30 ]; do p=$p/d; i=$((i+1)); done && mkdir -p $p && git rev-parse HEAD >$p/x' \
	5>"$T/record" 2>"$T/err" >/dev/null
is "so is what lies too deep" "$(jq -r 'select(.event == "exit") | .kept[].why' "$T/record")" "its folders are too deep"
is "of which the schema knows" "$(jq -r --slurpfile schema "$SRC/schemas/fence-guard-status-v1.json" \
	-f "$SRC/tests/lib/schema.jq" "$T/record" 2>&1)" ""

# What is called by a hash need not have it.
fresh
exits "an object that is another" 0 g -- sh -c 'git stash -q && o=$(git rev-parse stash:file | sed "s|..|&/|") && cd .git/objects && chmod 600 $o &&
	cp $(git rev-parse HEAD:file | sed "s|..|&/|") $o'
fails "is found before it is taken" env GIT_ALTERNATE_OBJECT_DIRECTORIES="$(kept)/objects" git fsck
fresh
exits "control: where all are what they say" 0 g -- git stash
ok "nothing is found" env GIT_ALTERNATE_OBJECT_DIRECTORIES="$(kept)/objects" git fsck

# --- for how long, and for whom -----------------------------------------------------------------
fresh
exits "something is kept" 0 g -- git commit -q --allow-empty -m x
dir=$(kept)
ok "control: its owner can read what is kept" test -s "$dir/names"
exits "a later command cannot" 2 g -- ls "$dir"
exits "nor one that may write beside it" 2 g --rw "${registry%/*}" -- ls "$dir"
exits "nor look for others" 2 g -- ls "$registry/kept"
like "which explain says" "$(fence-guard explain --path "$dir/names")" "*masked*"

# Others keep theirs meanwhile, and tidy: what follows has a registry of its own.
unshare=unshare
[ "$ROOT" = yes ] || unshare="unshare --map-root-user"
alone=no
$unshare --mount true 2>/dev/null && alone=yes
# alone COMMANDS: with $kept, and g COMMAND...
alone() {
	$unshare --mount sh -c 'mount -t tmpfs -o mode=755 none /var/lib || exit 99
		kept=/var/lib/fenceline/kept
		g() { fence-guard exec --ro "$FENCE_BUILD" --ro "$HOME" -- "$@"; }
		'"$1"
}
if [ $alone = yes ]; then
	fresh
	is "what is older than 30 days goes with the next keeping, and what a killed one left, if nobody writes it" "$(alone '
		old=$kept/20200101T000000Z-1-4K torn=$kept/.20200101T000000Z-1.0-0K held=$kept/.20200101T000000Z-2.0-0K
		mkdir -p $old/objects/aa $torn/objects $held && : >$old/objects/aa/x && exec 8<$held && flock 8 || exit
		g git status >/dev/null && ls -A $kept | wc -l
		g git commit -q --allow-empty -m x && ls -A $kept | sed "s/^2.*T.*Z-.*K/new/"' 2>"$T/err")" "3
.20200101T000000Z-2.0-0K
new"
	if command -v strace >/dev/null; then
		fresh
		is "a fence-guard that is killed meanwhile leaves what is not taken for whole, until then" "$(alone '
			strace -o /dev/null -e trace=renameat2 -e inject=renameat2:signal=KILL:when=1 \
				fence-guard exec --ro "$HOME" -- git stash >/dev/null; echo $?
			head -n 1 $kept/.2*T*Z-*-0K/names && ls -A $kept | wc -l
			g git commit -q --allow-empty -m x && ls -A $kept | sed "s/^2.*T.*Z-.*K/new/"' 2>"$T/err")" "137
# what git did in $W/repo/.git
1
new"
	else
		lacks "a keeping that is killed leaves what shows that it is not whole" strace
	fi
	fresh
	is "no folder is there when nothing was kept" "$(alone 'g git config a.b c; g git status; ls /var/lib/fenceline' 2>&1 >/dev/null | tail -n 1)" \
		"ls: cannot access '/var/lib/fenceline': No such file or directory"
	is "nor when all of it was removed" "$(alone 'g git commit -q --allow-empty -m x; rm -r $kept/2*; g true; ls /var/lib/fenceline' 2>&1 | tail -n 1)" \
		"ls: cannot access '/var/lib/fenceline': No such file or directory"
else
	lacks "what is kept is tidied" "a mount namespace"
fi

# --- where nothing can be kept ------------------------------------------------------------------
fresh
command='git stash; exit 4'
closed() { # MOUNT-OPTIONS HOW: with a registry of its own
	$unshare --mount sh -c "mount -t tmpfs -o $1 none /var/lib && $2"' &&
		exec fence-guard exec --ro "$FENCE_BUILD" --ro "$HOME" -- sh -c "$1"' - "$command"
}
if [ $alone = yes ]; then
	exits "control: where the registry can be made" 4 closed mode=755 true
	like "it is kept" "$(cat "$T/err")" "*but in /var/lib/fenceline/kept/*"
	fresh
	exits "where it cannot, the status is the command's" 4 closed ro true
	is "and it is said that it is lost" "$(cat "$T/err")" \
		"fence-guard: what git did in $W/repo/.git, and what it stashed away, is lost: it could not be kept aside: Read-only file system; --rw $W/repo/.git keeps it"
	fresh
	exits "where others may write it" 4 closed mode=755 "mkdir /var/lib/fenceline && chmod 777 /var/lib/fenceline"
	like "neither" "$(cat "$T/err")" "*is lost: it could not be kept aside: it is somebody else's, or others may write it; --rw *"
	fresh
	exits "where there is a link in its place" 4 closed mode=755 "mkdir -m 700 /var/lib/fenceline && ln -s /var/tmp /var/lib/fenceline/kept"
	like "nor is it followed" "$(cat "$T/err")" "*is lost: it could not be kept aside: *; --rw *"
	fresh
	exits "on a disk that is full" 4 closed mode=755,size=8k true
	like "it is not kept by half" "$(cat "$T/err")" "*is lost: it could not be kept aside: No space left on device; --rw *"
	fresh
	command='git stash; for i in 1 2 3 4 5 6 7 8 9; do echo "$(git rev-parse stash)" >.git/refs/heads/b$i; done; exit 4'
	exits "a limit on the size of files" 4 closed mode=755 "ulimit -f 1"
	like "is one, too" "$(cat "$T/err")" "*is lost: it could not be kept aside: File too large; --rw *"
else
	lacks "what cannot be kept is said to be lost" "a mount namespace"
fi
done_testing
