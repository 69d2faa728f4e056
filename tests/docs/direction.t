#!/bin/sh
# Who may include, link and call what: program -> libfence -> libc, never sideways.
. "$(dirname "$0")/../lib/tap.sh"
cd "$SRC" || exit 1

# includes FOLDER ALLOWED...: quoted includes of FOLDER that name no allowed folder.
strays() {
	folder=$1
	shift
	pattern=$(printf '|%s/' "$@")
	grep -rnE '^#include "' "$folder" --include='*.c' --include='*.h' |
		grep -vE "#include \"(${pattern#|}|[a-z_]+_(filters?|names)\\.h)"
}
is "fence/ includes fence/ alone" "$(strays fence fence)" ""
is "supervisor/ includes itself and fence/" "$(strays supervisor supervisor fence)" ""
is "guard/ includes itself and fence/" "$(strays guard guard fence)" ""
is "gate/ includes itself and fence/" "$(strays gate gate fence)" ""
is "the library proper does not know its own conf/" \
	"$(grep -ln '#include "fence/conf/' fence/*.c fence/*.h)" ""
like "a stray include is seen" "$(strays gate nothing | head -n 1)" "gate/*"

# calls PATTERN: files of ours that make such a call.
# Comments and strings are not looked at.
find fence supervisor guard gate -name '*.c' | sort | while read -r file; do
	gcc -fpreprocessed -dD -E -P "$file" | sed 's/"[^"]*"/""/g' >"$T/code"
	sed "s|^|$file: |" "$T/code"
done >"$T/all-code"
calls() {
	sed -nE "s/^([^:]*): (.*[^a-zA-Z_.>])?($1) ?\\(.*/\\1/p" "$T/all-code" | sort -u | paste -sd' '
}
is "only fence/sys.c calls syscall(2)" "$(calls syscall)" "fence/sys.c"
is "only fence/spawn.c forks" "$(calls 'fork|vfork|clone|posix_spawnp?')" "fence/spawn.c"
is "only fence/sys.c waits" "$(calls 'wait|waitpid|waitid|wait3|wait4')" ""
is "nobody calls what the style forbids" \
	"$(calls 'strcpy|strcat|sprintf|vsprintf|strtok|atoi|system|popen|alloca|signal|gets')" ""
is "the library never prints" \
	"$(grep -lE '(^|[^a-zA-Z_])(printf|fprintf|puts|perror|exit)\(' fence/*.c fence/conf/*.c | grep -v fence_marker)" ""

# Link lists, of the release build: an instrumented one links more.
needs() {
	readelf -d "$BIN/$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | paste -sd' '
}
for program in fence-run fence-supervisor fence-marker fence-guard fence-bwrap fence-policy \
	fence-chromium fence-gate; do
	ok "$program was built" test -x "$BIN/$program"
	is "$program is static" "$(needs $program)" ""
done
like "a dynamic program is seen" "$(readelf -d "$HELP/await" | grep NEEDED)" "*libc.so*"

# What the static programs took in, beside libc: symbols that only that library has.
holds() {
	nm "$BIN/$1" 2>/dev/null | grep -qE " [TtWw] $2"
}
for program in fence-run fence-supervisor fence-marker fence-guard fence-bwrap fence-chromium; do
	fails "$program holds no libcap" holds $program cap_set_proc
	fails "$program holds no libyaml" holds $program yaml_parser_parse
done
fails "fence-guard holds no libseccomp (its filters are made at build time)" \
	holds fence-guard seccomp_init
ok "fence-gate holds libyaml" holds fence-gate yaml_parser_parse
ok "and fence-policy, for fence-guard" holds fence-policy yaml_parser_parse

# Every header compiles alone.
for header in fence/*.h fence/conf/*.h supervisor/*.h guard/*.h guard/*/*.h gate/*.h gate/*/*.h; do
	[ -e "$header" ] || continue
	ok "$header compiles alone" gcc -std=gnu11 -D_GNU_SOURCE -DFENCE_VERSION='""' -I. \
		-fsyntax-only -Wall -Werror -x c "$header"
done
done_testing
