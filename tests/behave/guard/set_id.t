#!/bin/sh
# A file that the command leaves gives nobody on the host its user's rights, or its group's.
# The calls one by one are attempts of escapes/files.t.
. "$(dirname "$0")/guard.sh"

cp "$(command -v id)" program
chmod 755 program
mode() {
	stat -c %a "$1"
}
# refused NAME OPTIONS... -- COMMAND: it fails, and nothing here has such a bit
refused() {
	refused_name=$1
	shift
	refused_says=$(guard "$@" 2>&1) && fail "$refused_name: it worked"
	like "$refused_name" "$refused_says" "*Operation not permitted*"
	is "nothing of it is left: $refused_name" "$(find . -perm /6000)" ""
}

ok "control: outside it is given" chmod 6755 program
is "control: and there" "$(mode program)" 6755
chmod 755 program
tar -cf plain.tar program
chmod 4755 program
tar -cf archive.tar program
ok "control: an archive keeps it" sh -c 'mkdir out && tar -C out -xpf archive.tar && test -u out/program'
cp -p program "$T/source"
chmod 755 program
rm -r out

refused "set-user-ID" -- chmod u+s program
refused "set-group-ID" -- chmod g+s program
refused "both, by number" -- chmod 6755 program
refused "by install(1)" -- install -m 4755 program installed
refused "by cp -p" --ro "$T/source" -- cp -p "$T/source" copied
refused "by tar" -- sh -c 'mkdir -p in && tar -C in -xpf archive.tar'
refused "in profile chromium" --profile chromium -- chmod u+s program
if [ "$(fence-guard doctor --json | jq '[.steps[].abi // 0] | max')" -ge 6 ]; then
	is "in profile landlock" "$(fence-guard exec --profile landlock -- chmod u+s program 2>&1; mode program)" \
		"chmod: changing permissions of 'program': Operation not permitted
755"
	ok "where it can be allowed as well" fence-guard exec --profile landlock --allow-set-id -- chmod u+s program
	chmod 755 program
else
	lacks "in profile landlock" "Landlock of version 6"
fi
refused "with --strict" --strict -- chmod u+s program
refused "beside ports" --net ports:443 -- chmod u+s program
refused "a folder's, which a filter cannot tell from a file's" -- chmod g+s .

ok "all other bits are given" guard -- sh -c 'chmod 1777 program && chmod 000 program && chmod 755 program'
ok "a copy has none" guard --ro "$T/source" -- cp "$T/source" plain
is "of what was set-id" "$(mode plain)" 755
ok "an archive without is extracted" guard -- tar --no-same-owner -xf plain.tar
ok "one with, when modes are not kept" guard -- tar --no-same-owner --no-same-permissions -xf archive.tar
is "and has none" "$(mode program)" 755
if command -v fakeroot >/dev/null; then
	is "fakeroot goes on" "$(guard -- fakeroot sh -c 'chmod 4755 program && stat -c %a program')" 4755
	is "while there is no such bit" "$(mode program)" 755
else
	lacks "fakeroot goes on" fakeroot
fi
like "it is told of" "$(guard --explain -- chmod 4755 program 2>&1)" \
	"*chmod*program mode 04755: EPERM by seccomp: without --allow-set-id*"

# By name it is open.
for options in --allow-set-id "--allow-set-id --allow-userns" "--allow-set-id --net ports:443" \
	"--profile chromium --allow-set-id" "--strict --allow-set-id"; do
	# shellcheck disable=SC2086 # words
	ok "with $options" guard $options -- chmod 6755 program
	is "it is there" "$(mode program)" 6755
	chmod 755 program
done
ok "git shares a repository then" guard --allow-set-id -- git init -q --shared=group shared
fails "which it cannot without" guard -- git init -q --shared=group unshared
rm -rf shared unshared
cat >"$T/policy" <<'Y'
version: 1
profiles:
  gate: {allowSetId: true}
  shut: {extends: gate, allowSetId: false}
Y
ok "a policy can say so" guard --policy "$T/policy" -- chmod 4755 program
is "and it is there" "$(mode program)" 4755
chmod 755 program
refused "or not" --policy "$T/policy" --profile shut -- chmod 4755 program
is "it is explained: arguments decide" \
	"$(fence-guard explain --policy "$T/policy" --profile shut --syscall fchmodat2 --json | jq -r .verdict)" arguments
is "or nothing" "$(fence-guard explain --policy "$T/policy" --syscall openat2 --json | jq -r .verdict)" allow
is "openat2 is none" "$(fence-guard explain --syscall openat2 --json | jq -r '.verdict + .errno')" denyENOSYS
exits "profile none has nothing to allow" 125 fence-guard exec --profile none --allow-set-id -- true
like "and says so" "$(cat "$T/err")" "*--allow-set-id: profile none confines neither*"
done_testing
