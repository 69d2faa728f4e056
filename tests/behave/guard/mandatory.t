#!/bin/sh
# What is protected and masked without being named.
. "$(dirname "$0")/guard.sh"

mkdir -p .git/hooks .claude .gemini .cursor .codex
for f in .git/config .git/hooks/pre-commit .git/index .claude/settings.json .claude/settings.local.json \
	.gemini/settings.json .cursor/hooks.json .codex/config.toml opencode.json; do
	echo old >"$f"
done

says "control: what is not git's can be written" ok -- sh -c ': >plain; guard_try write plain'
says ".git takes no changes" EROFS -- guard_try write .git/index
says "control: unless it is named" ok --rw .git -- guard_try write .git/index
exits "nor anything new that would lead git elsewhere" 2 guard -- sh -c 'echo ../evil >.git/commondir'
for f in .git/config .git/hooks/pre-commit .claude/settings.json .claude/settings.local.json \
	.gemini/settings.json .cursor/hooks.json .codex/config.toml opencode.json; do
	says "$f cannot be written" EROFS -- guard_try write "$f"
done
for f in .git/config .git/hooks/pre-commit; do
	says "$f cannot, also where .git is named" EROFS --rw .git -- guard_try write "$f"
done
says ".git cannot be renamed" EBUSY -- guard_try rename .git g
says "nor where it is named" EBUSY --rw .git -- guard_try rename .git g
exits "the hooks cannot be replaced" 0 guard -- \
	sh -c 'mv .git g 2>/dev/null; mkdir -p .git/hooks; echo x >.git/hooks/pre-commit; true'
is "the host has its hook" "$(cat .git/hooks/pre-commit)" old
says "naming one with --rw opens it" ok --rw .git/hooks -- guard_try write .git/hooks/pre-commit
exits "no repository, no complaint" 0 guard --cwd .cursor -- true
says "the repository's own folder as the root: its hooks stay" EROFS --cwd .git -- \
	guard_try write hooks/pre-commit

mkdir -p bare/hooks bare/objects bare/refs
for f in bare/HEAD bare/config bare/hooks/update; do
	echo old >"$f"
done
says "a bare repository's hooks stay" EROFS --cwd bare -- guard_try write hooks/update
says "and its configuration" EROFS --cwd bare -- guard_try write config
says "the rest of it can be written" ok --cwd bare -- guard_try write HEAD

# Hooks and settings of a repository that has its folder elsewhere, by a link.
mkdir -p linked/store/hooks
echo old >linked/store/config
ln -s store linked/.git
says "through a link .git is protected where it is" EROFS --cwd linked -- guard_try write store/config
says "and the link stays" EBUSY --cwd linked -- guard_try rename .git gone

# A work tree: .git is a file that names a folder of the main repository.
mkdir -p main/.git/worktrees/wt main/.git/hooks wt
echo old >main/.git/config
echo old >main/.git/hooks/pre-push
echo ../.. >main/.git/worktrees/wt/commondir
echo "gitdir: $W/main/.git/worktrees/wt" >wt/.git
cd wt || exit 1
says "a work tree's .git file is protected" EROFS --rw "$W" -- guard_try write .git
says "and the hooks of the repository that it names" EROFS --rw "$W/main" -- \
	guard_try write "$W/main/.git/hooks/pre-push"
says "and its configuration" EROFS --rw "$W/main/.git" -- guard_try write "$W/main/.git/config"
cd "$W" || exit 1

# Hooks that are elsewhere.
mkdir -p elsewhere/.git elsewhere/.githooks
echo old >elsewhere/.githooks/pre-commit
says "control: a folder that is none of git's can be written" ok --cwd elsewhere -- guard_try write .githooks/pre-commit
printf '[core]\n\thooksPath = .githooks\n' >elsewhere/.git/config
says "the folder that core.hooksPath names cannot" EROFS --cwd elsewhere -- guard_try write .githooks/pre-commit
says "nor be renamed" EBUSY --cwd elsewhere -- guard_try rename .githooks gone

mkdir -p pipe
mkfifo pipe/.git
exits "a pipe in the place of .git keeps nobody waiting" 0 timeout 5 fence-guard exec --cwd pipe -- true

