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
ipset save masked >masked.save
prints "as a list: the same" "" "$BALEEN" build -o masked.bln masked.save
prints "its keys" 203.0.113.0/24 "$BALEEN" dump masked.bln
check "as ipset test says" ipset -q test masked 203.0.113.77
prints "which match says, too" 203.0.113.77 "$BALEEN" match masked.bln 203.0.113.77
ipset save net >net.save
expect "a list does not keep an end, and says so" 0 "" "baleen: warning: net.save: a list does \
not keep the timeouts of 2 entries: 'baleen import' does" "$BALEEN" build -o net.bln net.save
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

# --- there and back ---

printf '%s\n' 192.0.2.1 198.51.100.0/24 '!198.51.100.7' 2001:db8::/32 '!2001:db8:1::/48' \
	2001:db8:1:2::/64 >list
"$BALEEN" build -o list.bln list || bail "no image"
# shellcheck disable=SC2016 # of the inner shell
check "what dump prints is what ipset restores" \
	sh -c '"$0" dump --format ipset --set back list.bln | ipset restore' "$BALEEN"
{ ipset save back && ipset save back6; } >back.save
check "what ipset saves is a list again" "$BALEEN" build -o back.bln back.save
is "the same" "$("$BALEEN" dump --format csv back.bln)" "$("$BALEEN" dump --format csv list.bln)"
check "ipset has what is listed" ipset -q test back 198.51.100.8
check_status "and not what is excepted" 1 ipset -q test back 198.51.100.7
check_status "of IPv6, too" 1 ipset -q test back6 2001:db8:1:3::1
# shellcheck disable=SC2016 # of the inner shell
check "what dump prints is what nft loads" \
	sh -c '"$0" dump --format nft --set back list.bln | nft -f -' "$BALEEN"
nft -j list set inet back back >back.json
nft -j list set inet back back6 >back6.json
{ "$IMPORT" nft back.json && "$IMPORT" nft back6.json; } | cut -d ' ' -f 1 >back.list
check "what nft has is a list again" "$BALEEN" build -o back.bln back.list
is "the same, too" "$("$BALEEN" dump --format csv back.bln)" "$("$BALEEN" dump --format csv list.bln)"
nft delete table inet back

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

# --- all kinds of sets, by the nft of this release and that of the next ---

# kind NFT SET WANT [TEXT]: entries, or a part of the reason with TEXT "no"
kind()
{
	"${nft[@]}" -j list set inet kinds "$2" >"kind-$2.json"
	if [ "${4-}" = no ]; then
		check_status "$1: $2" 1 "$IMPORT" nft "kind-$2.json"
		is "its reason" "$(grep -oF "$3" "$TMP/err")" "$3"
	else
		is "$1: $2" "$(entries nft "kind-$2.json")" "$3"
	fi
}

kinds()
{
	"${nft[@]}" -f - <<'EOF2' || bail "$1: cannot make sets"
add table inet kinds
delete table inet kinds
table inet kinds {
	set hosts { type ipv4_addr; elements = { 192.0.2.1 }; }
	set none { type ipv4_addr; }
	set every { type ipv4_addr; flags interval; elements = { 0.0.0.0/0 }; }
	set merged { type ipv4_addr; flags interval; auto-merge; elements = { 192.0.2.0/25, 192.0.2.128/25, 198.51.100.0-198.51.100.2 }; }
	set fixed { type ipv4_addr; flags constant; elements = { 192.0.2.1 }; }
	set sized { type ipv4_addr; size 128; policy memory; flags timeout; gc-interval 10s; elements = { 192.0.2.1 timeout 55m }; }
	set changing { type ipv4_addr; flags dynamic, timeout; timeout 1h; elements = { 192.0.2.1 }; }
	set counted { type ipv4_addr; counter; elements = { 192.0.2.1 }; }
	set six { typeof ip6 saddr; flags interval; elements = { 2001:db8::/32, 2001:db9::1-2001:db9::3 }; }
	set hardware { type ether_addr; elements = { 02:00:00:00:00:01 }; }
	set ports { type inet_service; flags interval; elements = { 80, 8000-8010 }; }
	set protocols { type inet_proto; elements = { tcp }; }
	set marks { type mark; elements = { 0x1 }; }
	set pairs { type ipv4_addr . inet_service; flags interval; elements = { 192.0.2.0/24 . 80 }; }
}
EOF2
	kind "$1" hosts "192.0.2.1 0"
	kind "$1" none ""
	kind "$1" every "0.0.0.0/0 0"
	kind "$1" merged $'192.0.2.0/24 0\n198.51.100.0-198.51.100.2 0'
	kind "$1" fixed "192.0.2.1 0"
	kind "$1" sized "192.0.2.1 later"
	kind "$1" changing "192.0.2.1 later"
	kind "$1" counted "192.0.2.1 0"
	kind "$1" six $'2001:db8::/32 0\n2001:db9::1-2001:db9::3 0'
	kind "$1" hardware "keys that are no addresses" no
	kind "$1" ports "keys that are no addresses" no
	kind "$1" protocols "keys that are no addresses" no
	kind "$1" marks "keys that are no addresses" no
	kind "$1" pairs "concatenations, which Baleen does not support" no
}

nft=(nft)
kinds "$(nft --version)"
for other in "${BALEEN_TEST_CACHE:-/var/cache/baleen-tests}"/trixie*/usr/sbin/nft; do
	nft=(chroot "${other%/usr/sbin/nft}" nft)
	[ -x "$other" ] && break
done
if [ -x "$other" ]; then
	kinds "$("${nft[@]}" --version)"
else
	skip "the nft of Debian 13" "tests/releases/tree trixie has not been made"
fi
