#!/bin/sh
# Whatever an executor gets wrong before the start, it is told which, and the command
# never ran.
. "$(dirname "$0")/../lib/tap.sh"
. "$SRC/tests/interop/interop.sh"
program python-refusals "$PYTHON" refusals.py
program node-refusals "$NODE" refusals.mjs

for language in $languages; do
	mkdir "$T/$language.folder"
	exits "$language: the faults are made" 0 "$T/$language-refusals" "$T/$language.folder"
	while read -r fault reason; do
		wanted="$fault $reason 77 idle"
		[ "$fault" != none ] || wanted="none terminated 0 ran"
		is "$language: $fault" "$(grep "^$fault " "$T/out")" "$wanted"
	done <<-FAULTS
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
		terminate-first out-of-order
	FAULTS
	is "$language: there is a line for each" "$(wc -l <"$T/out")" 20
	is "$language: each is told of on standard error, too" \
		"$(grep -c '^fence-supervisor: ' "$T/err")" 19
	is "$language: a cancelled marker stays as it was made" \
		"$(jq -r '[.status, .by, .result] | map(tostring) | join(" ")' \
			"$T/$language.folder/cancelled.json")" "cancelled cancel null"
	is "$language: and one that was not approved" \
		"$(jq -r '[.status, .by] | join(" ")' "$T/$language.folder/wrong-inode.json")" \
		"active executor"
	is "$language: nothing is left beside the markers" \
		"$(cd "$T/$language.folder" && echo .*.json.*)" ".*.json.*"
done

done_testing
