#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Each header of include/baleen compiles alone, without a warning, in every
# world it is meant for: userspace, also of C++, BPF with either store and behind vmlinux.h,
# and the kernels 6.1 and 6.12. What checks or changes images is not for BPF, and program.h
# is for nothing else.

set -u
shopt -s extglob
cd "$(dirname "$0")/../.." || exit 2
kworld=build/kworld
headers=(include/baleen/*.h)
warnings=(-Wall -Wextra -Werror)
multiarch=$(gcc -print-multiarch)
n=0 failed=0

# result STATUS NAME LOG
result()
{
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		failed=$((failed + 1))
		echo "not ok $n - $2"
		sed 's/^/# /' "$3"
	fi
}

# lone HEADER: a source that includes it first, and twice for its guard
lone()
{
	printf '#include <baleen/%s>\n' "$1" "$1"
}

# is_for WORLD HEADER
is_for()
{
	case $1-$2 in
	bpf-*-@(image_check|slots|plane|search|inplace).h) return 1 ;;
	bpf-*) ;;
	*-program.h) return 1 ;;
	esac
}

# check WORLD COMPILER...: every header alone
check()
{
	local world=$1 path name
	shift
	for path in "${headers[@]}"; do
		name=${path##*/}
		is_for "$world" "$name" || continue
		lone "$name" | "$1" "${warnings[@]}" "${@:2}" -I include -c -o /dev/null - \
			>"$kworld/log" 2>&1
		result $? "$world: $name" "$kworld/log"
	done
}

# check_vmlinux: all headers behind the types of this kernel, which take a while to read
check_vmlinux()
{
	local path name

	bpftool btf dump file /sys/kernel/btf/vmlinux format c >"$kworld/vmlinux.h"
	for path in "${headers[@]}"; do
		name=${path##*/}
		! is_for bpf-vmlinux "$name" || lone "$name"
	done | clang "${warnings[@]}" -target bpf -mcpu=v3 -O2 -I "/usr/include/$multiarch" -I include \
		-include "$kworld/vmlinux.h" -x c -c -o /dev/null - >"$kworld/log" 2>&1
	result $? "bpf-vmlinux: each header of BPF" "$kworld/log"
}

# The functions that a module will call, so that they are really compiled.
calls()
{
	cat <<'END'
#include <linux/module.h>
#include <baleen/inplace.h>
#include <baleen/image_check.h>
#include <baleen/packet.h>
#include <baleen/probe.h>
#include <baleen/stats.h>

static struct baleen_block bytes[BALEEN_HEADER_BLOCKS + 1];
static struct baleen_search search;
static struct baleen_image image;

static int test_frame(const u8 *frame, const u8 *end)
{
	struct baleen_transport transport;
	struct baleen_fields fields;
	struct baleen_packet packet;
	struct baleen_key key;
	bool is_ip6;

	switch (baleen_packet_parse(frame, end, &packet)) {
	case BALEEN_PARSE_IP4:
		is_ip6 = false;
		break;
	case BALEEN_PARSE_IP6:
		is_ip6 = true;
		break;
	default:
		return 0;
	}
	baleen_packet_details(packet.ip, end, is_ip6, &transport, &fields);
	if (!baleen_packet_has_key(&transport, image.key_spec))
		return 0;
	key = baleen_key_fields(image.key_spec, &fields);
	return baleen_image_test(&image, bytes, &key);
}

static int test_change(const struct baleen_key *key)
{
	bool changed;
	int err = baleen_image_add(&image, bytes, &search, key, &changed);

	return err ? err : baleen_image_del(&image, bytes, key, &changed);
}

static int __init kworld_init(void)
{
	struct baleen_key key = { .domain = BALEEN_IP4 };
	const char *reason = NULL;
	int err = baleen_header_decode((const void *)bytes, sizeof(bytes), &image, &reason);

	if (!err)
		err = test_change(&key);
	if (err) {
		pr_err("%s\n", reason);
		return err;
	}
	pr_info("%d %u\n", test_frame((const u8 *)bytes, (const u8 *)(bytes + 1)),
		baleen_unpermute32(&image.seed, 1));
	baleen_header_write(&image, bytes);
	return 0;
}

static void __exit kworld_exit(void)
{
}

module_init(kworld_init);
module_exit(kworld_exit);
MODULE_DESCRIPTION("Every header in the kernel's world");
MODULE_LICENSE("Dual BSD/GPL");
END
}

# module DIRECTORY: the sources and the Kbuild file of a throw-away module
module()
{
	local path name objects=calls.o

	rm -rf "$1" && mkdir -p "$1" || return 1
	calls >"$1/calls.c"
	for path in "${headers[@]}"; do
		name=${path##*/}
		is_for kernel "$name" || continue
		lone "$name" >"$1/${name%.h}_h.c"
		objects+=" ${name%.h}_h.o"
	done
	cat >"$1/Kbuild" <<-END
		obj-m := kworld.o
		kworld-y := $objects
		ccflags-y := -I$PWD/include -Werror
	END
}

# check_kernel KERNEL: one build, one result an object
check_kernel()
{
	local dir=$kworld/$1 kdir path name

	kdir=$(tests/vm/fetch headers "$1" 2>"$kworld/log") && module "$dir"
	result $? "kernel $1: header packages" "$kworld/log"
	# -k: a bad header must not hide the next one.
	make -k -s -j 2 -C "${kdir:-/nonexistent}" M="$PWD/$dir" W=1 KCFLAGS=-Wframe-larger-than=1024 modules >"$kworld/log" 2>&1
	for path in "${headers[@]}"; do
		name=${path##*/}
		is_for kernel "$name" || continue
		[ -f "$dir/${name%.h}_h.o" ]
		result $? "kernel $1: $name" "$kworld/log"
	done
	[ -f "$dir/kworld.ko" ] && ! grep -q 'warning:' "$kworld/log"
	result $? "kernel $1: a module that validates, parses, probes and changes" "$kworld/log"
}

mkdir -p "$kworld"
check user gcc -std=gnu11 -O2 -x c
check user-clang clang -std=gnu11 -O2 -x c
# What an initializer does not name is zero in C++, too.
check user-c++ g++ -std=c++17 -O2 -Wno-missing-field-initializers -x c++
check bpf-map clang -target bpf -mcpu=v3 -O2 -I "/usr/include/$multiarch" -x c
check bpf-section clang -target bpf -mcpu=v3 -O2 -I "/usr/include/$multiarch" \
	-DBALEEN_STORE_SECTION -x c
check_vmlinux
check_kernel 6.1
if [ "${TEST_ALL-}" = 1 ]; then
	check_kernel 6.12
else
	echo "# kernels: 1 of 2 tried, 6.12 by make check-all"
fi
echo "1..$n"
[ "$failed" -eq 0 ]
