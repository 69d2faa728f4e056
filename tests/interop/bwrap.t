#!/bin/sh
# bubblewrap's own tests, from its Debian source package, with fence-bwrap in the place of
# bwrap: under a link of that name, as whoever swaps it in has it. The sources come through
# the machine's own archives, once; FENCE_BWRAP_SOURCE names a folder that has them.
. "$(dirname "$0")/../lib/tap.sh"

base=${FENCE_BWRAP_SOURCE:-/var/tmp/fenceline-bubblewrap-$(id -u)}
# What somebody else put there is not run.
[ ! -e "$base" ] || [ "$(stat -c %u "$base")" = "$(id -u)" ] || base=$T/source
fetch() {
	[ ! -e "$base/tests/test-run.sh" ] || return 0
	command -v apt-get >/dev/null && command -v dpkg-source >/dev/null || return 1
	work=$T/fetch
	mkdir -p "$work/parts" "$work/lists/partial" "$work/cache/archives/partial"
	for list in /etc/apt/sources.list.d/*.sources; do
		[ ! -e "$list" ] || sed 's/^Types:.*/Types: deb-src/' "$list" \
			>"$work/parts/$(basename "$list")"
	done
	cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
		sed -n 's/^deb /deb-src /p' >"$work/parts/ours.list"
	cat >"$work/apt.conf" <<-X
		Dir::Etc::sourcelist "/dev/null";
		Dir::Etc::sourceparts "$work/parts";
		Dir::State::lists "$work/lists";
		Dir::Cache "$work/cache";
		APT::Sandbox::User "$(id -un)";
		Acquire::Retries "1";
		Acquire::http::Timeout "20";
	X
	(cd "$work" && export APT_CONFIG="$work/apt.conf" &&
		timeout 90 apt-get -q update && timeout 60 apt-get -q source bubblewrap) \
		>"$work/log" 2>&1 || {
		note "$(tail -n 3 "$work/log")"
		return 1
	}
	rm -rf "$base"
	mv "$work"/bubblewrap-*/ "$base"
}

if ! fetch; then
	lacks "bubblewrap's own tests" "its Debian source package (apt-get source bubblewrap)"
	done_testing
fi
for tool in getpcaps capsh findmnt python3 bash; do
	PATH=$PATH:/usr/sbin:/sbin
	command -v $tool >/dev/null || lacks "checks that use it" "$tool"
done

# One check of theirs leaves a file in /tmp.
: >"$T/start"
tidy() {
	find /tmp -maxdepth 1 -name 'bwrap-test-????????' -user "$(id -u)" -newer "$T/start" -delete
}

# Started with the name of bwrap: one check looks for "bwrap: " before a message.
mkdir "$T/bin"
ln -s "$BIN/fence-bwrap" "$T/bin/bwrap"

for script in test-run.sh test-specifying-userns.sh test-specifying-pidns.sh; do
	(cd "$base" && BWRAP=$T/bin/bwrap bash "tests/$script") >"$T/out" 2>"$T/err"
	status=$?
	planned=$(sed -n 's/^1\.\.//p' "$T/out")
	passed=$(grep -c '^ok' "$T/out")
	skipped=$(grep -c '^ok.*# SKIP' "$T/out")
	is "$script passes" $status 0
	is "$script: all $planned of its checks" "$passed" "$planned"
	note "$script: $passed passed, $skipped of them with nothing to check on this machine"
	[ $status = 0 ] || note "$(tail -n 15 "$T/err")"
	is "$script: none that is not ok" "$(grep -c '^not ok' "$T/out")" 0
done

# The control: the script sees a bwrap that does not do its work.
printf '#!/bin/sh\n[ "$1" != --help ] || { echo "usage: $0"; exit 0; }\nwhile [ $# -gt 1 ]; do shift; done\nexec "$1"\n' \
	>"$T/bin/fake"
chmod 755 "$T/bin/fake"
(cd "$base" && BWRAP=$T/bin/fake bash tests/test-run.sh) >"$T/out" 2>"$T/err"
fails "a program that only starts the command does not pass" test $? = 0
tidy
done_testing
