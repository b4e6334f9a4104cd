#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The pages of --html in a headless Chromium: each is stepped through forwards and backwards, on a
# wide screen and on a phone, in light and dark, and its console stays empty. For `make check-all`;
# the pictures are left in build/pages/pictures, to be looked at.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

PAGES=$ROOT/build/pages
rm -rf "$PAGES"
mkdir -p "$PAGES/pictures"
check "the pages of the textbooks' examples" make -s -C "$ROOT/examples/textbook" \
	BALEEN="$BALEEN" PAGES="$PAGES"
mapfile -t pages < <(sed -n 's/.*href="\([^"]*\)".*/\1/p' "$PAGES/index.html")
is "the index names each page" "$(printf '%s\n' "${pages[@]}" index.html | sort)" \
	"$(cd "$PAGES" && printf '%s\n' *.html | sort)"
cd "$TMP" || exit 2
printf 'Copenhagen\n' >one.txt
check "a filter" "$BALEEN" build --key string --kind classic --hash murmur3 --bits 100 -o one.bln one.txt
cp one.bln "<img src=x onerror=alert(1)>'.bln"
"$BALEEN" show --html "<img src=x onerror=alert(1)>'.bln" '</script><img src=x onerror=alert(1)>' >hostile.html
printf '192.0.2.0/24\n198.51.100.7\n2001:db8::/32\n' >mixed.txt
"$BALEEN" show --html --from 0 --count 64 mixed.txt 192.0.2.9 2001:db8::1 >secret.html
check "Chromium opens them and steps through" /usr/bin/python3 "$ROOT/tests/html/browser.py" \
	"$PAGES/pictures" "${pages[@]/#/$PAGES/}" hostile.html secret.html
is "without a complaint" "$(<"$TMP/out")" ""
