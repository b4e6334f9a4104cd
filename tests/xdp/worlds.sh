#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Userspace and BPF give the same answers: see tests/worlds/worlds.c.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

if [ "$(id -u)" -eq 0 ]; then
	timeout 1500 build/worlds/worlds
else
	skip "worlds" "needs root"
fi
