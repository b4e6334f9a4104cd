#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The object of `baleen compile` in the hands of ip, bpftool and xdp-loader:
# each attaches it, all that is listed is dropped and all else passes, the
# counters have names and add up, and the same tool takes it off again. Of
# addresses, of prefixes of both families, and of keys of several fields.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/frames.sh
source "$ROOT/tests/frames.sh"

LISTS=../shared/data/lists
LIST=$LISTS/ipsum.txt
N_LISTED=120430
N_SAMPLE=20000 # of each family
OBJECT=$TMP/drop.bpf.o
PIN=/sys/fs/bpf/object

# --- the three tools ------------------------------------------------------

ip_attach() { in_ns "$B" ip link set dev veth-b xdpdrv obj "$OBJECT" sec xdp; }
ip_detach() { in_ns "$B" ip link set dev veth-b xdpdrv off; }

bpftool_attach()
{
	bpftool prog load "$OBJECT" "$PIN" &&
		in_ns "$B" bpftool net attach xdpdrv pinned "$PIN" dev veth-b
}

bpftool_detach() { in_ns "$B" bpftool net detach xdpdrv dev veth-b && rm "$PIN"; }

# Where the kernel has no freplace, this attaches a lone program.
xdp-loader_attach() { in_ns "$B" xdp-loader load -m native veth-b "$OBJECT"; }
xdp-loader_detach() { in_ns "$B" xdp-loader unload --all veth-b; }

# --- what they did --------------------------------------------------------

# attached: "MODE id ID" of what is on veth-b, nothing when there is nothing
attached()
{
	in_ns "$B" bpftool net show dev veth-b | sed -n 's/^veth-b([0-9]*) //p'
}

# stats_map PROGRAM: the id of its counter map
stats_map()
{
	local id

	for id in $(bpftool prog show id "$1" | sed -n 's/.* map_ids \([0-9,]*\).*/\1/p' | tr , ' '); do
		bpftool map show id "$id" | sed -n 's/^\([0-9]*\):.* name baleen_stats .*/\1/p'
	done
}

# counter MAP NAME: of all CPUs and rules
counter()
{
	bpftool map dump id "$1" | awk -v name="\"$2\":" '$1 == name { sum += $2 } END { print sum }'
}

# counters: all packets that the program on veth-b has counted
counters()
{
	local map name

	map=$(stats_map "$(attached | awk '{ print $NF }')")
	for name in packets bytes unmatched not_ip mpls tags version too_short vital no_filter; do
		printf '%s=%s ' "$name" "$(counter "$map" "$name")"
	done
}

# send NAME OPTION...: leaves what was sent in $TMP/out
send()
{
	check "$1" "$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --expect -j "${@:2}"
}

# sent NAME: the first number of that name in $TMP/out
sent()
{
	awk -v name="\"$1\":" '$1 == name { print $2 + 0; exit }' "$TMP/out"
}

# want DROPPED BYTES PASSED NOT_IP: what counters should print
want()
{
	echo "packets=$1 bytes=$2 unmatched=$3 not_ip=$4 mpls=0 tags=0 version=0 too_short=0" \
		"vital=0 no_filter=0 "
}

# try_tool TOOL WHAT N LISTED OPTION...: N frames of what is listed, and as many
# others
try_tool()
{
	local name="$1, $2"

	check "$name: attach" "$1_attach"
	is "$name: natively" "$(attached | sed "s/[0-9]*$/N/")" "driver id N"
	send "$name: exactly the listed are dropped" --listed "$4" "${@:5}"
	is "$name: all were sent" "$(jq -c "[.listed.sent, .unlisted.sent]" "$TMP/out")" "[$3,$3]"
	is "$name: the counters have names and add up" "$(counters)" \
		"$(want "$3" "$(sent bytes)" "$3" "$(sent markers)")"
	check "$name: detach" "$1_detach"
	is "$name: nothing is left" "$(attached)" ""
	send "$name: then everything passes" --unlisted "$4"
}

