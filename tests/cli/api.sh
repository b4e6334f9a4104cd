#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The public library as others use it: installed, found by pkg-config, linked, run.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

DEST=$TMP/dest
LIB=$DEST/usr/lib
API=$(sed -n 's/^\t\(baleen_.*\);$/\1/p' "$ROOT/user/api/libbaleen.map" | sort)

# pkg OPTION...: pkg-config over what was installed
pkg()
{
	PKG_CONFIG_PATH=$LIB/pkgconfig PKG_CONFIG_SYSROOT_DIR=$DEST pkg-config "$@" libbaleen
}

# library COMMAND...: with the shared library that was installed
library()
{
	user env LD_LIBRARY_PATH="$LIB" "$@"
}

check "make install" make -s -C "$ROOT" install DESTDIR="$DEST" prefix=/usr
chmod -R a+rX "$DEST"

# --- symbols ---

is "the shared library has its API and nothing else" \
	"$(nm -D --defined-only "$LIB/libbaleen.so" | sed -n 's/.* T //p' | sort)" \
	"${API//$'\n'/@@LIBBALEEN_0.1$'\n'}@@LIBBALEEN_0.1"
is "so has the static one" \
	"$(nm --extern-only --defined-only "$LIB/libbaleen.a" | sed -n 's/.* [A-TV-Z] //p' | sort)" "$API"
is "all of it is declared" \
	"$(grep -oE '^[a-z].*\bbaleen_[a-z_]+\(' "$LIB/../include/baleen/libbaleen.h" |
		sed 's/.*\(baleen_[a-z_]*\)($/\1/' | sort)" "$API"
is "programs ask for it by" "$(objdump -p "$LIB/libbaleen.so" | awk '$1 == "SONAME" { print $2 }')" \
	libbaleen.so.0

# --- the example ---

is "pkg-config knows its version" "$(pkg --modversion)" 0.1
# shellcheck disable=SC2046 # words
check "the example builds without a warning" gcc -Wall -Wextra -Werror $(pkg --cflags) \
	-o "$TMP/ask" "$ROOT/examples/ask.c" $(pkg --libs)
# shellcheck disable=SC2046
check "also against the static library" gcc -Wall -Wextra -Werror $(pkg --cflags) \
	-o "$TMP/ask-static" "$ROOT/examples/ask.c" "$LIB/libbaleen.a" \
	$(pkg --static --libs | sed 's/-lbaleen\b//')
check "needs the shared one" sh -c "objdump -p $TMP/ask | grep -q 'NEEDED *libbaleen.so.0$'"
check_status "and not the other way" 1 sh -c "objdump -p $TMP/ask-static | grep -q libbaleen.so"
echo '#include <baleen/libbaleen.h>' >"$TMP/alone.c"
# shellcheck disable=SC2046
check "the header stands alone" gcc -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only \
	$(pkg --cflags) "$TMP/alone.c"
check "its Makefile builds it" env PKG_CONFIG_PATH="$LIB/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$DEST" \
	make -s -f "$ROOT/examples/Makefile" VPATH="$ROOT/examples" ask

printf '192.0.2.1\n10.0.0.0/8\n!10.1.0.0/16\n' >list.txt
chmod 0644 list.txt
for program in ask ask-static; do
	expect "$program asks an image it built" 0 "9 entries, prefixes, exact
192.0.2.1 listed
10.2.3.4 listed
10.1.2.3 not listed" "" library "$TMP/$program" -b list.txt example.bln 192.0.2.1 10.2.3.4 10.1.2.3
	expect "and one that is there" 1 "9 entries, prefixes, exact
10.1.2.3 not listed" "" library "$TMP/$program" example.bln 10.1.2.3
done
prints "baleen reads it as well" 10.2.3.4 baleen match example.bln 10.2.3.4 10.1.2.3
expect "a list is no image" 2 "" "ask: list.txt: is not an image" library "$TMP/ask" list.txt 10.0.0.1
check_status "a rule needs a device" 2 library "$TMP/ask" no-device:list 10.0.0.1
is "and the reason is told" "$(grep -c '^ask: ' "$TMP/err")" 1
