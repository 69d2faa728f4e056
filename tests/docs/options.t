#!/bin/sh
# The option table, --help, the completions and the manual name the same options.
. "$(dirname "$0")/../lib/tap.sh"
. "$SRC/tests/docs/lib.sh"

# The pages are read through mandoc, as a person would see them, without overstrike.
page_of() {
	mandoc -Tascii "$SRC/man/$1.1" | sed 's/.\x08//g'
}

same_words() {
	printf '%s\n' "$2" | sort -u >"$T/a"
	printf '%s\n' "$3" | sort -u >"$T/b"
	if cmp -s "$T/a" "$T/b"; then
		pass "$1"
	else
		fail "$1"
		note "$(diff "$T/a" "$T/b" | sed -n 's/^</only in the table:/p; s/^>/only there:/p')"
	fi
}

commands=$(each_command)
like "there are programs to look at" "$commands" "*fence-run*"
while read -r program verb; do
	options=$("$BIN/$program" $verb --print-options)
	name="$program${verb:+ $verb}"
	like "$name has a table" "$options" "*--help*"
	same_words "$name: --help names what the table has" "$options" \
		"$("$BIN/$program" $verb --help | sed -n 's/^ *\(-[a-zA-Z], \)\{0,1\}\(--[a-z][a-z0-9-]*\).*/\2/p')"
	too_wide=$("$program" $verb --help | awk 'length > 80')
	is "$name: --help fits 80 columns" "$too_wide" ""
	page=$(page_of "$program")
	missing=
	for option in $options; do
		case $page in
		*"$option"*) ;;
		*) missing="$missing $option" ;;
		esac
	done
	is "$name: the manual names every option" "$missing" ""
	for shell in bash zsh fish; do
		text=$("$BIN/$program" --completions $shell)
		missing=
		for option in $options; do
			word=$option
			[ $shell != fish ] || word="-l ${option#--}"
			case $text in
			*"$word"*) ;;
			*) missing="$missing $option" ;;
			esac
		done
		is "$name: $shell completions offer every option" "$missing" ""
	done
done <<EOF
$commands
EOF

# And the other way round: an option in the manual exists in some table of the program.
for program in $(programs); do
	known=$(each_command | sed -n "s/^$program\\( \\|\$\\)//p" | while read -r verb; do
		"$BIN/$program" $verb --print-options
	done)
	unknown=
	for option in $(sed -n 's/^\.It Fl -\([a-z][a-z0-9-]*\).*/--\1/p; s/^\.It Fl [a-zA-Z] , Fl -\([a-z][a-z0-9-]*\).*/--\1/p' \
		"$SRC/man/$program.1"); do
		case "
$known
" in
		*"
$option
"*) ;;
		*) unknown="$unknown $option" ;;
		esac
	done
	is "$program: the manual lists no option that does not exist" "$unknown" ""
done
# The control: a table is really compared.
same=$(same_words x "--a" "--b" | head -n 1)
like "a difference is seen" "$same" "not ok*"
done_testing
