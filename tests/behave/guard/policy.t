#!/bin/sh
# A policy file: whose it may be, what is wrong with it, and that exec enforces it.
. "$(dirname "$0")/guard.sh"

# policy: the file is what comes on standard input.
policy() {
	rm -f policy.yaml
	cat >policy.yaml
}
# A profile's words on one line.
profile() {
	printf 'version: 1\nprofiles:\n  gate: {%s}\n' "$1" | policy
}
under() {
	says_name=$1
	says_wanted=$2
	shift 2
	is "$says_name" "$(guard --policy policy.yaml "$@" 2>"$T/err")" "$says_wanted"
}
# refused NAME WANTED: nothing is run, and the line is WANTED.
refused() {
	rm -f ran
	guard --policy policy.yaml -- sh -c ': >ran' 2>"$T/err"
	is "$1: refused, and nothing is run" "$?/$(ls ran 2>/dev/null)" 125/
	is "with the place" "$(cat "$T/err")" "fence-guard: $2"
}

HOME=$W/home
export HOME
mkdir -p dir open "$HOME/.config" "$T/place"
echo text >dir/file
echo text >open/file
echo text >"$HOME/.config/key"

# --- what is enforced -------------------------------------------------------------------
profile 'files: {}'
under "control: with an empty profile the working directory is open" ok -- guard_try write dir/file
under "and so is a file of the home folder in it" ok -- guard_try open "$HOME/.config/key"
under "but nothing outside" hidden -- sh -c 'ls "$1" 2>/dev/null || echo hidden' - "$T/place"

profile "files: {rw: [$T/place], ro: [dir], tmpfs: [open], deny: [~/.config]}"
under "rw: may be written" ok -- sh -c 'echo x >"$1/new" && echo ok' - "$T/place"
is "on the host" "$(cat "$T/place/new")" x
under "ro: a folder in the working directory is read-only" EROFS -- guard_try write dir/file
under "tmpfs: a folder is empty" 0 -- sh -c 'ls open | wc -l | tr -d " "'
under "deny: what ~ names is closed" EACCES -- guard_try open "$HOME/.config/key"
profile 'files: {overlay: [dir]}'
under "overlay: a folder may be written" "text more" -- \
	sh -c 'echo more >>dir/file && cat dir/file | paste -sd" "'
is "and the host has what it had" "$(cat dir/file)" text
profile 'files: {ro: [.]}'
under "ro: the working directory itself can be read-only" EROFS -- guard_try write dir/file
profile 'files: {protect: [dir/file]}'
under "protect: a file stays as it is" EROFS -- guard_try write dir/file
under "and where it is" EBUSY -- guard_try rename dir other
printf 'version: 1\nprotect:\n  - {path: dir/file, reason: because}\n' | policy
under "protect, of the whole file" EROFS -- guard_try write dir/file
under "also in the built-in profiles" EROFS --profile chromium -- guard_try write dir/file
under "the policy file itself is protected" EROFS -- guard_try write policy.yaml
under "and stays where it is" EBUSY -- guard_try rename policy.yaml other

