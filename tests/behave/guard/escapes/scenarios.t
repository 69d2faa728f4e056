#!/bin/sh
# Attempts that take more than one process. A line `# attempt: NAME LAYER ANSWER` is what
# fence-escapes(7) says of it; an answer that is a number is fence-guard's exit status.
. "$(dirname "$0")/escapes.sh"

if [ "$(uname -m)" != x86_64 ]; then
	lacks "the numbers below are x86_64's" x86_64
	done_testing
fi

# attempt: nested-guard seccomp 125
exits "control: fence-guard within profile none widens what it may" 0 \
	in_none fence-guard exec --rw "$HOST" --ro "$FENCE_BUILD" -- sh -c ': >"$1/new"' - "$HOST"
ok "the host has it" rm "$HOST/new"
exits "within profile gate it does not start" 125 guard -- fence-guard exec --rw "$HOST" -- sh -c ': >"$1/new"' - "$HOST"
fails "nor has the host anything of it" test -e "$HOST/new"

# attempt: kill-all namespaces nothing
mkfifo "$T/hold"
cat "$T/hold" &
bystander=$!
exec 8>"$T/hold"
exits "kill -9 -1 ends what is inside" 0 guard -- sh -c 'sleep 98711 & kill -9 -1; wait; exit 0'
ok "and nothing outside" kill -0 "$bystander"

# attempt: kill-launcher namespaces ESRCH
mkfifo "$T/pid"
fence-guard exec -- sh -c 'read -r pid; kill -9 "$pid" 2>"$1"; kill -9 1 2>/dev/null; exit 7' - "$W/said" <"$T/pid" &
launcher=$!
echo "$launcher" >"$T/pid"
wait "$launcher"
is "a command cannot end its launcher" "$?" 7
like "it sees no such process" "$(cat said)" "*No such process*"

# attempt: daemon namespaces nothing
guard -- sh -c 'setsid sh -c "sleep 98712 & sleep 98712" >/dev/null 2>&1 & exit 0'
ok "a daemon does not outlive the command" await -t 2 none 98712

# attempt: swarm namespaces nothing
guard -- sh -c 'i=0; while [ $i -lt 300 ]; do setsid sleep 98713 >/dev/null 2>&1 & i=$((i+1)); done; echo $i' >"$T/swarm"
is "nor do three hundred" "$(cat "$T/swarm")" 300
ok "none of them" await -t 5 none 98713

# attempt: orphan-of-launcher namespaces nothing
fence-guard exec -- sh -c 'setsid sleep 98714 & echo up >ready; exec sleep 98714' &
launcher=$!
await file ready
kill -9 "$launcher"
wait "$launcher" 2>/dev/null
ok "nor its killed launcher" await -t 2 none 98714

# attempt: dump-core-outside mounts nothing
crash() {
	"$@" sh -c 'cd "$1" && ulimit -c unlimited && sh -c "kill -SEGV \$\$"' - "$HOST" >/dev/null 2>&1
	find "$HOST" -name 'core*' -exec sh -c 'echo dumped; rm "$1"' - {} \;
}
case $(ulimit -Hc)$(cat /proc/sys/kernel/core_pattern) in
unlimited[!/\|]*)
	is "control: outside a crash leaves its core in the folder" "$(crash env)" dumped
	is "inside it leaves none" "$(crash fence-guard exec --ro "$HOST" --)" ""
	;;
*) echo "# on this machine no core comes into the folder outside: core_pattern, ulimit -Hc" ;;
esac

# attempt: setgid-chage privileges nothing
if [ -g /usr/bin/chage ] && [ "$ROOT" = no ]; then
	exits "control: outside chage, which is setgid, reads what is root's" 0 chage -l "$(id -un)"
	fails "inside it cannot" guard -- chage -l "$(id -un)"
fi

# attempt: link-for-the-next launcher 125
ln -s "$HOST" planted
exits "a link that one command planted is not followed for the next" 125 fence-guard exec --rw planted -- true
exits "nor as its working directory" 125 fence-guard exec --rw "$W" --cwd planted -- true
rm planted

