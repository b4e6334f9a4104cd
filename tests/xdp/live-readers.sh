#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# No reader misses a key that a writer moves: see tests/worlds/live.c.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

if [ "$(id -u)" -eq 0 ]; then
	timeout "$(pick 1500 1800)" build/worlds/live
else
	skip "live readers" "needs root"
fi
