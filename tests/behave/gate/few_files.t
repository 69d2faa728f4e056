#!/bin/sh
# With hardly a descriptor to be had the gate cannot go on; what its stages started ends all
# the same.
. "$(dirname "$0")/../../lib/tap.sh"
word=613.$$
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
cd "$T" || exit 1
cat >gates.yaml <<END
version: 1
stages:
  - { id: one, command: [sh, -c, "setsid sleep $word & exec sleep $word"], timeout: 300ms, sandbox: none }
  - { id: two, command: [sh, -c, "setsid sleep $word & exec sleep $word"], timeout: 300ms, sandbox: none }
gates:
  - { id: main, tier: full, stages: [one, two], changes: anything }
END
exits "control: both stages run out of time" 3 fence-gate run main
ok "and leave nothing" await -t 1 none $word
bad=
for n in 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22; do
	prlimit --nofile=$n fence-gate run main >/dev/null 2>&1
	case $? in
	0) bad="$bad $n:passed" ;;
	esac
	await -t 2 none $word || bad="$bad $n:left"
done
is "with 7 to 22 descriptors nothing is left, and nothing passes" "$bad" ""
done_testing
