# What the tests of nesting share: the scenarios of tests/behave/guard, each whole, inside
# of another sandbox. What cannot hold there is named, and is looked for: a row that holds
# after all is a failure as well.

# What holds of paths, processes, descriptors, calls and refusals.
scenarios="protect deny hostile overlay placeholders mandatory processes refusals status handover network calls
	limits landlock writes terminal privileges proc ports escapes/scenarios"

# cannot WHO SCENARIO NAME: that row cannot hold here; WHO is root, user or both
cannot() {
	case $1 in
	both) ;;
	root) [ "$ROOT" = yes ] || return 0 ;;
	user) [ "$ROOT" = no ] || return 0 ;;
	esac
	echo "$2|$3" >>"$T/cannot"
}
: >"$T/cannot"

# inside TITLE SCENARIO COMMAND... : runs it inside of COMMAND
inside() {
	inside_title="$2.t inside of $1"
	inside_file=$SRC/tests/behave/guard/$2.t
	sed -n "s:^$2|::p" "$T/cannot" | sort >"$T/wanted"
	shift 2
	"$@" sh "$inside_file" >"$T/rows" 2>"$T/said" </dev/null
	sed -n 's/^not ok [0-9]* - //p' "$T/rows" | sort >"$T/not"
	if ! grep -q '^1\.\.[1-9]' "$T/rows"; then
		fail "$inside_title ends"
		note "$(tail -5 "$T/said")"
	elif cmp -s "$T/wanted" "$T/not"; then
		pass "$inside_title: $(grep -c '^ok' "$T/rows") rows hold, $(grep -c . "$T/not") cannot"
	else
		fail "$inside_title"
		note "$(diff "$T/wanted" "$T/not")"
		note "$(head -c 3000 "$T/said")"
	fi
}

# all TITLE COMMAND... : every scenario
all() {
	all_title=$1
	shift
	for all_scenario in $scenarios; do
		inside "$all_title" "$all_scenario" "$@"
	done
}