# attempt: second-name launcher 125
echo secret >key
ln key name
exits "a masked file with a second name is refused" 125 guard --deny key -- cat name
rm name

# attempt: folder-as-input launcher 125
exits "a folder as standard input is refused" 125 guard -- sh -c 'cat /proc/self/fd/0/../key' <"$HOST"

# attempt: moved-and-copied mounts EBUSY
mkdir -p repo/.git/hooks
guard -- sh -c 'mv repo/.git repo/g; cp -r repo/g repo/.git; echo x >repo/.git/hooks/pre-commit' 2>/dev/null
ok "control: a repository that is not the working directory's is not known" test -e repo/.git/hooks/pre-commit
rm repo/.git/hooks/pre-commit
guard --protect repo/.git/hooks -- sh -c 'mv repo/.git repo/g2; mkdir -p repo/.git/hooks; echo x >repo/.git/hooks/pre-commit' 2>"$T/err"
like "mv then says why" "$(cat "$T/err")" "*busy*"
fails "and the host has no hook" test -e repo/.git/hooks/pre-commit
rm -rf repo

# attempt: git-index mounts nothing
# attempt: git-commondir mounts nothing
# attempt: git-setting mounts nothing
# attempt: git-pointer mounts ENOENT
# attempt: git-below-a-mount mounts ENOENT
# attempt: git-pack-link mounts ENOENT
# attempt: git-kept-setting launcher nothing
# attempt: git-kept-link launcher nothing
# attempt: git-kept-flood launcher nothing
# attempt: git-kept-read mounts EACCES
if command -v git >/dev/null; then
	export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
	printf '#!/bin/sh\n: >"%s"\n' "$T/ran" >evil
	chmod 755 evil
	# next WRAPPER...: what git runs outside after a command that did HOW in a new repository
	next() {
		rm -rf r "$T/ran" && git init -q r && (
			cd r && git commit -q --allow-empty -m x && cp ../evil . && "$@" sh -c "$how" - "$W/r/evil" >/dev/null 2>&1
			rm -f "$T/ran" && git status >/dev/null 2>&1
		)
		if [ -e "$T/ran" ]; then echo ran; else echo kept; fi
	}
	inside() {
		fence-guard exec --env GIT_CONFIG_GLOBAL --env GIT_AUTHOR_NAME --env GIT_AUTHOR_EMAIL --env GIT_COMMITTER_NAME \
			--env GIT_COMMITTER_EMAIL -- "$@"
	}
	for way in index commondir setting; do
		case $way in
		index) how='git init -q in && git -C in commit -q --allow-empty -m x && git -C in config core.fsmonitor "$1" && git add in' ;;
		commondir) how='mkdir -p c/objects c/refs && git config -f c/config core.repositoryformatversion 0 &&
			git config -f c/config core.fsmonitor "$1" && echo ../c >.git/commondir' ;;
		setting) how='git config core.fsmonitor "$1"' ;;
		esac
		is "control: by way of git's $way a program is run" "$(next env)" ran
		is "inside that is done in a copy" "$(next inside)" kept
	done
	rm -rf r && mkdir r && git init -q --bare "$HIDDEN/bare" && echo "gitdir: $HIDDEN/bare" >r/.git
	exits "control: a pointer leads out" 0 sh -c 'cd r && git rev-parse --git-dir'
	exits "what is hidden is not copied to where it can be seen" 1 guard --cwd r -- test -e "$HIDDEN/bare/HEAD"
	rm -rf r "$HIDDEN/bare" && git init -q r && echo secret >r/.git/objects/below
	cat >covered <<-'END'
		#!/bin/sh
		mount -t tmpfs t .git/objects && ! test -e .git/objects/below && "$@"
	END
	chmod 755 covered
	for who in "" "unshare -U --map-user=1000 --map-group=1000"; do
		# shellcheck disable=SC2086
		exits "a copy does not show what lies below a mount (${who:-root})" 1 \
			sh -c "cd r && unshare -Urm ../covered $who fence-guard exec --ro $FENCE_BUILD -- test -e .git/objects/below"
	done
	head -c 2000000 /dev/zero >"$HIDDEN/pack" && chmod 644 "$HIDDEN/pack"
	ln -s "$HIDDEN/pack" r/.git/objects/pack/a.pack
	ok "control: a link leads out" test -s r/.git/objects/pack/a.pack
	exits "a pack that is a link shows nothing that is hidden" 1 guard --cwd r -- test -e "$HIDDEN/pack"
	rm -r r/.git/objects/pack && mkdir "$HIDDEN/dir" && mv "$HIDDEN/pack" "$HIDDEN/dir/a.pack"
	ln -s "$HIDDEN/dir" r/.git/objects/pack
	exits "nor one in a folder that is" 1 guard --cwd r -- test -e "$HIDDEN/dir/a.pack"
	rm -rf r covered "$HIDDEN/dir"

	# keeps HOW: the folder that has what a command did in a new repository
	keeps() {
		rm -rf r && git init -q r && cp evil r && (cd r && git commit -q --allow-empty -m x &&
			inside sh -c "$1" - "$W/r/evil" "$HIDDEN" 2>&1 >/dev/null | sed -n 's/.*, but in \([^ ;,]*\).*/\1/p')
	}
	# calls FOLDER...: what git runs in one of them
	calls() {
		rm -f "$T/ran"
		for dir; do
			(cd "$dir" && git status --ignore-submodules && git checkout main) >/dev/null 2>&1
		done
		if [ -e "$T/ran" ]; then echo ran; else echo kept; fi
	}
	how='git commit -q --allow-empty -m y; for dir in .git .git/refs/x .git/logs/x .git/objects/aa .git/modules/x .git/worktrees/x; do
		mkdir -p $dir/objects $dir/refs/heads $dir/hooks && git rev-parse HEAD >$dir/refs/heads/main && echo "ref: refs/heads/main" >$dir/HEAD &&
		printf "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = %s\n" "$1" >$dir/config &&
		cp "$1" $dir/hooks/post-checkout && echo ../evil >$dir/refs/heads/commondir; done'
	rm -rf r && git init -q r && (cd r && git commit -q --allow-empty -m x && sh -c "$how" - "$W/evil") >/dev/null 2>&1
	is "control: git runs what it finds in a repository that lies there" "$(calls r/.git)" ran
	is "also in one below it" "$(calls r/.git/refs/x)" ran
	dir=$(keeps "$how")
	ok "control: what git did is kept" test -s "$dir/names"
	# shellcheck disable=SC2046 # no name in it has a blank
	is "there it runs nothing, nor in any folder in it" "$(calls $(find "$dir" -type d))" kept

	rest=0123456789012345678901234567890123456 # and a digit, after the first two
	echo secret >"$HIDDEN/${rest}9"
	git init -q "$HIDDEN/repo" && git -C "$HIDDEN/repo" commit -q --allow-empty -m secret
	how='git commit -q --allow-empty -m y; cd .git; mkdir -p objects/aa objects/bb modules && ln -s $2 objects/cc &&
		ln -s $2/'"$rest"'9 objects/aa/'"$rest"'9 && ln $2/'"$rest"'9 objects/bb/'"$rest"'8; ln -s $2/repo/.git modules/m
		ln -s $2/repo/.git/refs refs/secret; ln -s $2/repo/.git/logs logs/secret; ln -s $2/repo/.git/HEAD ORIG_HEAD
		ln -s $2/repo/.git/refs/heads/master refs/heads/m; mkfifo refs/heads/pipe objects/bb/'"$rest"'7; mknod objects/bb/'"$rest"'6 c 1 5'
	rm -rf r && git init -q r && (cd r && git commit -q --allow-empty -m x && sh -c "$how" - evil "$HIDDEN") >/dev/null 2>&1
	is "control: a link leads to what is hidden" "$(cat "r/.git/objects/aa/${rest}9")" secret
	dir=$(keeps "$how")
	ok "control: what git did is kept" test -s "$dir/names"
	is "nothing that a link leads to" "$(find "$dir" ! -type d ! -type f; grep -rlE "secret|$(git -C "$HIDDEN/repo" rev-parse HEAD)" "$dir")" ""

	how='git commit -q --allow-empty -m y; cd .git/objects; mkdir -p aa bb; truncate -s 1T aa/'"$rest"'9
		truncate -s 1T pack/pack-'"$rest"'999.idx pack/pack-'"$rest"'999.pack
		i=10000; while [ $i -lt 30000 ]; do echo bb/'"${rest%00000}"'$i; i=$((i+1)); done | xargs touch'
	dir=$(keeps "$how")
	ok "what looks huge, or is many, is left out: what git did is kept" grep -q refs/heads "$dir/names"
	ok "and no more than it takes" test "$(du -sk "$dir" | cut -f1)" -lt 1024

	dir=$(keeps 'git commit -q --allow-empty -m secret')
	is "control: its owner can read what is kept" "$(guard_try open "$dir/names")" ok
	is "a later command cannot" "$(guard -- guard_try open "$dir/names")" EACCES
	is "nor can it write there" "$(guard --rw "${dir%/*/*/*}" -- guard_try write "$dir/names")" EACCES
	rm -rf r evil "$HIDDEN/repo" "$HIDDEN/${rest}9"
