#!/bin/sh
# The manual pages are well formed, and nothing refers to what is not there.
. "$(dirname "$0")/../lib/tap.sh"
cd "$SRC" || exit 1

for page in man/*.[157]; do
	is "$page has no warning" "$(mandoc -Tlint -W warning "$page" 2>&1)" ""
done
for page in man/*.[157]; do
	for reference in $(sed -n 's/^\.Xr \(fence[a-z-]*\) \([157]\).*/\1.\2/p' "$page" | sort -u); do
		ok "$page refers to $reference, which exists" test -e "man/$reference"
	done
done
for link in $(sed -n 's/.*](\([^)#:]*\)).*/\1/p' ./*.md); do
	ok "a document links to $link, which exists" test -e "$link"
done
done_testing
