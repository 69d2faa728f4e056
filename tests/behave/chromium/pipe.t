#!/bin/sh
# A client that talks over the debugging pipe: descriptors 3 and 4 are the browser's.
. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/browser.sh"

mkfifo "$T/to" "$T/from"
# shellcheck disable=SC2086
launch $QUIET --remote-debugging-pipe --no-sandbox "$PAGE" 3<>"$T/to" 4<>"$T/from"
ok "every renderer is proven" reaches sandboxed
printf '{"id":1,"method":"Browser.getVersion"}\0' >"$T/to"
# One read of the pipe: the answer comes whole.
answer=$(timeout 10 dd bs=65536 count=1 2>/dev/null <"$T/from" | tr '\0' '\n')
like "the browser answers through it" "$answer" '*"id":1*"product":"*Chrom*'
printf '{"id":2,"method":"Browser.close"}\0' >"$T/to"
closes
is "and ends when it is told to" "$STATUS" 0
leaves_nothing "nothing is left"
done_testing