else
	lacks "git is not misled" git
fi

# attempt: terminal-of-others mounts ENOENT
# attempt: type-ahead seccomp EPERM
if command -v script >/dev/null; then
	on_terminal() {
		script -qec "$1" /dev/null </dev/null | tr -d '\r'
	}
	G="fence-guard exec --ro $FENCE_BUILD"
	is "control: a terminal of the host's has a name" "$(on_terminal 'guard_try write $(tty)')" ok
	is "which leads nowhere inside" "$(on_terminal "$G -- guard_try write \$(tty)")" ENOENT
	for number in 0x5412 0x100005412 0xffffffff00005412 0x541c 0x10000541c; do
		is "ioctl $number types nothing" "$(on_terminal "$G -- guard_try call 16 0 $number 0")" EPERM
	done
	is "but the size of the terminal can be asked for" "$(on_terminal "$G -- stty size" | wc -w | tr -d ' ')" 2
else
	lacks "a terminal of the host's" "script(1) of bsdutils"
fi

# attempt: abstract-socket-of-host-network landlock EPERM
guard_try listen "@fence-escape-$$" <"$T/hold" >"$T/abstract" 8>&- &
await file "$T/abstract"
landlock=$(guard --net host --status-fd 5 -- true 5>&1 | sed -n 's/.*"landlock":"\([a-z]*\)".*/\1/p')
is "control: outside an abstract socket answers" "$(guard_try unix "@fence-escape-$$")" ok
if [ "$landlock" = enforced ]; then
	is "with the host's network it is still out of reach" "$(guard --net host -- guard_try unix "@fence-escape-$$")" EPERM
