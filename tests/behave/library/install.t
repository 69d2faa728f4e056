#!/bin/sh
# libfence as a library of another program: installed, found by pkg-config, compiled
# against, linked, run, and taken away again.
. "$(dirname "$0")/../../lib/tap.sh"
cd "$T" || exit 1

page=$SRC/man/libfence.3
prefix=$T/root/opt/fence
archive=$prefix/lib/libfence.a

# Instrumented objects link only with the flags, and the compiler, that made them.
mode=plain
nm "$FENCE_BUILD/lib/libfence.a" >built 2>&1
! grep -q ' __asan_init' built || mode=asan
! grep -q ' __gcov_init' built || mode=cov
cc=gcc
readelf -p .comment "$FENCE_BUILD/lib/libfence.a" 2>&1 | grep -q clang && cc=clang

# make_it TARGET [NAME=VALUE...]: what is built already, and may only be read here.
make_it() {
	env -u MAKEFLAGS -u MFLAGS make -s -C "$SRC" -o all "$@" MODE=$mode \
		BUILD="$FENCE_BUILD" DESTDIR="$T/root" PREFIX=/opt/fence
}
package() {
	PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config "$@" libfence
}

ok "it installs" make_it install

# --- pkg-config ------------------------------------------------------------------
is "pkg-config knows the version" "libfence $(package --modversion)" \
	"$(fence-marker --version | sed 's/^fence-marker/libfence/')"
is "and where it will lie" "$(package --variable=libdir)" /opt/fence/lib
cflags=$(package --define-prefix --cflags)
libs=$(package --define-prefix --libs)
is "the headers are found where they lie now" "${cflags% }" "-I$prefix/include"
like "so is the archive" "$libs" "-L$prefix/lib -lfence*"

# --- headers -----------------------------------------------------------------------
(cd "$prefix/include" && ls fence/*.h) >headers
sed -n 's/^\.In //p' "$page" | sort >wanted
is "the headers that are installed are those of the manual" "$(cat headers)" "$(cat wanted)"

# alone COMPILER LANGUAGE STANDARD [HEADER...]: each by itself, and without ours.
alone() {
	compiler=$1 language=$2 standard=$3
	shift 3
	"$compiler" -I"$prefix/include" -fsyntax-only -std="$standard" -Wall -Wextra -Wpedantic \
		-Wundef -Werror -x "$language" "$@"
}
each_header() {
	# shellcheck disable=SC2046 # our file names have no blanks
	alone "$@" $(sed "s|^|$prefix/include/|" headers)
}
echo '#include "fence/loop.h"' >private.h
fails "what needs a header of ours alone does not compile" alone $cc c gnu11 private.h
for compiler in gcc clang; do
	if command -v $compiler >/dev/null; then
		ok "each header compiles alone with $compiler, as C11" each_header $compiler c c11
		ok "and as GNU C" each_header $compiler c gnu11
	else
		lacks "each header compiles alone with $compiler" $compiler
	fi
done
cxx=
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || continue
	cxx=$compiler
	ok "each header compiles alone with $compiler, as C++" each_header $compiler c++ c++11
done

# --- the archive and the manual ------------------------------------------------------
nm -g --defined-only "$archive" 2>&1 | awk 'NF == 3 { print $3 }' | sort -u >symbols
ok "the archive has its symbols" grep -qx fence_marker_read symbols
is "and none that is not named fence_" "$(grep -v '^fence_' symbols | paste -sd' ')" ""

# The functions of the headers, whose comments go first (which clang cannot do).
while read -r header; do
	gcc -fpreprocessed -dD -E -P -x c "$prefix/include/$header"
done <headers | grep -o 'fence_[a-z0-9_]*(' | tr -d '(' | sort -u >functions
grep -o 'Fn fence_[a-z0-9_]*' "$page" | sed 's/^Fn //' | sort -u >listed
ok "the headers have functions" grep -qx fence_marker_read functions
is "every one is in the archive" \
	"$(comm -23 functions symbols | paste -sd' ')" ""
is "and in the manual" "$(comm -23 functions listed | paste -sd' ')" ""
is "which lists no other" "$(comm -13 functions listed | paste -sd' ')" ""

# --- the manual's example --------------------------------------------------------------
# block NUMBER: that literal display of the page.
block() {
	awk -v wanted="$1" '/^\.Ed/ { inside = 0 } inside { print }
		/^\.Bd -literal/ { inside = ++count == wanted }' "$page" |
		sed 's/^\\&//; s/\\e/\\/g'
}
block 1 >example.c
block 2 >example.says
build() {
	# shellcheck disable=SC2086 # flags are words
	$cc -Wall -Wextra -Werror $cflags "$@" $libs
}
ok "the manual's example compiles" build -o example example.c
exits "and runs" 0 ./example m.json
is "and prints what the manual says" "$(cat out)" "$(cat example.says)"
exits "fence-marker reads what it left" 0 fence-marker read m.json --attempt a1 --json
like "which is a cancelled attempt" "$(cat out)" '*"status":"cancelled"*"by":"cancel"*'
exits "where a marker is already it fails" 1 ./example m.json
is "in the library's words" "$(cat err)" "example: create ./m.json: File exists"

# --- other ways to link ------------------------------------------------------------------
cat >mine.c <<'EOF'
#include <fence/ident.h>

int mine(void);
int mine(void)
{
	struct fence_ident self;

	return fence_ident_self(&self) == 0 ? self.pid : -1;
}
EOF
cat >main.c <<'EOF'
#include <unistd.h>

int mine(void);
int main(void)
{
	return mine() == getpid() ? 0 : 1;
}
EOF
echo 'extern int there; int *mine(void); int *mine(void) { return &there; }' >fixed.c
fails "code that has a fixed place makes no shared object" \
	build -fno-pie -fno-pic -shared -Wl,-z,text -o libfixed.so fixed.c
ok "all of the archive goes into a shared object" build -fPIC -shared -Wl,-z,text \
	-o libmine.so mine.c -Wl,--whole-archive "$archive" -Wl,--no-whole-archive
ok "which a program links" build -o main main.c ./libmine.so
ok "and calls" ./main
if [ -n "$cxx" ]; then
	# No library of C++'s is needed, so C's compiler can link.
	sed 's/^int mine(void);/extern "C" int mine(void);/' mine.c >mine.cc
	ok "a C++ program compiles" $cxx $cflags -fPIE -fno-exceptions -c mine.cc
	ok "and links" build -o main++ main.c mine.o
	ok "and calls" ./main++
else
	lacks "a C++ program calls it" "a C++ compiler (g++ or clang++)"
fi

# --- and away ------------------------------------------------------------------------------
ok "it uninstalls" make_it uninstall
is "and nothing stays" "$(find root ! -type d)" ""
ok "its folder of headers neither" test ! -e "$prefix/include/fence"
ok "libraries may lie elsewhere" make_it install LIBDIR=/usr/lib64
is "which pkg-config is told" "$(sed -n 's/^libdir=//p' root/usr/lib64/pkgconfig/libfence.pc)" \
	/usr/lib64
ok "and go from there" make_it uninstall LIBDIR=/usr/lib64
is "all of them" "$(find root ! -type d)" ""
done_testing
