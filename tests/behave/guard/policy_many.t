#!/bin/sh
# Two thousand denied paths in a policy: all of them are closed, and the start does not
# wait for it.
. "$(dirname "$0")/guard.sh"

mkdir many
seq -f 'many/%g' 2000 | while read -r name; do
	echo secret >"$name"
done
{
	printf 'version: 1\nprofiles: {gate: {files: {deny: [\n'
	seq -f 'many/%g,' 2000
	printf ']}}}\n'
} >policy.yaml
is "control: they can be read" "$(guard -- sh -c 'cat many/* | wc -l | tr -d " "')" 2000
is "none of them can" "$(guard --policy policy.yaml -- sh -c 'cat many/* 2>/dev/null | wc -l | tr -d " "')" 0
is "each is refused" "$(guard --policy policy.yaml -- sh -c 'cat many/* 2>&1 | grep -c "Permission denied"')" 2000
is "a descriptor for each is not needed" \
	"$(ulimit -S -n 200 && guard --policy policy.yaml -- sh -c 'cat many/7 2>&1; ulimit -n')" \
	"cat: many/7: Permission denied
200"
like "explain finds one among them" "$(fence-guard explain --policy policy.yaml --path many/1999)" \
	"many/1999: deny: deny many/1999 (policy.yaml:2001:1); enforced by mount"

{
	printf 'version: 1\nprofiles: {gate: {files: {deny: [\n'
	seq -f 'many/%g,' 2000 | sed 'p;p;p;p;p;p'
	printf ']}}}\n'
} >twice.yaml
exits "twelve thousand repeats are faults" 65 fence-policy twice.yaml
is "of which the first 64 are shown" "$(wc -l <"$T/err" | tr -d ' ')" 65
like "and the rest counted" "$(tail -n 1 "$T/err")" "fence-policy: twice.yaml: and 11936 faults more"
{
	printf 'version: 1\nprofiles: {gate: {files: {deny: ['
	seq -s, -f 'many/%g' 17000
	printf ']}}}\n'
} >long.yaml
exits "there is a bound" 65 fence-policy long.yaml
like "which is said" "$(cat "$T/err")" "*more than 16384 values in the file*"
done_testing