else
	lacks "with the host's network it is still out of reach" "Landlock ABI 6 (Linux 6.12)"
fi

# attempt: own-listener seccomp EPERM
: >go
is "control: outside who listens to a filter lets calls go on" "$(guard_listener ready go)" ok
is "inside that does not open what is refused" "$(guard -- guard_listener ready go)" EPERM

# attempt: listener-beside-explain seccomp EBUSY
# A filter that asks is only as good as who answers: the explaining process is killed while
# its launcher cannot see it.
is "nor with --explain" "$(guard --explain -- guard_listener ready go 2>/dev/null)" EBUSY
rm -f ready go
fence-guard exec --explain --ro "$FENCE_BUILD" -- guard_listener ready go 2>/dev/null >"$T/listened" &
launcher=$!
ok "it waits" await -t 5 file ready
for child in $(cat "/proc/$launcher/task/$launcher/children"); do
	if [ "$(sed -n 's/^NSpid:[[:space:]]*//p' "/proc/$child/status")" = "$child" ]; then
		kill -STOP "$launcher"
		kill -9 "$child"
	fi
done
: >go
ok "it tries" await -t 5 file "$T/listened"
kill -CONT "$launcher"
wait "$launcher"
is "nor when the explaining process is gone" "$(cat "$T/listened")" EBUSY

