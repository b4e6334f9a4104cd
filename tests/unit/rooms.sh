#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The rooms of user/lib stand on floors: a room includes only rooms below it. So do those
# of user/cli, which is above all of them. No file is in a circle of includes, and each
# outside library is asked by few rooms.
# `tests/unit/rooms.sh --graph` prints which room includes which.

set -u
cd "$(dirname "$0")/../.." || exit 2

# FLOOR ROOM...
floors=(
	"1 util"
	"2 key"
	"3 list net"
	"4 filter set"
	"5 ops xdp"
	"6 kmod state icp"
	"7 deploy"
	"8 fleet"
	"9 report"
	"10 cli/common"
	"11 cli/open"
	"12 cli/file cli/device cli/ban cli/icp cli/set cli/fleet"
)

# HEADER ROOM...: the rooms that may include a header of an outside library
outside=(
	"sqlite3.h state"
	"sodium.h util set fleet"
	"xdp/libxdp.h xdp"
	"bpf/ util net xdp icp"
	"curl/ nowhere"
	"csv.h list"
	"jansson.h list state deploy icp report"
	"libmnl/ net"
	"zlib.h xdp"
)

n=0 failed=0

# result NAME [DIAGNOSTICS]: passes when there are no diagnostics
result()
{
	n=$((n + 1))
	if [ -z "${2-}" ]; then
		echo "ok $n - $1"
	else
		failed=$((failed + 1))
		echo "not ok $n - $1"
		sed 's/^/# /' <<<"$2"
	fi
}

# includes: FILE INCLUDED, for each include of one file of a room by another
includes()
{
	grep -oHE '^#include "(cli/)?[a-z]+/[a-z0-9_]+\.h"' user/lib/*/*.[ch] user/cli/*/*.[ch] |
		sed -E 's|^user/(lib/)?([^:]*):#include "(.*)"|\2 \3|'
}

floor_of()
{
	local line

	for line in "${floors[@]}"; do
		case " ${line#* } " in *" $1 "*) echo "${line%% *}" && return ;; esac
	done
}

if [ "${1-}" = --graph ]; then
	includes | sed -E 's|/[a-z0-9_]+\.[ch]||g' | sort | uniq -c | awk '$2 != $3 { print $2, "->", $3, "(" $1 ")" }'
	exit
fi

# --- rooms ---

unknown=$(for room in user/lib/*/ user/cli/*/; do
	room=${room#user/} room=${room#lib/} room=${room%/}
	[ -n "$(floor_of "$room")" ] || echo "$room has no floor"
done)
result "each room has a floor" "$unknown"
result "no file lies outside of the rooms" \
	"$(ls user/lib/*.[ch] user/cli/*.[ch] 2>/dev/null | grep -vx user/cli/main.c)"
result "each include names its room" \
	"$(grep -nE '^#include "[^/"]+"' user/lib/*/*.[ch] user/cli/*/*.[ch] | grep -vE '\.skel\.h"|"(release|late|page_hash)\.h"|"textbook\.inc"')"
result "nothing below user/cli includes it" \
	"$(grep -nE '^#include "(cli|daemon)/' -r user/lib user/api)"

# --- floors ---

up=$(includes | while read -r from to; do
	a=${from%/*} b=${to%/*}
	[ "$a" = "$b" ] || [ "$(floor_of "$b")" -lt "$(floor_of "$a")" ] || echo "$from includes $to"
done)
result "a room includes only rooms on lower floors (${#floors[@]} floors)" "$up"

# A pair of .c and .h is one noun. It is in a circle when its includes lead back to it.
circles=$(includes | sed -E 's/\.[ch]//g' | awk '$1 != $2' | sort -u | awk '
	{ to[$1] = to[$1] " " $2 }
	END {
		for (noun in to) {
			split("", seen)
			n = split(to[noun], queue)
			for (i = 1; i <= n && !(noun in seen); i++) {
				if (queue[i] in seen)
					continue
				seen[queue[i]] = 1
				m = split(to[queue[i]], next_)
				for (k = 1; k <= m; k++)
					queue[++n] = next_[k]
			}
			if (noun in seen)
				print noun
		}
	}' | sort -u)
result "no two nouns include each other" "$circles"

# --- outside ---

for line in "${outside[@]}"; do
	header=${line%% *}
	stray=$(grep -nE "^#include <$header" user/lib/*/*.[ch] | while IFS=: read -r file rest; do
		room=${file#user/lib/}
		case " ${line#* } " in *" ${room%%/*} "*) ;; *) echo "$file:$rest" ;; esac
	done)
	result "<$header> is included in ${line#* } only" "$stray"
done

# The kernel does not know a device yet by the name that baleen_device_expect() gives it.
result "only net/device.c asks the kernel for names of devices" \
	"$(grep -nE 'if_(nametoindex|indextoname)\(' -r user | grep -v '^user/lib/net/device\.c:')"

echo "1..$n"
[ "$failed" -eq 0 ]
