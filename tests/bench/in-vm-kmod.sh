#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Not executable, because it is for the machine of bench-kmod.

set -e
insmod "build/kmod/$(uname -r)/baleen.ko"
ip link add name sender type veth peer name receiver
# Nothing but the benchmark's packets.
for device in sender receiver; do
	ip link set dev $device arp off addrgenmode none up
done
build/bench/bench_kmod sender receiver