# What fence-escapes(7) says is open; whoever closes one of these changes the page.
echo x >"$HOST/file"
guard_try listen "$HOST/socket" <"$T/hold" >"$T/named" 8>&- &
await file "$T/named"
is "open: a socket whose file is visible" "$(guard -- guard_try unix "$HOST/socket")" ok
is "unless it is masked" "$(guard --deny "$HOST/socket" -- guard_try unix "$HOST/socket")" EACCES
exits "open: a lock on what may only be read" 0 guard -- flock --nonblock "$HOST/file" true
cp "$(command -v id)" own
chmod 4755 own
is "open: the contents of a set-id program that is there" \
	"$(guard -- guard_try map own) $(stat -c %a own) $(head -c 1 own)" "ok 4755 x"

exec 8>&-
wait
# In a root of its own. Its programs are the host's.
mkdir "$T/tree" "$T/home" "$T/home/.ssh"
echo secret >"$HOST/secret"
echo key >"$T/home/.ssh/id"
binds="--ro-bind $FENCE_BUILD:/build --bind $W:/work"
for f in usr bin sbin lib lib32 lib64 libx32; do
	if [ -L "/$f" ]; then
		ln -s "usr/$f" "$T/tree/$f"
	elif [ -d "/$f" ]; then
		binds="$binds --ro-bind /$f:/$f"
	fi
done
rooted() {
	# shellcheck disable=SC2086 # words
	PATH=$PATH:/build/test fence-guard exec --root "$T/tree" $binds "$@"
}
is "control: without one what is outside can be read" "$(guard -- guard_try open "$HOST/secret")" ok
is "control: what is brought in can be read" "$(rooted --ro-bind "$HOST:/host" -- guard_try open /host/secret)" ok

# attempt: root-dotdot mounts ENOENT
is "the old root is not above the new one" "$(rooted -- guard_try open "/../../../../$HOST/secret")" ENOENT
is "nor above what is brought in" "$(rooted --cwd /work -- guard_try open ../host/secret)" ENOENT

# attempt: root-rule-dotdot launcher 125
ln -s "..$HOST" "$T/tree/up"
exits "nor do dots lead a rule to it while the host's lies on the root" 125 rooted --rw "/work/..$HOST" -- true
exits "nor those of a link of the tree" 125 rooted --cwd /up -- true
rm "$T/tree/up"

# attempt: root-link mounts ENOENT
ln -s "$HOST/secret" link
is "a link out of it leads nowhere" "$(rooted -- guard_try open /work/link)" ENOENT
rm link

# attempt: root-proc-self-root mounts ENOENT
is "nor does the root of a process" "$(rooted -- guard_try open "/proc/self/root/../$HOST/secret")" ENOENT

# attempt: root-of-init namespaces EACCES
is "and that of process 1 cannot be looked at" "$(rooted -- guard_try open "/proc/1/root/$HOST/secret")" EACCES

# attempt: root-uncover seccomp EPERM
is "what its /dev lies on is not uncovered" "$(rooted -- guard_try umount /dev)" EPERM

# attempt: root-chroot seccomp EPERM
is "chroot, by which one gets above a root, is refused" "$(rooted -- sh -c 'chroot /work / 2>&1 | grep -c "not permitted"')" 1

# attempt: root-renamed-secrets mounts EACCES
is "the caller's secrets have come in by another name" \
	"$(HOME=$T/home rooted --ro-bind "$T/home:/h" -- guard_try open /h/.ssh/id)" EACCES

# attempt: root-link-for-the-next launcher 125
ln -s "$HOST" planted
exits "a link that one command planted is not followed when the next one's folders are brought in" 125 \
	rooted --bind "$W/planted:/h" -- true
rm planted
rm "$HOST/secret"
done_testing
