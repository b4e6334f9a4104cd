#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# why, doctor and confirm without a device are of all.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
mkdir "$BALEEN_CONF_DIR"
ip -n "$B" link add veth-c type veth peer name veth-d
baleen() { in_ns "$B" timeout 60 "$BALEEN" "$@"; }

refuses "why, without a filter" "no device here has a filter of what comes in" baleen why 192.0.2.1
refuses "doctor, with nothing to look at" "no device here has a filter or a configuration: 'baleen doctor DEV' \
looks at one that is to get one" baleen doctor
refuses "confirm, when nothing waits" "no device waits to be confirmed" baleen confirm
check_status "why wants an address" 2 baleen why
check_status "also behind a device" 2 baleen why veth-b

for dev in veth-b veth-c; do
	printf '%s\n' "rule jail drop" " bans" >"$BALEEN_CONF_DIR/$dev.conf"
done
check_status "two devices" 3 baleen apply --confirm 1h
check "a ban" baleen ban 192.0.2.1
echo 192.0.2.1 >"$TMP/out.list"
check "what goes out" baleen attach veth-b@egress --drop "$TMP/out.list"

check "why of an address" baleen why 192.0.2.1
is "is of each device with what comes in" "$(grep '^192' "$TMP/out" | paste -sd ,)" \
	"192.0.2.1 to veth-b, tcp, opening: dropped,192.0.2.1 to veth-c, tcp, opening: dropped"
check "of two" baleen why -j 192.0.2.1 192.0.2.2 --dport 22
is "as JSON" "$(jq -r '[.[] | "\(.device) \(.address) \(.verdict)"] | join(", ")' "$TMP/out")" \
	"veth-b 192.0.2.1 drop, veth-b 192.0.2.2 pass, veth-c 192.0.2.1 drop, veth-c 192.0.2.2 pass"
check "of IPv6" baleen why 2001:db8::1
check "of one device" baleen why veth-c 192.0.2.1
is "it is that" "$(grep -c '^192' "$TMP/out")" 1

baleen doctor >"$TMP/out"
is "doctor looks at each" "$(grep ':$' "$TMP/out" | paste -sd ' ')" "veth-b: veth-c:"
baleen doctor -j >"$TMP/out"
is "as JSON" "$(jq -r '[.[].device] | unique | join(" ")' "$TMP/out")" "veth-b veth-c"

check "confirm" baleen confirm
is "names each" "$(paste -sd , "$TMP/out")" "veth-b: confirmed,veth-c: confirmed"
refuses "once" "no device waits to be confirmed" baleen confirm
for dev in veth-b veth-c; do
	printf '%s\n' "rule jail drop" " bans" "rule more drop" " bans" >"$BALEEN_CONF_DIR/$dev.conf"
done
check_status "more" 3 baleen apply --confirm 1h
is "as JSON" "$(baleen confirm -j | jq -c .confirmed)" '["veth-b","veth-c"]'
