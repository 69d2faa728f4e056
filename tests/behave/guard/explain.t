#!/bin/sh
# What explain says of a policy is what exec does.
. "$(dirname "$0")/guard.sh"

HOME=$W/home
export HOME
mkdir -p dir open scratch "$HOME/.ssh" .git/hooks
echo text >dir/file
echo text >open/file
cat >policy.yaml <<END
version: 1
profiles:
  gate:
    files: { ro: [dir], deny: [open, absent], tmpfs: [scratch], protect: [later] }
    network: { mode: none }
  list:
    network: { mode: rules }
  fast:
    network: { mode: host }
commands:
  - { argv: [git, push], verdict: ask, reason: pushing is a person's }
  - { argv: [git, push, --force], verdict: deny }
  - { argv: [git], verdict: allow }
protect:
  - { path: policy.yaml, reason: by hand alone }
opaque: { sandboxed: allow, headless: deny }
network:
  allow: ["10.0.0.0/8:443", "deb.debian.org:80"]
  deny: ["10.0.0.5"]
END

# explains NAME WANTED OPTION...
explains() {
	explains_name=$1
	explains_wanted=$2
	shift 2
	is "$explains_name" "$(fence-guard explain --policy policy.yaml "$@" 2>&1)" "$explains_wanted"
}

# --- paths ------------------------------------------------------------------------------
explains "what a rule makes read-only, with its place" \
	"dir/file: read-only: ro dir (policy.yaml:4:19); enforced by mount" --path dir/file
is "is so" "$(guard --policy policy.yaml -- guard_try write dir/file)" EROFS
explains "what it denies" "open/file: deny: deny open (policy.yaml:4:32); enforced by mount" --path open/file
is "is so, too" "$(guard --policy policy.yaml -- guard_try open open/file)" EACCES
explains "what is another folder" \
	"scratch/x: private: tmpfs scratch (policy.yaml:4:55); enforced by mount" --path scratch/x
explains "what is denied and not there" \
	"absent/x: deny: deny absent (policy.yaml:4:38), it does not exist, so nothing is masked; enforced by none" \
	--path absent/x
explains "what is protected and not there" \
	"later: read-only: protect later (policy.yaml:4:75); enforced by mount" --path later
is "asking makes nothing on the host" "$(ls -d later 2>/dev/null)" ""
explains "a rule's reason" \
	"policy.yaml: read-only: protect policy.yaml (policy.yaml:15:13), by hand alone; enforced by mount" \
	--path policy.yaml
explains "what is protected unnamed" \
	".git/hooks/x: read-only: protected unnamed: $W/.git; enforced by mount" --path .git/hooks/x
mkdir .git/objects .git/refs && : >.git/HEAD
explains "a repository, of which there is a copy" \
	".git/hooks/x: private: a private copy of $W/.git; enforced by mount" --path .git/hooks/x
rm -r .git/objects .git/refs .git/HEAD
explains "what is masked unnamed" \
	"$HOME/.ssh: deny: masked unnamed: $HOME/.ssh; enforced by mount" --path "$HOME/.ssh"
explains "what may be written" "x: allow: the working directory $W; enforced by none" --path x
explains "what is outside" "/usr/bin: read-only: the root file system; enforced by mount" --path /usr/bin
explains "what is our own" "/tmp/x: private: the private /tmp; enforced by mount" --path /tmp/x
ln -s open/file link
explains "a link is what it leads to" \
	"link: deny: deny open (policy.yaml:4:32); enforced by mount" --path link
is "without a file the profile answers" "$(fence-guard explain --profile evaluator --path dir)" \
	"dir: read-only: the working directory $W; enforced by mount"
is "in profile none nothing is enforced" "$(fence-guard explain --profile none --path /etc/shadow)" \
	"/etc/shadow: allow: profile none; enforced by none"

# --- hosts ------------------------------------------------------------------------------
explains "no network: no host" \
	"10.0.0.1:443: deny: network mode none (policy.yaml:5:22); enforced by netns" --host 10.0.0.1:443
explains "the host's: every one" \
	"10.0.0.1:443: allow: network mode host (policy.yaml:9:22); enforced by none" \
	--profile fast --host 10.0.0.1:443
explains "a list: what it allows" \
	"10.0.0.1:443: allow: allow 10.0.0.0/8:443 (policy.yaml:18:11); enforced by none" \
	--profile list --host 10.0.0.1:443
explains "what it denies has the last word" \
	"[::ffff:10.0.0.5]:443: deny: deny 10.0.0.5 (policy.yaml:19:10); enforced by none" \
	--profile list --host '[::ffff:10.0.0.5]:443'
explains "what it does not name is denied" \
	"example.org:80: deny: network mode rules (policy.yaml:7:22); enforced by none" \
	--profile list --host example.org:80
exits "a net is no host" 65 fence-guard explain --host 10.0.0.0/8

# --- system calls -------------------------------------------------------------------------
explains "a refused call, with its errno" "mount: deny with EPERM: seccomp default; enforced by seccomp" \
	--syscall mount
is "is so" "$(guard --policy policy.yaml -- guard_try call 165 0 0 0 0 0)" EPERM
explains "one that runtimes fall back from" \
	"clone3: deny with ENOSYS: seccomp default; enforced by seccomp" --syscall clone3
explains "one whose arguments decide" "ioctl: arguments: seccomp default; enforced by seccomp" --syscall ioctl
explains "one that is allowed" "read: allow: seccomp default; enforced by none" --syscall read
is "one that browsers need" "$(fence-guard explain --profile chromium --syscall chroot)" \
	"chroot: allow: seccomp default; enforced by none"
exits "a name that is none" 65 fence-guard explain --syscall mouny
like "with the nearest" "$(cat "$T/err")" "*; did you mean mount*"

# --- commands -------------------------------------------------------------------------------
explains "the strictest rule counts" "git push -f: ask: command git (policy.yaml:11:5), pushing is a person's; enforced by none" \
	--command 'git push -f'
explains "wherever the program lies" "/usr/bin/git push --force x: deny: command git (policy.yaml:12:5); enforced by none" \
	--command '/usr/bin/git push --force x'
explains "what no rule names" "make: allow: no rule names it; enforced by none" --command make
explains "what takes a shell cannot be told" \
	"git status; git push: opaque: it is more than one simple command, sandboxed: allow, headless: deny; enforced by none" \
	--command 'git status; git push'

# --- the rest -------------------------------------------------------------------------------
exits "nothing asked is a wrong usage" 64 fence-guard explain
exits "so are two things" 64 fence-guard explain --path a --host b
exits "and a word" 64 fence-guard explain --path a b
long=$(printf '%04000d' 0)
exits "an answer that is too long is none" 65 fence-guard explain --json --command "$long $long $long $long $long"
is "and not half of one" "$(cat "$T/out")$(cat "$T/err")" \
	"fence-guard: --command: the answer is too long"
exits "a policy with a fault" 65 fence-guard explain --policy dir/file --path a
{
	for question in "--path dir" "--path absent" "--host 10.0.0.1" "--syscall mount" "--syscall read" \
		"--command make" "--profile list --host 10.0.0.5:1"; do
		# shellcheck disable=SC2086 # two words each
		fence-guard explain --policy policy.yaml --json $question
	done
	fence-guard explain --policy policy.yaml --json --command 'a | b'
} >"$T/all"
is "eight answers" "$(wc -l <"$T/all" | tr -d ' ')" 8
faults() {
	jq -r --slurpfile schema "$SRC/schemas/fence-guard-explain-v1.json" -f "$SRC/tests/lib/schema.jq" "$1" 2>&1
}
is "are as their schema says" "$(faults "$T/all")" ""
is "with the rule's place" "$(jq -r 'select(.subject == "dir") | "\(.source.file):\(.source.line):\(.source.column) \(.resolved)"' "$T/all")" \
	"policy.yaml:4:19 $W/dir"
sed 's/"verdict":"deny"/"verdict":"dney"/' "$T/all" >"$T/bad"
unlike "an answer that is not is found out" "$(faults "$T/bad")" ""
done_testing
