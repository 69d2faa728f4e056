# What the tests of --root share: trees as debootstrap makes them, whose programs are the
# host's. The machine's /usr is brought in, and links lead to it as they do on the host.

# plant DIR: the links; what is no link on the host is to be brought in, too ($T/binds)
plant() {
	mkdir "$1"
	for planted in bin sbin lib lib32 lib64 libx32; do
		if [ -L "/$planted" ]; then
			ln -s "usr/$planted" "$1/$planted"
		elif [ -d "/$planted" ]; then
			echo "--ro-bind /$planted:/$planted"
		fi
	done >>"$T/binds"
}

# within OPTIONS -- COMMAND: in the tree "tree", which is planted; $B brings programs in, and
# the helpers in /build/test
within() {
	PATH=$PATH:/build/test fence-guard exec --root tree $B "$@"
}
shows() {
	shows_name=$1
	shows_wanted=$2
	shift 2
	is "$shows_name" "$(within "$@" 2>"$T/err")" "$shows_wanted"
}
refuses() {
	refuses_name=$1
	refuses_words=$2
	shift 2
	exits "$refuses_name" 125 "$@"
	is "in one line" "$(cat "$T/err")" "fence-guard: $refuses_words"
}

plant tree
B="--ro-bind /usr:/usr $(sort -u "$T/binds" | tr '\n' ' ') --ro-bind $FENCE_BUILD:/build"
