#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Bans on one host, one after the other: from the `ok` of `baleen feed` to the first frame that
# two other hosts drop. The times are printed; that each ban holds, and that no frame from a
# source that is not banned is lost, is what is tested.
#
# SPREAD_BANS=N: so many, instead of 1,000 in `make check-all` and 100 else.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

n=${SPREAD_BANS:-$(pick 100 1000)}
make_lab 1 2 3
begin_fleet 1 2 3
check "each ban holds on both, and nobody else is dropped" on 1 \
	"$ROOT/build/tools/spread" "$n" \
	"/run/netns/$S:peer2,/run/netns/$(host_ns 2):eth0" \
	"/run/netns/$S:peer3,/run/netns/$(host_ns 3):eth0" \
	-- "$BALEEN" feed eth0:bad --origin fail2ban -
sed 's/^/# /; s|/run/netns/[^:]*-h\([0-9]\)|host \1|' "$TMP/out"
sampled bans "$n" 1000
AWAIT_SECONDS=30 await "digests agree" agree 1 2 3
