#!/bin/sh
# The whole test suite of a project that we did not write, from its Debian source package,
# passes under profile gate. scripts/setup test fetches it.
. "$(dirname "$0")/guard.sh"

# find_source: what we, or root, fetched; what somebody else put there is not run.
find_source() {
	for dir in "${FENCE_SOURCES:-/var/tmp/fenceline-sources-$(id -u)}/cjson" /var/tmp/fenceline-sources-0/cjson; do
		[ -e "$dir/CMakeLists.txt" ] || continue
		case $(stat -c %u "$dir") in
		0 | "$(id -u)") echo "$dir" && return ;;
		esac
	done
}
source=$(find_source)
for need in cc make cmake ctest; do
	command -v $need >/dev/null || source=
done
if [ -z "$source" ]; then
	lacks "a project's own tests pass inside" "the source of cjson, or what it is built with (scripts/setup test)"
	done_testing
fi
cp -R "$source" cjson
exits "it is configured" 0 guard -- cmake -S cjson -B build -DCMAKE_BUILD_TYPE=None -DENABLE_CJSON_UTILS=On \
	-DENABLE_CUSTOM_COMPILER_FLAGS=Off
exits "it is built" 0 guard -- make -s -C build -j2
guard -- ctest --test-dir build -j2 >"$T/out" 2>&1
is "its tests end well" "$?" 0
like "all of them" "$(cat "$T/out")" "*100% tests passed, 0 tests failed out of 2[0-9]*"
if command -v git >/dev/null; then
	git -C cjson init -q
	exits "its sources are committed, in a copy" 0 guard --cwd cjson -- sh -c 'git add . && git -c user.name=n \
		-c user.email=e@example.org commit -qm all && test -z "$(git status --porcelain)" && git gc -q && git fsck'
	is "which nobody keeps" "$(git -C cjson rev-parse --verify -q HEAD)" ""
	rm -rf cjson/.git
fi
sed -i 's/assert_parse_number("1", 1, 1);/assert_parse_number("1", 2, 1);/' cjson/tests/parse_number.c
exits "and one that is broken is noticed" 2 guard -- sh -c \
	'make -s -C build parse_number >/dev/null 2>&1 && ctest --test-dir build -R parse_number >out 2>&1 || exit 2'
done_testing
