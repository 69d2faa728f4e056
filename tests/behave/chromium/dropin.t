#!/bin/sh
# What a client can rely on of a program that takes a browser's place.
. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/browser.sh"

fake sh
fake env
mkdir -m 700 "$T/profile"
run() {
	fence-chromium --fence-browser="$T/sh" -c "$1" --user-data-dir="$T/profile"
}

run 'exit 7' 2>/dev/null
is "the exit status is kept" $? 7
run 'kill -9 $$' 2>/dev/null
is "so is the signal" $? 137

fence-chromium --fence-browser="$T/sh" -c 'echo $$' --user-data-dir="$T/profile" >"$T/pid" 2>"$T/log" &
pid=$!
wait "$pid"
is "the pid is kept" "$(cat "$T/pid")" "$pid"

run 'echo out; printf "a\0b\nc" >&2' >"$T/1" 2>"$T/2"
is "standard output is kept" "$(cat "$T/1")" out
ok "standard error comes byte for byte" await file "$T/2"
printf 'a\0b\nc' >"$T/wanted"
run 'printf "a\0b\nc" >&2' 2>&1 >/dev/null | cat >"$T/2"
ok "and is whole at its end of file" cmp "$T/2" "$T/wanted"

run 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo "$i 345678901234567890123456789012345678901234567890123456789" >&2
done; echo finished' 2>&1 >"$T/1" | true
is "a client that does not read cannot stop the browser" "$(cat "$T/1")" finished

LD_PRELOAD='' LD_LIBRARY_PATH=/x SBX_D=1 SANDBOX_X=1 CHROME_DEVEL_SANDBOX=/x SSLKEYLOGFILE=/x \
	LD_AUDIT='' XDG_CACHE_HOME=/x KEPT=yes \
	fence-chromium --fence-evidence="$T/ev.json" --fence-browser="$T/sh" -c "exec $T/env" \
	--user-data-dir="$T/profile" >"$T/environment" 2>/dev/null
is "what is harmless stays in the environment" "$(grep -c '^KEPT=yes$' "$T/environment")" 1
is "what loads code or weakens is taken out" \
	"$(grep -c -E '^(LD_|SBX_|SANDBOX_|CHROME_DEVEL|SSLKEY)' "$T/environment")" 0
like "its home is in the private root" "$(grep '^HOME=' "$T/environment")" "HOME=$T/tmp/fc-*/home"
like "so is its cache" "$(grep '^XDG_CACHE_HOME=' "$T/environment")" "*$T/tmp/fc-*/home/.cache"
like "the evidence counts it" "$(cat "$T/ev.json")" '*"restricted_env_dropped","count":7*'

ls=$(command -v ls)
fence-chromium --fence-browser="$T/sh" -c "exec $ls -1 /proc/self/fd/" --user-data-dir="$T/profile" \
	3</dev/null 4>/dev/null 7</dev/null 9</dev/null 2>/dev/null >"$T/fds"
# ls has one more for the folder that it lists.
is "it has descriptors 0 to 4 and none above" "$(head -n 5 "$T/fds" | tr '\n' ' ')$(wc -l <"$T/fds")" \
	'0 1 2 3 4 6'

exits "--version is the browser's" 0 fence-chromium --version
like "and tells the browser's" "$(cat "$T/out")" '*Chrom*'
exits "--fence-version is ours" 0 fence-chromium --fence-version
like "and tells ours" "$(cat "$T/out")" 'fence-chromium *'
exits "a file that is no program cannot be executed" 126 \
	fence-chromium --fence-browser="$T/page.html"
printf '\177ELFnonsense' >"$T/broken"
chmod 755 "$T/broken"
chmod 755 "$T/page.html"
exits "so a broken one" 126 fence-chromium --fence-browser="$T/broken"
exits "one that is not there is not found" 127 fence-chromium --fence-browser="$T/none"
exits "evidence that cannot be written stops the launch" 125 \
	fence-chromium --fence-browser="$T/sh" --fence-evidence=/proc/none/ev.json
leaves_nothing "nothing is left"
done_testing
