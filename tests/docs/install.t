#!/bin/sh
# `make install` puts everything where it belongs, and what it puts there works.
. "$(dirname "$0")/../lib/tap.sh"

# The build is asked to be up to date already: a confined test cannot write to it.
build=$FENCE_BUILD
mode=release
case $build in
*/plain) mode=plain ;;
esac
ok "it installs" make -s -C "$SRC" install MODE=$mode BUILD="$build" DESTDIR="$T/root" PREFIX=/usr
for program in "$BIN"/fence-*; do
	name=$(basename "$program")
	# --version of fence-chromium is the browser's.
	ok "$name runs from there" "$T/root/usr/bin/$name" --completions bash
	ok "$name has a manual page" test -s "$T/root/usr/share/man/man1/$name.1"
	ok "$name has bash completions" bash -n "$T/root/usr/share/bash-completion/completions/$name"
	like "$name has zsh completions" \
		"$(head -n 1 "$T/root/usr/share/zsh/site-functions/_$name")" "#compdef $name*"
	like "$name has fish completions" \
		"$(cat "$T/root/usr/share/fish/vendor_completions.d/$name.fish")" "*complete -c $name *"
done
for schema in "$T"/root/usr/share/fenceline/schemas/*.json; do
	ok "$(basename "$schema") is JSON with an id" jq -e '."$schema" and .title' "$schema"
done
ok "it uninstalls" make -s -C "$SRC" uninstall MODE=$mode BUILD="$build" DESTDIR="$T/root" PREFIX=/usr
is "and nothing stays" "$(find "$T/root" -type f)" ""
done_testing
