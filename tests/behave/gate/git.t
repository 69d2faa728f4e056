#!/bin/sh
# What git does in a stage is done in a copy of the repository, and that nothing of it is
# kept is said where somebody looks.
. "$(dirname "$0")/../../lib/tap.sh"
. "$SRC/tests/behave/gate/gate.sh"

if ! command -v git >/dev/null || ! fence-guard exec -- true; then
	lacks "git in a stage" "git, and namespaces for fence-guard"
	done_testing
fi
git init -q .
commit="git -c user.name=n -c user.email=e@example.org commit -q --allow-empty -m x"
$commit
hash=$(find .git -type f -exec sha256sum {} + | sort | sha256sum)

mkfifo one two
gates look, a, b <<END
  - {id: look, command: [git, status]}
  - {id: a, command: [sh, -c, "$commit && : >.git/index.lock && echo x >one && read x <two"]}
  - {id: b, command: [sh, -c, "read x <one && $commit && echo x >two && test \$(git rev-list --count HEAD) = 2"]}
END
run_all --jobs 3
is "stages commit, side by side" "$status $(record '[.stages[].result] | join(" ")')" "0 passed passed passed"
is "the repository is as it was" "$(find .git -type f -exec sha256sum {} + | sort | sha256sum)" "$hash"
kept='/*/kept/*K'
like "the table says where it is" "$(cat "$T/err")" "*a *passed *what git did is in $kept, not in */.git*"
like "the record, too" "$(record '.stages[1].detail')" "what git did is in $kept, not in $(pwd -P)/.git"
folder=$(record '.stages[1].detail' | sed 's/^what git did is in \(.*\), not in .*/\1/')
is "which has it" "$(grep -c ' refs/heads/[^@]*$' "$folder/names")" 1
is "of who only looked nothing is said" "$(record '.stages[0].detail')" null
like "the log has what to do" "$(tail -n 1 .fence/runs/*/b.log)" \
	"fence-guard: what git did in $(pwd -P)/.git was not kept there, but in $kept; --rw $(pwd -P)/.git keeps it"
done_testing
