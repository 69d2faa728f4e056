#!/bin/sh
# Any process ends an attempt by its marker alone: through the executor's own writer (in
# Node one that knows nothing of the lock), or through fence-marker.
. "$(dirname "$0")/../lib/tap.sh"
. "$SRC/tests/interop/interop.sh"

for language in $languages; do
	for by in executor fence-marker; do
		m=$T/$language.$by.json
		name="$language, cancelled by $by"
		"$T/$language" "$m" a.1 -- sh -c 'echo up >"$0"; sleep 100 & wait' "$m.up" \
			>"$T/said" 2>"$T/err" &
		executor=$!
		ok "$name: the command runs" await file "$m.up"
		if [ $by = executor ]; then
			kill -USR1 $executor
		else
			ok "$name: it is asked" fence-marker cancel "$m"
		fi
		wait $executor
		is "$name: what it heard" "$(events)" "ready started terminating terminated"
		is "$name: how it ended" "$(outcome)" "cancelled - 15 reaped-term 143 cancelled"
		is "$name: what was asked and what was done differ" \
			"$(said 'last.marker | [.status, .result.cause] | join(" ")')" \
			"cancelled cancelled"
		same_marker "$name: both readers see the same marker" "$m"
		is "$name: nothing is left beside the marker" \
			"$(cd "$T" && echo ."$language.$by.json."*)" ".$language.$by.json.*"
	done
done

done_testing
