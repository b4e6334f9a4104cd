#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A host of a fleet whose baleend runs as its unit says, in its sandbox: bans go out and come in,
# also after a boot.

# shellcheck source=tests/boot/lib.sh
source "$(dirname "$0")/lib.sh"

# copy_libraries PROGRAM: those that the disk lacks
copy_libraries()
{
	mkdir -p "$TREE/usr/lib/x86_64-linux-gnu"
	ldd "$1" | awk '$3 ~ /\/lib(hiredis|lzf|jemalloc|atomic|ssl|crypto|stdc\+\+)[.-]/ { print $3 }' |
		xargs cp -L -t "$TREE/usr/lib/x86_64-linux-gnu" || bail "no libraries of $1"
}

make_tree
install_baleen
enable_baleen
copy_libraries build/libexec/baleen/baleen-fleetd
copy_libraries /usr/bin/redis-server
install -D -t "$TREE/usr/bin" /usr/bin/redis-server
rm "$TREE"/etc/baleen/*.conf
for conf in baleen far; do
	mkdir -p "$TREE/etc/$conf"
	printf '%s\n' "rule bad drop" "  feed fleet:bans" >"$TREE/etc/$conf/${conf/baleen/lan}0.conf"
done
in_machine 6.1 tests/boot/in-vm-fleet.sh