# headers: the kinds of tables that are left in the program; the verifier has
# removed what the rule, a constant of the load, does not use. One line of a
# header may be that of an instruction which clang shares.
headers()
{
	bpftool prog dump xlated pinned "$PIN" linum |
		grep -oE '(bloom|cuckoo|directory|prefixes|tree)\.h line_num:[1-9][0-9]*' | sort -u |
		awk '{ n[$1]++ } END { for (i in n) if (n[i] > 1) print i }' | sort | paste -s -d ' '
}

# try_constants WHAT HEADERS
try_constants()
{
	check "bpftool loads an object of $1" bpftool prog load "$OBJECT" "$PIN"
	is "only what it uses is left in the program" "$(headers)" "$2"
	rm -f "$PIN"
}

# compile WHAT BUILD_OPTION...: a list to an object
compile()
{
	check "$1: build" "$BALEEN" build -o "$TMP/list.bln" "${@:2}"
	check "$1: compile" "$BALEEN" compile -o "$OBJECT" "$TMP/list.bln"
}

# Of both families, with exceptions and what is listed within them.
try_prefixes()
{
	local tool lists=("$LISTS"/country-us.ipv{4,6}.cidr "$TMP/nested.txt")

	printf '%s\n' 9.0.0.0/9 '!9.1.0.0/16' 9.1.2.0/24 '!9.1.2.3' 2a10:1234::/33 \
		'!2a10:1234:10::/44' 2a10:1234:10:2::/64 '!2a10:1234:10:2::3' >"$TMP/nested.txt"
	"$ROOT/build/tools/sample" 20262 "$N_SAMPLE" "$N_SAMPLE" "$TMP/inside" "$TMP/outside" \
		"${lists[@]}" || bail "no addresses"
	compile "prefixes" "${lists[@]}"
	for tool in ip bpftool xdp-loader; do
		try_tool $tool prefixes $((2 * N_SAMPLE)) "$TMP/inside" --unlisted "$TMP/outside"
	done
	try_constants "prefixes" "directory.h tree.h"
	check "nested prefixes: attach" ip_attach
	fate "nested prefixes: IPv4" DPDP "$(ip4 9.2.0.1 17 "$(udp 9)")" \
		"$(ip4 9.1.0.1 17 "$(udp 9)")" "$(ip4 9.1.2.1 17 "$(udp 9)")" \
		"$(ip4 9.1.2.3 17 "$(udp 9)")"
	check "nested prefixes: detach" ip_detach
}

# fields KEY_SPEC: the values of these for what is sent from each address of
# the standard input
fields()
{
	awk -v spec="$1" '{
		value["proto"] = "udp"
		value["src"] = $0
		value["dst"] = /:/ ? "2001:db8::1" : "198.51.100.1"
		value["sport"] = value["dport"] = 9
		n = split(spec, name, ",")
		for (i = 1; i <= n; i++)
			printf "%s%s", value[name[i]], i < n ? "," : "\n"
	}'
}

# try_fields KEY_SPEC TOOL...
try_fields()
{
	local tool

	fields "$1" <"$TMP/inside" >"$TMP/fields.txt"
	compile "keys of $1" --key "$1" "$TMP/fields.txt"
	for tool in "${@:2}"; do
		try_tool "$tool" "keys of $1" $((2 * N_SAMPLE)) "$TMP/inside" \
			--unlisted "$TMP/outside"
	done
}

