#!/bin/sh
# Every example of the manual page is run as it is printed there.
. "$(dirname "$0")/../../lib/tap.sh"
mkdir "$T/ex" "$T/work" "$T/stubs"

awk -v ex="$T/ex" '/^\.Sh EXAMPLES/ { on = 1 } /^\.Sh SEE/ { on = 0 }
	on && /^\.Bd/ { block = sprintf("%s/%02d", ex, ++n); next }
	/^\.Ed/ { block = "" }
	block != "" { gsub(/\\e/, "\\"); print >block }' "$SRC/man/fence-run.1"

# What the examples run: each says that it was run, and with what.
stub() { # PATH TEXT
	printf '#!/bin/sh\necho "%s $*" >>"%s/ran"\n%s\n' "${1##*/}" "$T" "$2" >"$1"
	chmod 755 "$1"
}
cd "$T/work" || exit 1
stub "$T/stubs/producer" 'seq 5'
stub "$T/stubs/filter" 'grep 3'
stub "$T/stubs/consumer" 'cat'
stub "$T/stubs/cppcheck" ''
stub "$T/stubs/lint" ''
stub "$T/stubs/server" ''
stub ./job 'echo working; exit 0'
stub ./server ''
stub ./build-anything ''
stub ./run-tests 'setsid sleep 616 >/dev/null 2>&1 & echo tested'
printf 'test check:\n\t@setsid sleep 616 >/dev/null 2>&1 & echo "make $@" >>%s/ran\n' "$T" >Makefile
mkdir out
touch a.c b.c
git init -q . && git add a.c b.c
PATH=$T/stubs:$PATH

run() { # BLOCK: runs its commands; what they print goes to $T/out
	sed -n 's/^\$ //p' "$1" >"$T/script"
	sh "$T/script" >"$T/out" 2>"$T/err"
}
seen=
for block in "$T"/ex/*; do
	rm -f "$T/ran"
	case $(cat "$block") in
	*'-- make check'*)
		what=timeout
		run "$block"
		is "instead of timeout: the tests run" "$? $(cat "$T/ran")" "0 make check"
		ok "and no daemon of theirs is left" await -t 0 none 616
		;;
	ENTRYPOINT*)
		what=tini
		# As a container engine does: the second list follows the first.
		sed 's/^[A-Z]* //' "$block" | jq -rs 'add | @sh' | sh -c 'read -r line && eval "$line"' >"$T/out" 2>&1
		is "as an entry point" "$? $(cat "$T/ran")" "0 server --port 80"
		;;
	*producer*)
		what=pipeline
		run "$block"
		is "in a pipeline" "$? $(cat "$T/out")" "0 3"
		;;
	check:*)
		what=makefile
		cp "$block" "$T/check.mk"
		make -s -f "$T/check.mk" >"$T/out" 2>"$T/err"
		is "in a Makefile: what is left behind is a failure" "$? $(cat "$T/out")" "2 tested"
		is "with a record" "$(jq -r '.exitStatus, .leftover.action, .output.stdout.tail' "$PWD/out/check.json" | xargs)" \
			"125 fail tested"
		;;
	*r.json*trap* | *trap*r.json*)
		what=record
		run "$block"
		is "the record says what happened" "$(cat "$T/out")" "$(grep -v '^\$' "$block")"
		;;
	*--events-fd*)
		what=events
		run "$block"
		is "events as they happen" "$(jq -sc 'map(.[0])' "$T/out") $(cat job.out)" \
			'["started","exited","ended"] working'
		;;
	*xargs*)
		what="xargs"
		run "$block"
		is "under find and xargs" "$? $(sort "$T/ran" | xargs)" \
			"0 cppcheck ./a.c cppcheck ./b.c lint a.c lint b.c"
		;;
	*'-- ./server'*)
		what=setsid
		run "$block"
		is "instead of setsid -w" "$? $(cat "$T/ran")" "0 server "
		;;
	*--fence*)
		what=fence
		fence-marker create m.json --attempt a1 --pid $$ >/dev/null 2>"$T/err" ||
			note "$(cat "$T/err")"
		run "$block"
		is "within an attempt" "$? $(cat "$T/ran")" "0 job "
		;;
	*'--contain best'*)
		what=contain
		run "$block"
		like "with the strongest containment" "$? $(cat "$T/out")" "0 [pcs]*"
		;;
	*'fence-guard exec'*)
		what=guard
		if fence-guard exec --profile gate -- true >/dev/null 2>&1; then
			run "$block"
			is "confined as well" $? 0
		else
			lacks "confined as well" "what fence-guard needs here (fence-guard doctor)"
		fi
		;;
	*)
		what=
		fail "an example that no test runs: $(head -n 1 "$block")"
		;;
	esac
	seen="$seen $what"
done
is "all are there" "$seen" \
	" timeout tini pipeline makefile record events xargs setsid fence contain guard"
ok "nothing is left" await none 616
done_testing
