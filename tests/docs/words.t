#!/bin/sh
# The closed lists of words are the same in the code, in the manual and in the schemas.
. "$(dirname "$0")/../lib/tap.sh"
cd "$SRC" || exit 1

# table FILE FUNCTION: the words of the table in it.
table() {
	sed -n "/^const char \\*$2(/,/^}/p" "$1" | grep -o '"[^"]*"' | tr -d '"'
}
# manual PAGE WORD...: the words that the page does not explain as an item.
unexplained() {
	page=$1
	shift
	for word; do
		grep -qx "\\.It Ql $word" "$page" || echo "$word"
	done
}
# lists WORD: every list of a schema that has the word, each sorted in a line; of all
# schemas, or of those named. The same line once.
lists() {
	word=$1
	shift
	[ $# -gt 0 ] || set -- schemas/*.json
	jq -r --arg word "$word" \
		'.. | objects | .enum? // empty | select(index($word)) | sort | join(" ")' "$@" | sort -u
}
sorted() {
	printf '%s\n' "$@" | sort | xargs
}

causes=$(table fence/vocab.c fence_cause_word)
reaps=$(table fence/vocab.c fence_reap_word)
contains=$(table fence/vocab.c fence_contain_word)
reasons=$(table supervisor/event.c event_reason_word)
like "there are words" "$causes/$reaps/$contains/$reasons" "*exited*/*clear*/*subreaper*/*busy*"

# shellcheck disable=SC2086 # lists of words
{
	is "every cause is explained" "$(unexplained man/fence.7 $causes)" ""
	is "every reap is" "$(unexplained man/fence.7 $reaps)" ""
	is "every containment is" "$(unexplained man/fence.7 $contains)" ""
	is "every reason is" "$(unexplained man/fence-protocol.7 $reasons)" ""
	is "a word that is not explained is seen" "$(unexplained man/fence.7 exited fate)" fate

	is "in every schema the causes are those" "$(lists marker-lost)" "$(sorted $causes)"
	is "the reaps are" "$(lists reaped-kill)" "$(sorted $reaps)"
	is "the containments are" "$(lists subreaper)" "$(sorted $contains)"
	is "the reasons of a refusal are" "$(lists release-timeout)" "$(sorted $reasons)"
}
sed 's/"marker-lost", //' schemas/fence-run-result-v1.json >"$T/short.json"
is "a list that lacks a word is seen" "$(lists marker-lost schemas/fence-run-result-v1.json |
	wc -l | tr -d ' ') $(lists exited "$T/short.json" schemas/fence-run-result-v1.json |
	wc -l | tr -d ' ')" "1 2"

# What keeps a host from confining: the rows of one table.
host_causes=$(sed -n '/^} rows\[\]/,/^};/s/^\t{ "\([a-z-]*\)", is_.*/\1/p' guard/confine/cause.c | sort -u)
like "hosts have causes" "$host_causes" "*max-namespaces*"
# shellcheck disable=SC2086
{
	is "every cause of a host's is explained" "$(unexplained man/fence-guard.1 $host_causes)" ""
	is "and is in every schema" "$(lists masked-proc)" "$(sorted $host_causes)"
}

table fence/spawn.c fence_spawn_step_name | sort >"$T/steps"
is "the steps of a start that failed" "$(jq -r '.properties.failure.properties.step.enum[]' \
	schemas/fence-run-result-v1.json | sort | diff "$T/steps" -)" ""
done_testing
