#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Builds are equal byte for byte in two directories. A sample of each kind of object; TEST_ALL=1
# builds everything that is installed, and the module, twice.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

COPY=$TMP/another/directory
# A cache of compiled objects would give the bytes of the first directory.
export CCACHE_DISABLE=1

# sources: copies the tree without what was built
sources()
{
	mkdir -p "$COPY/build"
	tar -C "$ROOT" --exclude=./build --exclude=./.git -cf - . | tar -C "$COPY" -xf -
}

# same FILE...: of build/
same()
{
	local file different=

	for file; do
		cmp -s "$ROOT/build/$file" "$COPY/build/$file" || different+=" $file"
	done
	is "the same bytes: $# files, with ${*: -1}" "$different" ""
}

# names FILE...: of build/ there, whether one holds the path of the directory
names()
{
	check_status "no path of the directory: ${*: -1}" 1 grep -qaF "$COPY" "${@/#/$COPY/build/}"
}

try_samples()
{
	local objects=(section.bpf.o user/lib/key/span.o user/cli/main.o user/daemon/main.o)

	# Headers made of programs that are compared elsewhere.
	(cd "$ROOT/build" && cp -p --parents ./*.skel.h ./*.bpf.o "$COPY/build/")
	rm -f "$COPY/build/section.bpf.o"
	check "samples in another directory" make -s -C "$COPY" -o build/section.skel.h \
		"${objects[@]/#/build/}"
	same "${objects[@]}"
	names "${objects[@]}"
}

try_all()
{
	local installed module

	check "everything in another directory" make -s -C "$COPY" -j"$(nproc)" all
	mapfile -t installed < <(cd "$ROOT/build" && ls baleen baleend libexec/baleen/* api/libbaleen.* ./*.bpf.o)
	same "${installed[@]}"
	names "${installed[@]}"
	for kernel in 6.1 6.12; do
		check "the module for $kernel" make -s -C "$COPY" kmod KDIR="$(tests/vm/fetch headers "$kernel")"
	done
	mapfile -t module < <(cd "$COPY/build" && ls kmod/*/baleen.ko)
	same "${module[@]}"
	names "${module[@]}"
}

sources
if [ "${TEST_ALL-}" = 1 ]; then
	try_all
else
	try_samples
fi
