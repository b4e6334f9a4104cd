#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The library and the command line compile with the headers of musl, Alpine's and OpenWrt's C library.
# Those of other libraries are this machine's, which has none for musl; `make all` first.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
cd "$ROOT" || exit 2

command -v musl-gcc >/dev/null || { not_ok "musl-gcc" "install musl-tools"; exit; }
include=(-I include -I include/uapi -I build -I user -I user/lib -I user/api -idirafter /usr/include
	-idirafter "/usr/include/$(gcc -print-multiarch)")
find user/lib user/cli user/api -name '*.c' | sort >"$TMP/sources"
# In processes of 40 files each: musl-gcc itself takes longer than a small file.
xargs -n 40 -P 2 musl-gcc -std=gnu11 -fsyntax-only -w -D_GNU_SOURCE "${include[@]}" <"$TMP/sources" >"$TMP/out" 2>&1
status=$?
check "all of them compile" test "$status" -eq 0
grep ' error: ' "$TMP/out" | sed 's/^/# /'
is "they are all" "$(($(wc -l <"$TMP/sources") > 400))" 1
