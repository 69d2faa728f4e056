#!/bin/sh
# The command line: what is not understood is said in one line, and nothing happens.
. "$(dirname "$0")/bwrap.sh"
b="--ro-bind / / --dev /dev"

# shellcheck disable=SC2086 # words
{
	says "a command" hi $b echo hi
	says "after --" hi $b -- echo hi
	mkdir bin
	printf '#!/bin/sh\necho called\n' >bin/--bind
	chmod 755 bin/--bind
	PATH=$W/bin:$PATH
	says "which may look like an option" called $b -- --bind a b
	refuses "no command" "nothing to run: no command; see fence-bwrap --help" $b
	refuses "an unknown option" "Unknown option: --ro-bnd; did you mean --ro-bind?" --ro-bnd / /
	refuses "a letter" "Unknown option: -x*" -x true
	refuses "one word too few" "--bind: takes two arguments" $b --bind /
	refuses "none at all" "--chdir: takes an argument" --chdir
	refuses "not a descriptor" "Invalid fd: 0a" --seccomp 0a $b true
	refuses "nor a negative one" "Invalid fd: -1" --sync-fd -1 $b true
	refuses "not a uid" "Invalid uid: abc" --unshare-user --uid abc $b true
	exits "nor one that is too large" 1 fence-bwrap --unshare-user --uid 4294967295 $b true
	refuses "--perms without an option to it" "--perms: must be followed*" \
		$b --perms 0700 --bind / /x true
	refuses "--perms twice" "--perms: given twice*" $b --perms 0700 --perms 0700 --dir /x true
	refuses "not octal" "--perms: takes an octal*" $b --perms 8 --dir /x true
	refuses "--size without its tmpfs" "--size: must be followed by --tmpfs" \
		$b --size 100 --dir /x true
	refuses "a size of nothing" "--size 0: takes a positive*" $b --size 0 --tmpfs /x true
	ok "nothing was made" test ! -e /x

	printf '%s\0' --setenv A 'b  c' --ro-bind / / >args
	IN=args
	says "--args" "b  c" --args 3 sh -c 'echo "$A"'
	printf '%s\0%s' --setenv A >args
	exits "a word too few in it" 1 fence-bwrap --args 3 $b true 3<args
	is "is said" "$(cat "$T/err")" "fence-bwrap: --setenv: takes two arguments"
	printf '%s\0' --args 4 >args
	printf '%s\0' --setenv A nested >./more
	is "--args in --args" "$(fence-bwrap --args 3 $b sh -c 'echo $A' 3<args 4<./more)" nested
	printf '%s\0' --setenv A b true >args
	exits "a command in it" 1 fence-bwrap --args 3 $b true 3<args
	like "is refused, not lost" "$(cat "$T/err")" 'fence-bwrap: --args: "true": it is no option'
	exits "from a descriptor that is not open" 1 fence-bwrap --args 77 $b true

	# Its names.
	ln -s "$BIN/fence-bwrap" bin/bwrap
	is "called bwrap, it speaks as bwrap" "$(bwrap --foo 2>&1)" "bwrap: Unknown option: --foo"
	like "in its help, too" "$("$W/bin/bwrap" --help)" "usage: $W/bin/bwrap *"
	is "fence-guard --bwrap is the same" "$(fence-guard --bwrap $b echo hi)" hi
	exits "with the same status" 7 fence-guard --bwrap $b sh -c 'exit 7'
	like "and the same words" "$(fence-guard --bwrap --foo 2>&1)" "fence-bwrap: Unknown option*"
}
done_testing
