#!/bin/sh
# The manual pages are well formed, and nothing refers to what is not there.
. "$(dirname "$0")/../lib/tap.sh"
cd "$SRC" || exit 1

for page in man/*.[1357]; do
	is "$page has no warning" "$(mandoc -Tlint -W warning "$page" 2>&1)" ""
done
for page in man/*.[1357]; do
	for reference in $(sed -n 's/^\.Xr \([a-z]*fence[a-z-]*\) \([1357]\).*/\1.\2/p' "$page" | sort -u); do
		ok "$page refers to $reference, which exists" test -e "man/$reference"
	done
done
for link in $(sed -n 's/.*](\([^)#:]*\)).*/\1/p' ./*.md); do
	ok "a document links to $link, which exists" test -e "$link"
done
done_testing