# Each field of a flow that is another one, and what has no ports.
try_flow()
{
	local from=192.0.2.1

	echo udp,$from,198.51.100.1,9,9 >"$TMP/fields.txt"
	compile "a flow" --key flow "$TMP/fields.txt"
	check "a flow: attach" ip_attach
	fate "a flow: itself, in a VLAN, its first fragment" DDD "$(ip4 $from 17 "$(udp 9)")" \
		"$(tag 5)$(ip4 $from 17 "$(udp 9)")" "$(ip4 $from 17 "$(udp 9)" 2000)"
	fate "a flow: another source, port, protocol" PPPP "$(ip4 192.0.2.2 17 "$(udp 9)")" \
		"$(ip4 $from 17 "$(udp 10)")" "$(ip4 $from 17 000a000900080000)" \
		"$(ip4 $from 6 "$(tcp 9 $SYN)")"
	fate "a flow: a later fragment has no ports, a packet that ends before them hides them" PD \
		"$(ip4 $from 17 "$(udp 9)" 2001)" "$(ip4 $from 17 0009)"
	check "a flow: detach" ip_detach
}

# The only frame of more than one buffer here: 8,000 bytes behind 42 of
# headers, from the one listed address. It has been through when what the
# traffic tool sends behind it has.
send_jumbo()
{
	in_ns "$A" bash -c 'dd if=/dev/zero bs=8000 count=1 >/dev/udp/10.66.0.2/9'
}

try_jumbo()
{
	echo 10.66.0.1 >"$TMP/jumbo.txt"
	check "a list of one address compiles" "$BALEEN" compile -o "$OBJECT" "$TMP/jumbo.txt"
	check "MTU 9000" ip -n "$B" link set dev veth-b mtu 9000
	check "MTU 9000 at the other end" ip -n "$A" link set dev veth-a mtu 9000
	check_status "sec xdp does not fit MTU 9000" 2 ip_attach
	is "for the reason given" "$(grep -c "MTU is too large" "$TMP/err")" 1
	check "sec xdp.frags does" in_ns "$B" ip link set dev veth-b xdpdrv obj "$OBJECT" \
		sec xdp.frags
	is "sec xdp.frags attaches natively" "$(attached | sed 's/[0-9]*$/N/')" "driver id N"
	check "a jumbo frame is sent" send_jumbo
	send "sec xdp.frags: others pass" --random 1000
	is "sec xdp.frags: the jumbo frame is dropped and counted in full" "$(counters)" \
		"$(want 1 8042 1000 "$(sent markers)")"
	check "ip takes sec xdp.frags off" ip_detach
}

# 33 million addresses need 69 MB: sections far above what kmalloc() gives.
try_large()
{
	check "a large image is built" "$BALEEN" build -o "$TMP/large.bln" --capacity 33000000 "$LIST"
	check "a large image compiles" "$BALEEN" compile -o "$OBJECT" "$TMP/large.bln"
	check "ip attaches 69 MB" ip_attach
	send "69 MB: exactly the listed are dropped" --listed "$LIST" --random 10000
	check "ip detaches 69 MB" ip_detach
}

# What is live can be compiled, too: the same image, so the same object.
try_live()
{
	local device=veth-b

	check "an image to attach" "$BALEEN" build -o "$TMP/live.bln" "$LIST"
	check "it is attached" in_ns "$B" "$BALEEN" attach "$device" --drop "$TMP/live.bln"
	check "its object" "$BALEEN" compile -o "$TMP/image.o" "$TMP/live.bln"
	check "the live rule's object" in_ns "$B" "$BALEEN" compile -o "$TMP/live.o" "$device:live"
	check "are the same" cmp "$TMP/image.o" "$TMP/live.o"
	check "it is detached" in_ns "$B" "$BALEEN" detach "$device"
}

if [ ! -e "$LIST" ]; then
	skip "compiled objects" "no $LIST"
	exit 0
fi
make_pair
check "a list compiles" "$BALEEN" compile -o "$OBJECT" "$LIST"
for tool in ip bpftool xdp-loader; do
	try_tool $tool hosts "$N_LISTED" "$LIST" --random "$N_LISTED"
done
try_constants hosts cuckoo.h
try_prefixes
try_fields proto,src,dst,sport,dport ip bpftool xdp-loader
try_fields src,dport ip
try_fields proto,src ip
try_flow
try_live
try_large
try_jumbo
