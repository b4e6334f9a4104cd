#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The feed without a Squid: see tests/tools/icp_feed.c for lines, and icp_change.c for
# what they do to filters, from one CPU and from two.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

if [ "$(id -u)" -ne 0 ]; then
	skip "the feed" "needs root"
	exit 0
fi
check "lines of store.log through the packet program" timeout 120 build/tools/icp_feed
check "filters that it changes" timeout 600 build/tools/icp_change
sed -n 's/^# /# /p' "$TMP/out"
