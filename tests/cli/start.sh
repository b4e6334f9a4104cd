#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What baleen loads when it starts, and what a library that is loaded later says when it is
# missing.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

loaded=$(ldd "$TMP/baleen" | sed -nE 's/^\s*(lib[a-z0-9_+-]*).*/\1/p' | sort)
is "no library of the web, TLS or the terminal is loaded at start" \
	"$(grep -E '^lib(microhttpd|curl|gnutls|crypto|ssl|ncurses|tinfo)' <<<"$loaded")" ""
is "nor later, but those of the terminal and of logind" \
	"$(sed -nE 's/^#define (.*) ".*/\1/p' "$ROOT/build/late.h" | sort)" \
	$'BALEEN_LIBNCURSESW\nBALEEN_LIBSYSTEMD'
check "those of the kernel and of filters are" grep -qx libbpf <<<"$loaded"

# What fetches is a program of its own. A file of the name of its library is no library.
FETCH=$TMP/libexec/baleen/baleen-fetch
curl=$(ldd "$FETCH" | sed -nE 's/^\s*(libcurl\S*).*/\1/p')
check "which loads it" test -n "$curl"
mkdir "$TMP/broken"
: >"$TMP/broken/$curl"
chmod -R a+rX "$TMP/broken"
seed() { user "$@" "$TMP/baleen" icp seed -o got.bln http://127.0.0.1:1/store_digest; }
mv "$FETCH" "$FETCH.broken"
printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s.broken\n' "$TMP/broken" "$FETCH" >"$FETCH"
chmod 0755 "$FETCH"
check_status "a fetch without libcurl fails" 1 seed
is "it says so in one line" "$(wc -l <"$TMP/err")" 1
is "and names the library" "$(grep -c "^baleen: http://127.0.0.1:1/store_digest: .*$curl" \
	"$TMP/err")" 1
printf '#!/bin/sh\nexit 0\n' >"$FETCH"
check_status "one by a program that says nothing" 1 seed
is "is told so" "$(<"$TMP/err")" \
	"baleen: http://127.0.0.1:1/store_digest: baleen-fetch ended without a word"
printf '#!/bin/sh\ncat >/dev/null\n' >"$FETCH"
gzip -c <<<192.0.2.1 >"$TMP/list.gz"
chmod a+r "$TMP/list.gz"
chmod 0644 "$FETCH"
[ -x /usr/libexec/baleen/baleen-fetch ] ||
	check_status "a packed list needs the program, too" 1 user "$TMP/baleen" build -o list.bln "$TMP/list.gz"
check "a command that fetches nothing does not care" user "$TMP/baleen" --version
