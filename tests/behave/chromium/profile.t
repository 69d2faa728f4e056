#!/bin/sh
# Whose profile folder a browser may have.
. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/browser.sh"

fake sh
run() {
	fence-chromium --fence-browser="$T/sh" -c 'echo x >"$1/made" && echo wrote' sh "$1" \
		--user-data-dir="$1" 2>"$T/log"
}

mkdir -m 700 "$T/fresh"
is "a fresh folder of the caller's can be written" "$(run "$T/fresh")" wrote
is "it belongs to the browser's user then" "$(stat -c %u "$T/fresh")" "$WHO"
is "and can be used again" "$(run "$T/fresh")" wrote

mkdir -p "$T/prepared/Default"
echo '{}' >"$T/prepared/Default/Preferences"
is "so one that a client has prepared" "$(run "$T/prepared")" wrote
is "with all that is in it" "$(stat -c %u "$T/prepared/Default/Preferences")" "$WHO"
leaves_nothing "nothing is left"

if [ "$ROOT" = yes ]; then
	refused() {
		exits "$1" 77 fence-chromium --fence-browser="$T/sh" -c 'echo started' \
			--user-data-dir="$2"
		like "$1: and why" "$(cat "$T/err")" "*${3:-profile_not_writable}*"
		is "$1: nothing was started" "$(cat "$T/out")" ''
	}
	is "a folder that is missing is made" "$(run "$T/missing")" wrote
	mkdir "$T/theirs"
	chown 1234 "$T/theirs"
	refused "somebody else's folder is refused" "$T/theirs"
	mkdir "$T/mixed"
	echo secret >"$T/mixed/file"
	chown 1234 "$T/mixed/file"
	refused "one with somebody else's content is refused" "$T/mixed"
	is "and stays the caller's" "$(stat -c %u "$T/mixed")" 0
	mkdir "$T/linked"
	echo secret >"$T/secret"
	chmod 600 "$T/secret"
	ln "$T/secret" "$T/linked/file"
	refused "one with a second name of another file is refused" "$T/linked"
	mkdir "$T/pointing"
	ln -s "$T/secret" "$T/pointing/file"
	refused "one with a link is refused" "$T/pointing"
	is "and the file stays the caller's" "$(stat -c %u "$T/secret")" 0
	ln -s "$T/fresh" "$T/link"
	refused "a link to a folder is refused" "$T/link" profile_invalid
	mkdir -m 755 "$T/foreign" "$T/ours" "$T/ours/profile" "$T/ours/Extensions"
	ln -s "$T/ours" "$T/foreign/way"
	is "our own link on the way is followed" "$(run "$T/foreign/way/profile")" wrote
	mkdir "$T/ours/secret"
	chown -h 1234 "$T/foreign" "$T/foreign/way"
	refused "somebody else's link on the way is refused" "$T/foreign/way/secret"
	refused "also to what is not there yet" "$T/foreign/way/none"
	is "and what it leads to stays the caller's" "$(stat -c %u "$T/ours/secret")" 0
	ln -s loop "$T/loop"
	refused "a loop of links is refused" "$T/loop/profile"
	mkdir -m 777 "$T/shared"
	chmod 777 "$T/shared"
	refused "one to be made where others can move it is refused" "$T/shared/new"
	mkdir "$T/mounted" "$T/mounted/Default"
	# shellcheck disable=SC2016
	exits "one with a mount in it is refused" 77 unshare -m sh -c \
		'mount --bind "$1/ours/Extensions" "$1/mounted/Default" && exec fence-chromium \
		--fence-browser="$1/sh" -c "echo started" --user-data-dir="$1/mounted"' sh "$T"
	is "and what is mounted stays the caller's" "$(stat -c %u "$T/ours/Extensions")" 0
	is "and so does the folder" "$(stat -c %u "$T/mounted")" 0
	mkdir -m 777 "$T/open"
	chmod 777 "$T/open"
	refused "one that everybody may write is refused" "$T/open"
	seq 100 | (mkdir "$T/used" && cd "$T/used" && xargs touch)
	refused "one that was long in use is refused" "$T/used"
else
	mkdir "$T/closed"
	chmod 500 "$T/closed"
	exits "a folder that cannot be written is refused" 77 \
		fence-chromium --fence-browser="$T/sh" --user-data-dir="$T/closed"
	like "and why" "$(cat "$T/err")" '*profile_not_writable*'
fi
done_testing
