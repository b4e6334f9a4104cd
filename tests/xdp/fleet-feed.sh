#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A rule that takes bans of a fleet: its words are kept, compared and told, and nobody
# passes off a ban of his own as one of the fleet.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair
mkdir "$TMP/conf"
CONF=$TMP/conf/veth-b.conf

baleen() { in_ns "$B" timeout 60 "$BALEEN" "$@"; }
conf() { printf '%s\n' "$@" >"$CONF"; }

conf "rule bans drop" "  feed fleet:Bans"
refuses "no name of a set" "$CONF:2: feed 'fleet:Bans': not the name of a set" baleen apply
conf "rule bans allow" "  feed fleet:bans"
refuses "a rule that allows" \
	"$CONF:1: rule bans: bans of a fleet are for a rule that drops or counts" baleen apply

conf "rule bans drop" "  bans" "  feed fleet:bans max-ttl 24h"
check_status "apply" 3 baleen apply
prints "a second apply" "veth-b: unchanged, native" baleen apply
conf "rule bans drop" "  bans" "  feed fleet:bans max-ttl 36h"
is "the difference as lines" "$(baleen apply --diff | grep -E '[-+]	')" \
	"veth-b: -	feed fleet:bans max-ttl 1d
veth-b: +	feed fleet:bans max-ttl 1d12h"
is "the change" "$(baleen apply --check -j | jq -c '[.[].changes[] | [.rule, .what]]')" \
	'[["bans","feed fleet:bans max-ttl 1d12h"]]'
check_status "it is changed" 3 baleen apply
prints "and kept" "veth-b: unchanged, native" baleen apply
conf "rule bans drop" "  bans"
check_status "it is taken away" 3 baleen apply
prints "and stays away" "veth-b: unchanged, native" baleen apply

refuses "nobody else has the origin" "the origin 'fleet:web3/fail2ban' is Baleen's own" \
	baleen add veth-b:bans 9.9.9.9 --origin fleet:web3/fail2ban
baleen add veth-b:bans 9.9.9.9 --origin fleet >/dev/null
is "one that only begins alike has none of it" \
	"$(baleen list veth-b:bans -j | jq -r '.[].origin')" fleet

finish
