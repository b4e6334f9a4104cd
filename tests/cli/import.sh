#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Sets of the kernel, as its own tools print them: what is put into one by ipset
# or nft comes out the same. In a network namespace of their own, so as root.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"

IMPORT=$ROOT/build/tools/import

# again in a namespace that ends with the test
if [ "$(id -u)" -ne 0 ]; then
	skip "${SELF##*/}" "needs root"
	exit 0
fi
if [ "${BALEEN_TEST_IMPORT-}" != $$ ]; then
	rm -rf "$TMP"
	export BALEEN_TEST_IMPORT=$$
	exec unshare --net -- "$SELF" "$@"
fi
cd "$TMP" || exit 2

# entries FORMAT FILE [SET]: its entries in order, times left as `later`
entries()
{
	"$IMPORT" "$1" "$2" ${3+"$3"} |
		awk '$2 > 0 { $2 = $2 > 3000 && $2 <= 3600 ? "later" : "wrong" } { $1 = $1; print }' |
		LC_ALL=C sort
}

# --- ipset ---

ipset restore <<'EOF' || bail "no ipset"
create net hash:net timeout 3600 counters comment
add net 192.0.2.0/24 comment "a b, c"
add net 192.0.2.64/26 nomatch
add net 198.51.100.7 timeout 0
create six hash:net family inet6 skbinfo
add six 2001:db8::/32 skbmark 0x1
add six 2001:db8::1
create masked hash:ip netmask 24
add masked 203.0.113.9
create bits bitmap:ip range 192.0.2.0/24
add bits 192.0.2.1
create port hash:ip,port
add port 192.0.2.1,udp:53
create pair hash:net,port
add pair 192.0.2.0/24,tcp:80
EOF
ipset save >all
is "hash:net" "$(entries ipset all net)" "!192.0.2.64/26 later
192.0.2.0/24 later a b, c
198.51.100.7 0"
is "of IPv6" "$(entries ipset all six)" $'2001:db8::/32 0\n2001:db8::1 0'
is "with a netmask" "$(entries ipset all masked)" "203.0.113.0/24 0"
is "bitmap:ip" "$(entries ipset all bits)" "192.0.2.1 0"
is "hash:ip,port" "$(entries ipset all port)" "192.0.2.1,udp:53 0"
ipset save net >alone
is "a set alone" "$(entries ipset alone)" "$(entries ipset all net)"
ipset save six | cat alone - >two
expect "several, and none chosen" 1 "" "two: 2 sets: choose one of net, six" "$IMPORT" ipset two
line=$(grep -n '^create pair' all | cut -d : -f 1)
expect "a type that Baleen does not support" 1 "" \
	"all:$line: set 'pair' is of type hash:net,port, whose keys Baleen does not support" "$IMPORT" ipset all pair
expect "no such set" 1 "" \
	"all: no set 'none': there are net, six, masked, bits, port, pair" \
	"$IMPORT" ipset all none

# --- nft ---

nft -f - <<'EOF' || bail "no nft"
table inet t {
	set plain { type ipv4_addr; elements = { 192.0.2.1, 198.51.100.7 comment "a b" }; }
	set spans {
		type ipv4_addr; flags interval, timeout; timeout 1h
		elements = { 192.0.2.0/24, 198.51.100.7-198.51.100.9 timeout 55m, 203.0.113.1 }
	}
	set six { type ipv6_addr; flags interval; elements = { 2001:db8::/32, 2001:db9::1 }; }
	set ports { type ipv4_addr . inet_service; elements = { 192.0.2.1 . 80 }; }
	set expression {
		typeof ip saddr; flags interval, timeout
		elements = { 192.0.2.0/24, 198.51.100.7 timeout 1h };
	}
	set six_expression { typeof ip6 saddr; elements = { 2001:db8::1 }; }
	set two_expressions { typeof ip saddr . tcp dport; elements = { 192.0.2.1 . 80 }; }
	set port_expression { typeof tcp dport; elements = { 80 }; }
	set limited {
		type ipv4_addr; flags dynamic
		elements = { 192.0.2.1 limit rate over 5/second }
	}
}
table ip other { set plain { type ipv4_addr; elements = { 192.0.2.9 }; }; }
EOF
for set in plain spans six ports limited expression six_expression two_expressions port_expression; do
	nft -j list set inet t "$set" >"$set.json"
done
nft -j list ruleset >all.json
is "hosts" "$(entries nft plain.json)" $'192.0.2.1 0\n198.51.100.7 0 a b'
is "spans with times" "$(entries nft spans.json)" "192.0.2.0/24 later
198.51.100.7-198.51.100.9 later
203.0.113.1 later"
is "of IPv6" "$(entries nft six.json)" $'2001:db8::/32 0\n2001:db9::1 0'
is "one of a ruleset" "$(entries nft all.json six)" $'2001:db8::/32 0\n2001:db9::1 0'
is "by its full name" "$(entries nft all.json ip/other/plain)" "192.0.2.9 0"
expect "a name that two have" 1 "" "all.json: 2 sets 'plain': choose one of inet/t/plain, \
inet/t/spans, inet/t/six, inet/t/ports, inet/t/expression, inet/t/six_expression, \
inet/t/two_expressions, inet/t/port_expression, inet/t/limited, ip/other/plain" "$IMPORT" nft all.json plain
expect "concatenations" 1 "" "ports.json: set inet/t/ports: [\"ipv4_addr\",\"inet_service\"]: \
concatenations, which Baleen does not support" "$IMPORT" nft ports.json
check_status "limits" 1 "$IMPORT" nft limited.json
is "are refused" "$(sed 's/.*: //' "$TMP/err")" "has more than an address, a time and a comment"
# nft 1.0 prints types for `typeof`, 1.1 the expression.
is "by an expression" "$(entries nft expression.json)" $'192.0.2.0/24 0\n198.51.100.7 later'
is "by one of IPv6" "$(entries nft six_expression.json)" "2001:db8::1 0"
for set in two_expressions:concatenations port_expression:"keys that are no addresses"; do
	check_status "${set%:*}" 1 "$IMPORT" nft "${set%:*}.json"
	is "its reason" "$(grep -oF ": ${set#*:}" "$TMP/err")" ": ${set#*:}"
done
if nft add element inet t spans '{ 203.0.113.9 timeout never }' 2>/dev/null; then
	nft -j list set inet t spans >never.json
else
	sed 's/"203.0.113.1"/"203.0.113.9", "timeout": 18446744073709551/; s/\(709551\), "expires": [0-9]*/\1/' \
		spans.json >never.json
fi
is "for ever, in a set with a time" "$(entries nft never.json | grep 203.0.113.9)" "203.0.113.9 0"
