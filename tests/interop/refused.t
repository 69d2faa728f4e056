#!/bin/sh
# Whatever an executor gets wrong before the start, it is told which, and the command
# never ran.
. "$(dirname "$0")/../lib/tap.sh"
. "$SRC/tests/interop/interop.sh"
program python-refusals "$PYTHON" refusals.py
program node-refusals "$NODE" refusals.mjs

wanted='
	none -
	wrong-inode not-approved
	wrong-folder not-approved
	wrong-state not-approved
	wrong-supervisor not-approved
	other-attempt not-approved
	cancelled not-approved
	copied not-approved
	removed not-approved
	end-of-input end-of-input
	release-timeout release-timeout
	numbers malformed
	missing malformed
	unknown-word malformed
	doubled malformed
	not-json malformed
	empty malformed
	half malformed
	too-long too-long
	terminate-first out-of-order'

for language in $languages; do
	for way in pipe socket; do
		name="$language, $way"
		d=$T/$language.$way
		mkdir "$d"
		exits "$name: the faults are made" 0 "$T/$language-refusals" "$d" $way
		while read -r fault reason; do
			line="$fault $reason 77 idle"
			[ "$fault" != none ] || line="none terminated 0 ran"
			[ -z "$fault" ] || is "$name: $fault" "$(grep "^$fault " "$T/out")" "$line"
		done <<-FAULTS
			$wanted
		FAULTS
		is "$name: there is a line for each" "$(wc -l <"$T/out")" 20
		is "$name: each is told of on standard error, too" \
			"$(grep -c '^fence-supervisor: ' "$T/err")" 19
		is "$name: nobody else spoke" "$(grep -cv '^fence-supervisor: ' "$T/err")" 0
		is "$name: a cancelled marker stays as it was made" \
			"$(jq -r '[.status, .by, .result] | map(tostring) | join(" ")' \
				"$d/cancelled.json")" "cancelled cancel null"
		is "$name: and one that was not approved" \
			"$(jq -r '[.status, .by] | join(" ")' "$d/wrong-inode.json")" "active executor"
		is "$name: nothing is left beside the markers" "$(cd "$d" && echo .*.json.*)" ".*.json.*"
	done
done

done_testing
