#!/bin/sh
# Profile chromium leaves Chromium its own sandbox, which fence-chromium proves.
. "$(dirname "$0")/guard.sh"

command -v chromium >/dev/null || { lacks "Chromium's sandbox inside of ours" chromium; done_testing; }
chmod 1777 "$W"
echo '<h1>hello</h1>' >page.html
ok "a page is opened inside" guard --profile chromium -- fence-chromium --fence-evidence="$W/evidence" \
	--headless=new --screenshot="$W/page.png" "file://$W/page.html"
ok "its picture is outside" test -s page.png
is "its sandbox is proven" "$(jq -r .state evidence)" sandboxed
ok "--strict takes nothing that it needs" guard --strict --profile chromium -- fence-chromium \
	--fence-evidence="$W/strict" --headless=new --dump-dom "file://$W/page.html"
is "its sandbox is proven there, too" "$(jq -r .state strict)" sandboxed
exits "profile gate lets no browser have its sandbox" 77 guard -- fence-chromium --headless=new --dump-dom about:blank
done_testing
