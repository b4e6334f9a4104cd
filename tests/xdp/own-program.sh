#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The example of an XDP program of others, built and run from what is installed alone.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck disable=SC2119
make_pair

DEST=$TMP/dest
LISTED=$TMP/list
export PKG_CONFIG_PATH=$DEST/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$DEST
export LIBRARY_PATH=$DEST/usr/lib LD_LIBRARY_PATH=$DEST/usr/lib

check "make install" make -s -C "$ROOT" install DESTDIR="$DEST" prefix=/usr
cp -r "$DEST/usr/share/doc/baleen/examples/xdp" "$TMP/xdp"
cd "$TMP/xdp" || bail "no example"
check "the example builds" make -s CFLAGS="-O2 -Wall -Wextra -Werror" CC="gcc"
is "without a warning" "$(cat "$TMP/out" "$TMP/err")" ""
[ -x block ] || bail "no example"

# --- a filter that nobody has filled ---

check_status "an empty filter is not loaded" 255 bpftool prog load block.bpf.o /sys/fs/bpf/block
is "and the verifier's log says what to do" "$(grep -c \
	'this filter is empty: call baleen_set_load() before the load' "$TMP/err")" 1

cat >folded.bpf.c <<'END'
#include <baleen/program.h>

BALEEN_FILTER(blocked);

SEC("xdp")
int folded(struct xdp_md *ctx)
{
	struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = 0xc0000201 };

	return BALEEN_FILTER_TEST(blocked, &key) ? XDP_DROP : XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
END
bpftool btf dump file /sys/kernel/btf/vmlinux format c >vmlinux.h
multiarch=$(gcc -print-multiarch)
# shellcheck disable=SC2046 # words
check "one behind vmlinux.h compiles" clang -target bpf -O2 -g -mcpu=v3 -Wall -Werror -include vmlinux.h \
	-I "/usr/include/$multiarch" $(pkg-config --cflags libbaleen) -c -o folded.bpf.o folded.bpf.c
check_status "and a constant key is no answer to clang" 255 \
	bpftool prog load folded.bpf.o /sys/fs/bpf/folded

# --- a filter that is filled ---

check_status "a list that is not there" 1 in_ns "$B" ./block veth-b "$TMP/none"
is "is told" "$(<"$TMP/err")" "block: $TMP/none: No such file or directory"

# blocks NAME LINE...: what the list names is dropped, all else passes
blocks()
{
	local pid i

	printf '%s\n' "${@:2}" >"$TMP/lines"
	nsenter "--net=/run/netns/$B" ./block veth-b "$TMP/lines" >"$TMP/counts" 2>&1 &
	pid=$!
	for ((i = 0; i < 600; i++)); do
		! ip -n "$B" link show veth-b | grep -q xdp || break
		read -r -t 0.05 <> <(:)
	done
	check "$1" "$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --listed "$LISTED" --random 500 --expect
	kill -TERM "$pid"
	wait "$pid"
	is "$1: counts what it dropped" "$(sed -n 's/.* passed, \([0-9]*\) dropped/\1/p' "$TMP/counts")" \
		"$(wc -l <"$LISTED")"
}

printf '%s\n' 192.0.2.{1..9} 2001:db8::{1..9} >"$LISTED"
mapfile -t listed <"$LISTED"
blocks "hosts" "${listed[@]}"
blocks "prefixes" 192.0.2.0/28 2001:db8::/124
is "and leaves the device as it was" "$(ip -n "$B" link show veth-b | grep -c xdp)" 0