newline='
'
# The name as a file's double-quoted scalar, and as a shell has it.
hostile() {
	printf secret >"./$2"
	profile "files: {deny: [\"$1\"]}"
	under "deny: a file called <$(printf %s "$1" | tr '\\\\' '/')>" EACCES -- guard_try open "./$2"
	rm -f "./$2"
}
hostile 'a b' 'a b'
hostile 'a\nb' "a${newline}b"
hostile 'a\\b' 'a\b'
hostile '-rf' '-rf'
hostile './~x' '~x'
hostile '#, ]}: &*!' '#, ]}: &*!'
hostile 'caf\u00e9' "$(printf 'caf\303\251')"
long=$W
while [ ${#long} -lt 3700 ]; do
	long=$long/$(printf '%0200d' 0)
done
mkdir -p "$long"
echo secret >"$long/file"
profile "files: {deny: [$long/file]}"
under "deny: a path of nearly 4,000 bytes" EACCES -- guard_try open "$long/file"
rm -rf "./$(printf '%0200d' 0)"

profile 'env: {keep: [PATH, FENCE_KEPT], set: {CI: "true", FENCE_SET: a b}, unset: [HOME]}'
FENCE_KEPT=yes TZ=UTC guard --policy policy.yaml --env FENCE_SET=option -- env 2>&1 |
	grep -v '^PATH=' | sort >seen
is "variables: kept, set, replaced by an option, and no other" "$(paste -sd' ' seen)" \
	"CI=true FENCE_KEPT=yes FENCE_SET=option"

is "also when the caller ignores its children" \
	"$(trap '' CHLD; guard --policy policy.yaml -- sh -c 'echo "$CI"')" true

profile 'network: {mode: host}'
same_net() {
	[ "$(guard --policy policy.yaml "$@" -- readlink /proc/self/ns/net)" = "$(readlink /proc/self/ns/net)" ]
}
ok "the host's network is there when it is asked for" same_net
fails "an option has the last word about it" same_net --net none
profile 'network: {mode: none}'
fails "none is none" same_net

# --- profiles ---------------------------------------------------------------------------
printf 'version: 1\nprofiles:\n  judge: {extends: evaluator, files: {deny: [dir]}}\n' | policy
under "a profile of the file extends a built-in one: the working directory is read-only" EROFS \
	--profile judge -- guard_try write open/file
under "and what it adds is there too" EACCES --profile judge -- guard_try open dir/file
under "without it the built-in gate" ok -- guard_try write dir/file
under "evaluator has one place to write, /tmp" "ok /tmp" --profile evaluator -- \
	sh -c 'touch /tmp/x && echo "ok $TMPDIR"'
is "evaluator also without a file" \
	"$(guard --profile evaluator -- sh -c 'guard_try write dir/file; guard_try open dir/file; touch "$(mktemp)" && echo ok')" \
	"EROFS
ok
ok"
exits "a profile that is nowhere" 125 guard --policy policy.yaml --profile juge -- true
like "with the nearest" "$(cat "$T/err")" '*policy.yaml:3:3: there is no profile "juge"; did you mean "judge"'
exits "nor without a file" 125 fence-guard exec --profile evaluater -- true
like "with the nearest of those" "$(cat "$T/err")" '*did you mean "evaluator"'

# --- what exec cannot do is not passed over -------------------------------------------------
unbuilt="this version of exec does not enforce it"
profile 'network: {mode: rules}'
refused "an allow list" "policy.yaml:3:26: network mode \"rules\": $unbuilt; use mode none, or --net none"
under "which is none when no network is asked for" ok --net none -- guard_try open dir/file
printf 'version: 1\nprofiles: {gate: {network: {mode: host}}}\nnetwork: {deny: [10.0.0.0/8]}\n' | policy
refused "a list on the host's network" \
	"policy.yaml:3:18: a list of connections on the host's network: $unbuilt; use mode none, or leave the lists out"
printf 'version: 1\nnetwork: {allow: [10.0.0.0/8], exposeDebugPorts: [9222]}\n' | policy
under "in no network at all nothing is reached, whatever a list says" ok -- guard_try open dir/file
profile 'limits: {nofile: 64, core: 0}'
under "limits of each process hold" "64 0" -- sh -c 'echo "$(ulimit -n) $(ulimit -c)"'
under "an option has the last word" "48 0" --limit nofile=48 -- sh -c 'echo "$(ulimit -n) $(ulimit -c)"'
profile 'limits: {cputime: 2m, fsize: 1MiB}'
under "in their units" "120 2048" -- sh -c 'echo "$(ulimit -t) $(ulimit -f)"'
profile 'network: {mode: ports, connect: [443, 8000-8010], bind: [8080, 0]}'
guard --policy policy.yaml --status-fd 5 -- true 5>"$T/record"
is "ports are those of --net" "$(jq -c 'select(.event == "exec") | [.network, .ports]' "$T/record")" \
	'["ports",{"connect":[{"first":443,"last":443},{"first":8000,"last":8010}],"bind":[{"first":8080,"last":8080},{"first":0,"last":0}]}]'
under "and hold" EACCES -- guard_try connect 127.0.0.1 444
under "unless an option has the last word" ENETUNREACH --net none -- guard_try connect 192.0.2.1 444
is "explain says so" "$(fence-guard explain --policy policy.yaml --host example.org:444 | head -n 1)" \
	"$(fence-guard explain --policy policy.yaml --host example.org:445 | head -n 1 | sed s/445/444/)"
like "by Landlock" "$(fence-guard explain --policy policy.yaml --json --host example.org:444)" \
	'*"verdict":"deny"*"enforcedBy":"landlock"*'
like "and of one that is named" "$(fence-guard explain --policy policy.yaml --json --host example.org:8003)" \
	'*"verdict":"allow"*"enforcedBy":"landlock"*'
profile 'network: {mode: ports}'
refused "a mode without ports" 'policy.yaml:3:26: mode "ports" names none; add connect: or bind:'
profile 'network: {mode: host, connect: [443]}'
refused "ports of another mode" 'policy.yaml:3:42: ports are of mode "ports"'
profile 'network: {mode: ports, connect: [443, https]}'
refused "no port" 'policy.yaml:3:48: "https" is no port: a port is a number from 1 to 65535'
profile 'network: {mode: ports, connect: ["bind:1"]}'
refused "what only the option knows" 'policy.yaml:3:43: "bind:1" is no port: a port is a number from 1 to 65535'
printf 'version: 1\nprotect: [{path: dir}]\n' | policy
exits "a rule where nothing is confined" 125 guard --policy policy.yaml --profile none -- true

# --- faults -----------------------------------------------------------------------------
profile 'files: {rww: [.]}'
refused "a key that there is not" 'policy.yaml:3:18: unknown key "rww"; did you mean "rw"'
printf 'version: 1\nversion: 1\n' | policy
refused "a key twice" 'policy.yaml:2:1: key "version" on line 2 is on line 1 already'
printf 'version: 1\n\tprofiles: {}\n' | policy
rm -f ran
guard --policy policy.yaml -- sh -c ': >ran' 2>"$T/err"
is "a tab: refused, and nothing is run" "$?/$(ls ran 2>/dev/null)" 125/
like "with its place" "$(cat "$T/err")" "fence-guard: policy.yaml:2:1: *tab*"
printf 'version: 1\nprofiles: &a {}\n' | policy
refused "an anchor" 'policy.yaml:2:11: anchor "&a"; write the value where it is used'
profile 'files: {rw: dir}'
refused "a wrong type" 'policy.yaml:3:22: "rw" must be a list, not a scalar'
profile 'files: {rw: [absent]}'
refused "a path that is not there" \
	'policy.yaml:3:23: rw absent: No such file or directory; create it first'
printf 'version: 1\ncommands: [{argv: [git, push], verdict: ask, match: [git status]}]\n' | policy
refused "an example that does not hold" \
	'policy.yaml:2:54: example "git status" is not matched by this rule'
profile 'files: {rww: [.], roo: [.]}'
refused "several faults" \
	'policy.yaml:3:18: unknown key "rww"; did you mean "rw"; fence-policy shows all 2 faults'
exits "fence-policy does" 65 fence-policy policy.yaml
is "one a line" "$(cat "$T/err")" 'fence-policy: policy.yaml:3:18: unknown key "rww"; did you mean "rw"
fence-policy: policy.yaml:3:28: unknown key "roo"; did you mean "ro"'
profile 'files: {rw: [.]}'
exits "and is silent about a good one" 0 fence-policy policy.yaml
is "wholly" "$(cat "$T/out" "$T/err" 2>/dev/null)" ""
exits "no file is a wrong usage" 64 fence-policy
fence-guard exec --policy absent.yaml --status-fd 5 -- true 5>"$T/record" 2>"$T/err"
is "a file that is not there" "$?/$(cat "$T/err")" \
	"125/fence-guard: open absent.yaml: No such file or directory"
like "is in the record" "$(cat "$T/record")" '*"event":"failure","stage":"options","status":125,*absent.yaml*'
fence-guard exec --policy policy.yaml --ro "$FENCE_BUILD" --status-fd 5 -- true 5>"$T/record"
like "the record of a start names file and profile" "$(head -n 1 "$T/record")" \
	"*\"profile\":\"gate\",\"policyFile\":\"$W/policy.yaml\",\"policyProfile\":\"gate\",*"
is "by its schema" "$(jq -r --slurpfile schema "$SRC/schemas/fence-guard-status-v1.json" \
	-f "$SRC/tests/lib/schema.jq" "$T/record" 2>&1)" ""

# --- whose it is ------------------------------------------------------------------------
ok "control: a file of ours is taken" guard --policy policy.yaml -- true
# distrusted NAME WORDS FILE
distrusted() {
	rm -f ran
	guard --policy "$3" -- sh -c ': >ran' 2>"$T/err"
	is "$1: refused, and nothing is run" "$?/$(ls ran 2>/dev/null)" 125/
	like "in words" "$(cat "$T/err")" "fence-guard: $2"
}
chmod 664 policy.yaml
distrusted "a file that the group may write" "$W/policy.yaml: others may write the policy; chmod go-w it" policy.yaml
chmod 646 policy.yaml
distrusted "a file that all may write" "*others may write the policy*" policy.yaml
chmod 644 policy.yaml
mkdir -p shared/below
cp policy.yaml shared/below/policy.yaml
chmod 777 shared
distrusted "a file below a folder that all may write" "$W/shared: others may write the folder*" shared/below/policy.yaml
chmod 1777 shared
ok "the sticky bit keeps others from it" guard --policy shared/below/policy.yaml -- true
chmod 777 shared
ln -s ../policy.yaml shared/link
distrusted "a link in a folder that all may write" "$W/shared: others may write the folder*" shared/link
ln -s policy.yaml link.yaml
ok "a link of ours is taken" guard --policy link.yaml -- true
is "and cannot be led elsewhere from inside" "$(guard --policy link.yaml -- guard_try rename link.yaml gone)" EBUSY
is "nor what it leads to be written" "$(guard --policy link.yaml -- guard_try write policy.yaml)" EROFS
mkdir place
is "also when the command works elsewhere" \
	"$(guard --rw "$W" --policy link.yaml --cwd place -- guard_try rename ../link.yaml ../gone)" EBUSY
mkfifo fifo
distrusted "a pipe" "*not a regular file*" fifo
distrusted "a folder" "*not a regular file*" dir
if [ "$ROOT" = yes ]; then
	mkdir theirs && cp policy.yaml theirs/policy.yaml && chown 65534 theirs
	distrusted "a file in another user's folder" "$W/theirs: the folder belongs to another user*" theirs/policy.yaml
	chown 0 theirs && chown 65534 theirs/policy.yaml
	distrusted "another user's file" "$W/theirs/policy.yaml: the policy belongs to another user*" theirs/policy.yaml
	ln -s policy.yaml theirs.yaml && chown -h 65534 theirs.yaml
	distrusted "another user's link" "$W/theirs.yaml: the link belongs to another user*" theirs.yaml
else
	fence-policy /etc/passwd 2>"$T/err"
	like "root's file is read, and then it is no policy" "$(head -n 1 "$T/err")" "fence-policy: /etc/passwd:[0-9]*"
fi
is "inside of another sandbox, which may not know root, it is taken as well" \
	"$(fence-guard exec --profile none -- fence-guard exec --policy policy.yaml -- sh -c 'echo ok' 2>&1)" ok
[ "$ROOT" = yes ] || is "but not a file whose owner is not known there" \
	"$(fence-guard exec --profile none -- fence-policy /etc/passwd 2>&1)" \
	"fence-policy: /etc/passwd: the policy belongs to another user; copy it to a file of yours or of root's"
mkdir bin
cp "$BIN/fence-guard" bin/
if [ -e /usr/local/bin/fence-policy ]; then
	lacks "without fence-policy nothing is run" "a machine where it is not installed"
else
	rm -f ran
	bin/fence-guard exec --policy policy.yaml -- sh -c ': >ran' 2>"$T/err"
	is "without fence-policy nothing is run" "$?/$(ls ran 2>/dev/null)" 125/
	like "and that is said" "$(cat "$T/err")" \
		"fence-guard: fence-policy: it reads policies, and is not there; install it beside*"
fi
printf '#!/bin/sh\nexit 0\n' >bin/fence-policy
chmod 755 bin/fence-policy
bin/fence-guard exec --policy policy.yaml -- sh -c ': >ran' 2>"$T/err"
is "nor with one that says nothing" "$?/$(ls ran 2>/dev/null)" 125/

# --- the manual's examples --------------------------------------------------------------
mandoc -Tascii "$SRC/man/fence-policy.5" | sed 's/.\x08//g' >page
awk '/^EXAMPLES/ { on = 1 } /^SEE/ { on = 0 }
	on && /^           version: 1/ { n++ }
	on && n > 0 && /^           / { print substr($0, 12) >("example" n ".yaml") }' page
is "the manual has four examples" "$(ls example*.yaml | wc -l | tr -d ' ')" 4
for example in example*.yaml; do
	ok "$example is good" fence-policy "$example"
done
mkdir -p build .git/hooks .fence/orders
ok "the first can be used" guard --policy example1.yaml -- true
mkdir -p answers/hidden
ok "and the second" guard --policy example2.yaml --profile judge -- true
ok "and the third" guard --policy example3.yaml --profile debug -- true
exits "the fourth is refused, for its network" 125 guard --policy example4.yaml --profile fetch -- true
is "the host has what it had" "$(cat dir/file open/file)" "text
text"
done_testing
