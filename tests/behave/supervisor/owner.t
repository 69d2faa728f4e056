#!/bin/sh
# Root ends a user's attempt: marker and lock stay the user's, so that the user's supervisor
# sees the cancel and publishes the end.
. "$(dirname "$0")/supervisor.sh"

if [ $ROOT = no ]; then
	pass "(what root does is for root to try)"
	done_testing
fi
if [ $DROPS = no ]; then
	lacks "root cancels a user's attempt" "the capabilities to become another user"
	done_testing
fi
user() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
owners() {
	stat -c %u "$m" "$m.lock" | tr '\n' ' '
}

for mode in 777 1777; do # as a folder of the user's is, and as /tmp is
	rm -f "$T/m"/*
	chmod $mode "$T/m"
	user fence-supervisor --create --attempt a --marker "$m" -- \
		sh -c "echo up >$T/m/up; exec sleep 1000" 2>"$T/err" &
	supervisor=$!
	echo $supervisor >>"$T/pids"
	await file "$T/m/up"
	is "mode $mode: control: they are the user's" "$(owners)" "65534 65534 "
	exits "mode $mode: root cancels it" 0 fence-marker cancel "$m" --wait 10s
	ended
	is "mode $mode: it was ended with TERM" $status 143
	is "mode $mode: and its end published" "$(outcome)" "cancelled supervisor cancelled reaped-term"
	is "mode $mode: they are still the user's" "$(owners)" "65534 65534 "
done

# Root is the first to need the lock.
rm -f "$T/m"/*
chmod 777 "$T/m"
user fence-marker create "$m" --attempt a --pid $$ >"$T/out"
rm -f "$m.lock"
exits "root cancels a marker that had no lock yet" 0 fence-marker cancel "$m"
is "both are the user's" "$(owners)" "65534 65534 "
done_testing
