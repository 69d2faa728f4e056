#!/bin/sh
# An executor in another language runs a command to its own end, and can believe it.
. "$(dirname "$0")/../lib/tap.sh"
. "$SRC/tests/interop/interop.sh"

for language in $languages; do
	for over in --pipes --socket; do
		flag=
		[ "$over" = --pipes ] || flag=$over
		for code in 0 7; do
			m=$T/$language$over$code.json
			name="$language $over, exit $code"
			# shellcheck disable=SC2086 # no flag is no word
			exits "$name: the executor is content" 0 "$T/$language" $flag "$m" a.1 -- \
				sh -c 'echo out; echo err >&2; exit $0' $code
			mv "$T/out" "$T/said"
			[ "$over" = --pipes ] || sed -i '/^out$/d' "$T/said"
			is "$name: what it heard" "$(events)" "ready started terminated"
			is "$name: how it ended" "$(outcome)" "exited $code - clear $code terminated"
			same_marker "$name: both readers see the same marker" "$m"
			is "$name: the marker carries the result" \
				"$(said 'last.marker.result.code')" "$code"
		done
	done
	# Standard output is the protocol's, so the command's goes to standard error.
	m=$T/$language.streams.json
	"$T/$language" "$m" a.1 -- sh -c 'cat; echo out; ls /proc/self/fd' >"$T/said" 2>"$T/err"
	is "$language: the command's output is not among the events" "$(events)" \
		"ready started terminated"
	is "$language: it has three descriptors and nothing to read" "$(tr '\n' ' ' <"$T/err")" \
		"out 0 1 2 3 " # 3 is the listing's own
	"$T/$language" --socket "$m.2" a.1 -- ls /proc/self/fd >"$T/out" 2>/dev/null </dev/null
	is "$language: nor has it the socket" "$(grep -v '^{' "$T/out" | tr '\n' ' ')" "0 1 2 3 "
done

done_testing
