#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Userspace and BPF parse 10 million mutated frames alike: see tests/worlds/parity.c.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

if [ "$(id -u)" -eq 0 ]; then
	timeout 1500 build/worlds/parity
else
	skip "parity" "needs root"
fi
