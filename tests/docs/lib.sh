# Shared by the tests of the documents: which programs and verbs there are.

# programs: the names of all programs that were built.
programs() {
	for program in "$BIN"/fence-*; do
		basename "$program"
	done
}

# verbs PROGRAM: its verbs, one a line; nothing for a program without verbs.
verbs() {
	"$BIN/$1" --help | sed -n '1s/^usage: .* VERB .*/has verbs/p' | grep -q . || return 0
	"$BIN/$1" --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'
}

# each_command: "PROGRAM" or "PROGRAM VERB", one a line.
each_command() {
	for program in $(programs); do
		verbs=$(verbs "$program")
		if [ -z "$verbs" ]; then
			echo "$program"
		else
			printf "$program %s\n" $verbs
		fi
	done
}
