#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The object of `baleen compile` in the hands of ip, bpftool and xdp-loader:
# each attaches it, all that is listed is dropped and all else passes, the
# counters have names and add up, and the same tool takes it off again.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"

LIST=../shared/data/lists/ipsum.txt
N_LISTED=120430
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
	for name in packets bytes passed pass_not_ip pass_mpls pass_tags pass_version pass_short \
		pass_no_filter; do
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
	echo "packets=$1 bytes=$2 passed=$3 pass_not_ip=$4 pass_mpls=0 pass_tags=0" \
		"pass_version=0 pass_short=0 pass_no_filter=0 "
}

try_tool()
{
	check "$1 attaches the object" "$1_attach"
	is "$1 attaches natively" "$(attached | sed 's/[0-9]*$/N/')" "driver id N"
	send "$1: exactly the listed are dropped" --listed "$LIST" --random "$N_LISTED"
	is "$1: all of the list was sent" "$(sent sent)" "$N_LISTED"
	is "$1: the counters have names and add up" "$(counters)" \
		"$(want "$N_LISTED" "$(sent bytes)" "$N_LISTED" "$(sent markers)")"
	check "$1 detaches the object" "$1_detach"
	is "$1 leaves nothing attached" "$(attached)" ""
	send "$1: then everything passes" --unlisted "$LIST"
}

# The rule is a constant of the load, so the verifier removes what it does not
# use; the line numbers say which headers are left.
try_constants()
{
	check "bpftool loads the object" bpftool prog load "$OBJECT" "$PIN"
	is "of the kinds, only the cuckoo table is left in the program" \
		"$(bpftool prog dump xlated pinned "$PIN" linum | grep -oE '(bloom|cuckoo)\.h' |
			sort -u)" cuckoo.h
	rm -f "$PIN"
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
try_tool ip
try_tool bpftool
try_tool xdp-loader
try_constants
try_live
try_large
try_jumbo
