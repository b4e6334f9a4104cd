#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What `make install-dkms` installs builds the module: by DKMS for 6.12, and in `make
# check-all` by hand against the headers of each kernel.

source "$(dirname "$0")/../lib.sh"
RELEASE=$(sed -n '1s/^baleen (\(.*\)) .*/\1/p' debian/changelog)
DEST=$TMP/dest
SOURCES=$DEST/usr/src/baleen-$RELEASE

sums() { (cd "$SOURCES" && find . -type f -exec sha256sum {} + | sort -k 2); }
# What uname -r says under the kernel of these headers.
release() { sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' "$1/include/generated/utsrelease.h"; }

# describes NAME MODULE RELEASE: it is this module, for that kernel
describes()
{
	is "$1: the module is for this kernel" \
		"$(modinfo -F vermagic "$2" | cut -d ' ' -f 1) $(modinfo -F license "$2")" \
		"$3 Dual BSD/GPL"
}

# by_hand KERNEL: in a copy, since Kbuild leaves its files beside the sources
by_hand()
{
	local headers tree=$TMP/by-hand-$1

	headers=$(tests/vm/fetch headers "$1") || bail "no headers of $1"
	cp -a "$SOURCES" "$tree"
	check "$1: make -C KDIR M=DIRECTORY" make -C "$headers" M="$tree" modules
	describes "$1, by hand" "$tree/baleen.ko" "$(release "$headers")"
}

# by_dkms KERNEL: in trees of this test; nothing is installed
by_dkms()
{
	local headers release name="$1, DKMS"

	headers=$(tests/vm/fetch headers "$1") || bail "no headers of $1"
	release=$(release "$headers")
	mkdir -p "$TMP/dkms-$1"
	set -- -m baleen -v "$RELEASE" -k "$release" --kernelsourcedir "$headers" \
		--sourcetree "$DEST/usr/src" --dkmstree "$TMP/dkms-$1"
	check "$name: dkms add" dkms add "$@"
	# It would make a key for this host, and sign with it.
	check "$name: dkms build" env sign_file=/nonexistent dkms build "$@"
	grep -hiE 'warning|error' "${!#}/baleen/$RELEASE/$release"/*/log/make.log >"$TMP/complaints"
	is "$name: without a warning" "$(grep -v 'compiler differs\|differs from the kernel' "$TMP/complaints")" ""
	describes "$name" "${!#}/baleen/$RELEASE/$release"/*/module/baleen.ko* "$release"
}

check "make install-dkms" make -s install-dkms DESTDIR="$DEST"
is "the version is that of the release" \
	"$(sed -n 's/^PACKAGE_VERSION=//p' "$SOURCES/dkms.conf")" "\"$RELEASE\""
sums >"$TMP/before"
# kmod.sh builds it by hand for both.
for kernel in $(pick "" "6.1 6.12"); do
	by_hand "$kernel"
done
if [ "$(id -u)" -ne 0 ]; then
	skip "dkms build" "needs root"
else
	by_dkms 6.12
fi
sums >"$TMP/after"
check "the sources are as they were" cmp "$TMP/before" "$TMP/after"
