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
check "those of the kernel and of filters are" grep -qx libbpf <<<"$loaded"

# The name that the program asks for, and a file of that name that is no library.
library() { sed -n "s/^#define $1 \"\(.*\)\"\$/\1/p" "$ROOT/build/late.h"; }
mkdir "$TMP/broken"
for name in BALEEN_LIBCURL BALEEN_LIBNCURSESW; do
	check "$name has a file" test -n "$(library "$name")"
	: >"$TMP/broken/$(library "$name")"
done
chmod -R a+rX "$TMP/broken"
check_status "a fetch without libcurl fails" 1 \
	user env LD_LIBRARY_PATH="$TMP/broken" "$TMP/baleen" icp seed -o got.bln http://127.0.0.1:1/store_digest
is "it says so in one line" "$(wc -l <"$TMP/err")" 1
is "and names the library" "$(grep -c "^baleen: cannot load a library: .*$(library BALEEN_LIBCURL)" \
	"$TMP/err")" 1
check "a command that fetches nothing does not care" \
	user env LD_LIBRARY_PATH="$TMP/broken" "$TMP/baleen" --version
