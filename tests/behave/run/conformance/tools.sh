# tap.sh's companion for the conformance tests: fence-run beside its peers. POSIX sh.
#
#   . "$(dirname "$0")/tools.sh"
#
# A row of a table names a function of the test, says in a sentence what it looks at, and
# holds what it answers under each tool; `-` where a tool has no such function. What
# fence-run's column holds is right; what the peers' hold is what they are known to do
# (measured with coreutils 9.1, tini 0.19, dumb-init 1.2.5, catatonit 0.1.7): a row in
# which one of them differs shows that the check can tell right from wrong.
#
#   compare <<END
#   function | sentence | fence-run | timeout | tini | dumb-init | catatonit
#   END
#
# The function gets the tool's words before the command's, with $tool set, and prints one
# line. `A/B` in a cell: either, where a peer's answer is a matter of luck.

word=61$$
tools="fence-run timeout tini dumb-init catatonit"

for tool in $tools; do
	command -v "$tool" >/dev/null 2>&1 ||
		lacks "how $tool does it" "$tool (scripts/setup test installs it)"
done

under() { # TOOL FUNCTION: what the function prints for the tool
	tool=$1
	case $tool in
	fence-run) set -- "$2" fence-run -q -- ;;
	timeout) set -- "$2" timeout 60 ;;
	tini) set -- "$2" tini -s -- ;;
	*) set -- "$2" "$tool" -- ;;
	esac
	rm -f "$T"/up "$T"/got "$T"/pid
	"$@" </dev/null
	clean
}

# What the last row left is of no interest to the next one.
clean() {
	for mark in "$word" "$T/"; do
		while pid=$(await -t 0 some "$mark"); do
			kill -KILL "$pid" 2>/dev/null
		done
	done
}

trim() {
	set -f
	# shellcheck disable=SC2086 # the blanks around a cell are not its own
	set -- $1
	set +f
	echo "$*"
}

compare() {
	while IFS='|' read -r row sentence c1 c2 c3 c4 c5; do
		row=$(trim "$row")
		sentence=$(trim "$sentence")
		for tool in $tools; do
			wanted=$(trim "$c1")
			c1=$c2 c2=$c3 c3=$c4 c4=$c5
			[ "$wanted" = - ] && continue
			command -v "$tool" >/dev/null 2>&1 || continue
			got=$(under "$tool" "$row" 2>/dev/null)
			case "/$wanted/" in
			*"/$got/"*) pass "$sentence, $tool: $got" ;;
			*) is "$sentence, $tool" "$got" "$wanted" ;;
			esac
		done
	done
}

# --- words for the functions --------------------------------------------------------

# Of fence-run the right thing is waited for, as long as a loaded machine may take; of a
# peer that it does not happen, for a moment.
within() { # SECONDS
	if [ "$tool" = fence-run ]; then echo 10; else echo "$1"; fi
}

finish() { # PID: sets $how it ended: its status, or "hangs"
	if await -t "$(within 1)" gone "$1"; then
		wait "$1"
		how=$?
	else
		kill -KILL "$1"
		wait "$1"
		how=hangs
	fi
}

rest() { # WORD: is any process there that has it in its command line?
	if await -t 0.2 none "$1"; then echo clear; else echo left; fi
}

stopped() { # PID
	if await -t "$(within 0.5)" state "$1" T; then echo stopped; else echo runs; fi
}

running() { # PID
	if await -t "$(within 0.5)" state "$1" S; then echo runs; else echo stopped; fi
}
