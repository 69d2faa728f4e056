#!/bin/sh
# Root's browser is not root's.
. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/browser.sh"

fake sh
show='grep -E "^(Uid|Gid|Groups|CapEff|CapPrm)" /proc/self/status | tr -s "\t " " "'
run() {
	fence-chromium "$@" --fence-browser="$T/sh" -c "$show" --user-data-dir="$T/profile" 2>"$T/log"
}
mkdir -m 700 "$T/profile"

if [ "$ROOT" = yes ]; then
	run >"$T/ids"
	is "all three uids are dropped" "$(grep Uid "$T/ids")" "Uid: 60600 60600 60600 60600"
	is "all three gids" "$(grep Gid "$T/ids")" "Gid: 60600 60600 60600 60600"
	is "all groups" "$(grep Groups "$T/ids" | tr -d ' ')" "Groups:"
	is "all capabilities" "$(grep -c 'Cap.*: 0*$' "$T/ids")" 2
	rmdir "$T/profile" && mkdir -m 700 "$T/profile"
	is "another uid can be named" "$(run --fence-uid=60601 | grep Uid)" \
		"Uid: 60601 60601 60601 60601"
	rmdir "$T/profile" && mkdir -m 700 "$T/profile"
	is "also by a variable" "$(FENCE_CHROMIUM_UID=60602 run | grep Uid)" \
		"Uid: 60602 60602 60602 60602"
	exits "root itself cannot be named" 125 fence-chromium --fence-uid=0
	# The bounding set holds no capability to change the uid: root cannot drop.
	exits "root that cannot drop is refused" 77 setpriv --bounding-set=-setuid \
		--inh-caps=-all fence-chromium --fence-browser="$T/sh"
	like "as running as root" "$(cat "$T/err")" '*running_as_root*'
else
	is "a plain user stays who he is" "$(run | grep Uid)" \
		"Uid: $WHO $WHO $WHO $WHO"
	exits "and cannot name another" 125 fence-chromium --fence-uid=60601
fi

leaves_nothing "nothing is left"
done_testing
