#!/bin/sh
# A marker that is gone, or is another file, protects nobody any more: the attempt ends,
# and what could not be published is said. One that is only being rewritten is no loss.
. "$(dirname "$0")/supervisor.sh"

sleeping="echo up >$T/up; exec sleep 1000"
foreign() {
	echo foreign >"$T/m/new"
	mv "$T/m/new" "$m"
}
others() {
	rm "$m"
	fence-marker create "$m" --attempt other --pid $$ >/dev/null
}
copied() {
	cp "$m" "$T/m/new"
	mv "$T/m/new" "$m"
}
removed() {
	rm "$m"
}
emptied() {
	: >"$m"
}
folder_removed() {
	rm -r "$T/m"
}
folder_moved() {
	mv "$T/m" "$T/moved"
}
for how in removed foreign others copied emptied folder_removed folder_moved; do
	mkdir -p "$T/m"
	start --result "$T/record" -- sh -c "$sleeping"
	group=$(field .group.pid)
	$how
	[ $how = removed ] || cp "$m" "$T/kept" 2>/dev/null
	ended
	is "$how: we failed" $status 125
	ok "$how: the command is gone" await -t 1 gone "$group"
	is "$how: the record says why" "$(jq -r '"\(.cause) \(.reap)"' "$T/record")" "marker-lost reaped-term"
	like "$how: it is said" "$(cat "$T/err")" "fence-supervisor: *m.json*"
	case $how in
	removed | folder_*) ok "$how: no new one is made" test ! -e "$m" ;;
	*) ok "$how: what is there is left alone" cmp "$m" "$T/kept" ;;
	esac
	rm -rf "$T/m" "$T/moved"
done

mkdir "$T/m"
speak -- sh -c "$sleeping"
release
rm "$m"
ended
is "an executor hears that nothing was published" \
	"$status $(event terminated '"\(.result.cause) \(.published) \(.exitStatus)"')" \
	"125 marker-lost false 125"

# Writers that write in place, or remove and make: a moment without a marker is no loss.
start -- sh -c "$sleeping"
for n in $(seq 50); do
	cp "$m" "$T/copy"
	: >"$m"
	cat "$T/copy" >"$m"
done
for n in $(seq 50); do
	ln "$m" "$T/copy.link"
	rm "$m"
	ln "$T/copy.link" "$m"
	rm "$T/copy.link"
done
is "$n times rewritten in place, $n times away: it goes on" "$(field .status)" active
kill $supervisor
ended
is "and ends as ever" "$status $(outcome)" "143 terminated supervisor supervisor-signal reaped-term"

# The lock is never removed; where it is, nobody can be sure who writes.
start -- sh -c "$sleeping"
group=$(field .group.pid)
rm "$m.lock"
kill $supervisor
ended
is "without its lock the end is not published" "$status $(field .status)" "125 terminating"
like "which is said" "$(cat "$T/err")" "fence-supervisor: *m.json*"
ok "the command is gone all the same" await -t 1 gone "$group"
done_testing