# The home folder.
HOME=$T/home
export HOME
mkdir -p "$HOME/.ssh" "$HOME/.config/gcloud" "$HOME/.docker" "$HOME/proj"
for f in .ssh/id .netrc .npmrc .docker/config.json .config/gcloud/token .bashrc .profile plain; do
	echo secret >"$HOME/$f"
done
says "control: another file of the home folder can be read" ok --ro "$HOME" -- guard_try open "$HOME/plain"
for f in .ssh/id .netrc .npmrc .docker/config.json .config/gcloud/token; do
	says "$f of the home folder cannot be read" EACCES --ro "$HOME" -- guard_try open "$HOME/$f"
done
says "unless it is named" ok --ro "$HOME" --ro "$HOME/.npmrc" -- guard_try open "$HOME/.npmrc"
says "a folder, too" ok --ro "$HOME" --ro "$HOME/.ssh" -- guard_try open "$HOME/.ssh/id"
exits "what lies below a mask cannot be shown alone" 125 guard --ro "$HOME" --ro "$HOME/.ssh/id" -- true
like "which is said" "$(cat "$T/err")" "*name $HOME/.ssh itself with --ro or --rw"
says "shell start files stay as they are in a writable home" EROFS --rw "$HOME" -- \
	guard_try write "$HOME/.bashrc"
says "the rest of it can be written" ok --rw "$HOME" -- guard_try write "$HOME/plain"
for home in / /nonexistent; do
	says "secrets of the caller's home folder stay hidden when the command's is $home" EACCES \
		--ro "$HOME" --env "HOME=$home" -- guard_try open "$HOME/.npmrc"
done
ln -s home "$T/link-home"
ln -s "$T/link-home/none" "$T/dangling-home"
HOME=$T/link-home
says "also by a link" EACCES --ro "$T/home" -- guard_try open "$T/home/.npmrc"
for HOME in "$T/none" "$T/none/none" "$T/dangling-home"; do
	exits "a home folder that is missing needs nothing: ${HOME#"$T"}" 0 guard -- true
done
HOME=$T/home
says "also when it has none" EACCES --ro "$HOME" --unset HOME -- guard_try open "$HOME/.npmrc"
for f in /etc/shadow /etc/shadow- /etc/gshadow-; do
	[ -e "$f" ] || continue
	says "$f is closed" EACCES -- guard_try open "$f"
done
if [ "$ROOT" = yes ]; then
	shadow() {
		setpriv --reuid=65534 --regid=65534 --groups="$(stat -c %g /etc/shadow)" "$@"
	}
	is "control: a user of its group may read /etc/shadow" "$(shadow guard_try open /etc/shadow 2>&1)" ok
	is "and his command may not" \
		"$(cd / && shadow fence-guard exec --ro "$FENCE_BUILD" -- guard_try open /etc/shadow 2>&1)" EACCES
fi

# A folder with a foreign gid is closed to its owner in a user namespace, until it is
# opened inside: what lies behind it is not missing.
if [ "$ROOT" = yes ] && : >given && chown 65534:4242 given 2>/dev/null; then
	mkdir -p shared/.git/hooks shared/home/.config/gcloud
	echo old >shared/.git/hooks/pre-commit
	echo secret >shared/home/.config/gcloud/token
	chown -R 65534:4242 shared
	shared() {
		setpriv --reuid=65534 --regid=65534 --groups 4242 env HOME="$W/shared/home" \
			fence-guard exec --cwd "$W/shared" --ro "$FENCE_BUILD" "$@"
	}
	is "control: a hook is protected there" "$(shared -- guard_try write .git/hooks/pre-commit)" EROFS
	is "and a token masked" "$(shared -- guard_try open home/.config/gcloud/token)" EACCES
	chmod 000 shared/.git
	exits "with .git closed by an earlier command it is refused" 125 shared -- sh -c 'chmod 755 .git'
	like "with what to do" "$(cat "$T/err")" "fence-guard: *.git*: Permission denied; *chmod*"
	chmod 755 shared/.git
	chmod 000 shared/home/.config
	exits "and so it is when a folder with something to mask is closed" 125 shared -- true
	exits "or what is denied by name cannot be looked up" 125 shared --env HOME=/ --deny home/.config/x -- true
	chmod 755 shared/home/.config
fi
done_testing
