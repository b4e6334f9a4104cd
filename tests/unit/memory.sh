#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Parse and build of a million lines take at most 40 bytes an entry at the
# peak, libraries and all counted.
#
# The image goes to a FIFO that it does not fit into: at its first byte the
# build is done, and the process waits for the rest to be read.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

N=1000000

# small_enough NAME: a build of $TMP/list peaks below 40 bytes an entry
small_enough()
{
	local pid peak_kb

	exec 3<>"$TMP/fifo"
	"$BALEEN" build -o "$TMP/fifo" "$TMP/list" >"$TMP/log" 2>&1 3>&- &
	pid=$!
	read -r -t 60 -N 1 -u 3 || bail "$1: no image: $(tail -n 3 "$TMP/log")"
	peak_kb=$(awk '$1 == "VmHWM:" { print $2 }' "/proc/$pid/status")
	exec 4<"$TMP/fifo" 3>&-
	cat <&4 >/dev/null
	exec 4<&-
	check "$1: builds" wait "$pid"
	echo "# $1: peak $peak_kb KiB"
	is "$1: at most 40 bytes an entry" \
		"$((${peak_kb:-N} * 1024 <= N * 40)) for $peak_kb KiB" "1 for $peak_kb KiB"
}

mkfifo "$TMP/fifo" || bail "no FIFO"
make_list "$TMP/list" "$N" 0 1
small_enough "IPv4"
make_list "$TMP/list" 0 "$N" 1
small_enough "IPv6"
# Prefixes of /13 to /24 all over, every fifth an exception.
awk -v n="$N" 'BEGIN {
	for (i = 0; i < n; i++) {
		x = (i * 2654435761) % 4294967296
		printf "%s%d.%d.%d.%d/%d\n", i % 5 ? "" : "!", x / 16777216, x / 65536 % 256,
			x / 256 % 256, x % 256, 13 + i % 12
	}
}' >"$TMP/list"
small_enough "IPv4 prefixes"
