#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The Debian package in a machine: it installs without a network and drops a list
# by the second command; a later release takes over under traffic.

# shellcheck source=tests/boot/lib.sh
source "$(dirname "$0")/lib.sh"

# later_package DEB FILE: the same with the programs of tests/next
later_package()
{
	local programs

	programs=$(dirname "$(tests/next)") || bail "no later release"
	dpkg-deb -R "$1" "$TMP/later" || bail "cannot unpack $1"
	install -t "$TMP/later/usr/sbin" "$programs/baleen"
	sed -i 's/^Version: .*/&+later/' "$TMP/later/DEBIAN/control"
	(cd "$TMP/later" && find etc lib usr -type f ! -path 'etc/*' -exec md5sum {} + >DEBIAN/md5sums)
	dpkg-deb -b "$TMP/later" "$2" >/dev/null || bail "cannot pack $2"
}

make_tree
make_lists
make -s --no-print-directory deb >"$TMP/out" 2>&1 || bail "make deb: $(tail -n 20 "$TMP/out")"
deb=$(grep -o '/.*/baleen_[^_/]*_amd64.deb$' "$TMP/out") || bail "make deb made no package"
mkdir "$TREE/packages"
cp "$deb" "$TREE/packages/baleen.deb"
later_package "$deb" "$TREE/packages/later.deb"
in_machine 6.1 tests/boot/in-vm-deb.sh
