#!/bin/sh
# README.md's lines for who comes from bubblewrap or from a container: run as they are
# written there, the old and the new one see the same from inside, but for what the text
# names.
. "$(dirname "$0")/../lib/tap.sh"

# line START: the one line of README.md that begins so and ends with "make test".
line() {
	sed -n "s/^    \($1 .*make test\)\$/\1/p" "$SRC/README.md"
}
old=$(line bwrap)
new=$(line "fence-guard exec --profile gate")
container=$(line "fence-guard exec --net none")
is "README.md has each of them once" "$(printf '%s\n' "$old" "$new" "$container" | grep -c .)" 3

# Not below /tmp, which both have for themselves.
base=$(mktemp -d /var/tmp/fence-switch.XXXXXX)
later rm -rf "$base"
HOME=$base/home
export HOME
mkdir -p "$HOME/.ssh" "$base/project/.git/hooks" "$base/project/.git/objects" "$base/project/.git/refs"
chmod 700 "$HOME"
echo secret >"$HOME/.ssh/id_test"
echo 'ref: refs/heads/main' >"$base/project/.git/HEAD"
cd "$base/project" || exit 1
printf 'test:\n\t@sh ./see\n' >Makefile
cat >see <<'END'
may() { (: >"$1/probe") 2>/dev/null && rm "$1/probe" && echo "$1: written" || echo "$1: not"; }
echo "$(id -u) $(id -g) $PWD"
ls /
ls -A /tmp
for dir in /etc /usr "$HOME" /tmp /dev/shm "$PWD"; do may "$dir"; done
echo "network: $(cut -d: -f1 -s /proc/net/dev | xargs)"
echo "others: $(ls -d /proc/[0-9]* | wc -l | awk '{ print($1 < 20 ? "hidden" : "seen") }')"
for node in null zero full random urandom tty ptmx; do [ -c /dev/$node ] && echo $node; done
ls /dev/sd* /dev/vd* /dev/kvm /dev/mem 2>/dev/null
grep NoNewPrivs /proc/self/status
exec 3>only # what the text says is different
echo changed >.git/hooks/pre-commit
cat ~/.ssh/id_test >&3 2>&1
sed -n '/^CapEff/p; /^Seccomp:/p' /proc/self/status >&3
END
make -s test >"$T/bare" 2>&1
like "control: without either the home folder can be written" "$(cat "$T/bare")" "*$HOME: written*"
if ! command -v bwrap >/dev/null || ! bwrap --unshare-all --ro-bind / / true 2>/dev/null; then
	lacks "both see the same" "bubblewrap, or user namespaces"
	done_testing
fi
sh -c "${old%make test}make -s test" >"$T/old" 2>"$T/err"
is "bwrap's line ends well" "$?$(cat "$T/err")" 0
mv only "$T/only.old"
ok "after the one the hooks are changed" rm .git/hooks/pre-commit
sh -c "${new%make test}make -s test" >"$T/new" 2>"$T/err"
is "fence-guard's as well" $? 0
like "and .git is as it was, which is said" "$(cat "$T/err" .git/hooks/* 2>&1)" \
	"fence-guard: *$base/project/.git was not kept*No such file*"
mv only "$T/only.new"
is "both see the same" "$(cat "$T/new")" "$(cat "$T/old")"
like "which is the project writable, and the rest not" "$(cat "$T/new")" \
	"*/etc: not*/usr: not*$HOME: not*/tmp: written*$PWD: written*network: lo*"
like "a secret is open to the one" "$(cat "$T/only.old")" \
	"secret
*Seccomp:	0"
like "and not to the other" "$(cat "$T/only.new")" \
	"cat: *: Permission denied
CapEff:	0000000000000000
Seccomp:	2"

rm -f only
sh -c "${container%make test}make -s test" >"$T/new" 2>&1
is "the line for a container's place ends well" $? 0
like "with the project writable and no network" "$(cat "$T/new")" \
	"*/etc: not*$HOME: not*$PWD: written*network: lo*"
done_testing
