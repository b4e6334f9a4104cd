#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Filters without a link of their own: what other tools do to them is noticed,
# what is not ours is left alone, and every command works on them. Swaps under
# traffic are in swap.sh, kills in kill-no-link.sh, chains that work in
# tests/kernels/chain.sh.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair
cd "$TMP" || exit 2

C=bln$$-c

baleen()
{
	in_ns "$B" "$BALEEN" "$@"
}

# send NAME OPTION...
send()
{
	check "$1" "$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --expect "${@:2}"
}

# status PATH: a value of veth-b
status()
{
	baleen status -j veth-b >"$TMP/json"
	json "$TMP/json" "[0]$1"
}

# pins: how many devices have some
pins()
{
	find /sys/fs/bpf/baleen -name 'ns*' | wc -l
}

# attach [OPTION...]: one.txt
attach()
{
	check "attach $*" baleen attach veth-b --no-link --drop one.txt "$@"
}

# out_of_force NAME STATE MESSAGE: it is known that it is
out_of_force()
{
	is "$1: status knows" "$(status .state) $(status .enforced)" "$2 false"
	check_status "$1: and fails" 1 baleen status veth-b
	is "$1: in words" "$(head -n 1 "$TMP/out")" "veth-b: NOT IN FORCE: $3"
	refuses "$1: swap refuses" "veth-b: the filter is not in force here ($2)" \
		baleen swap veth-b:one two.txt
	is "$1: what it was is still told" "$(status .rules[0].name)" one
}

# --- every command --------------------------------------------------------

# try_commands MODE
try_commands()
{
	local id

	prints "$1: attach" "veth-b: attached, $1$([ "$1" = native ] || echo ": degraded, behind the driver")" \
		baleen attach veth-b --no-link --mode "$1" --drop one.txt
	id=$(xdp_id "$B" veth-b)
	is "$1: status tells the way" "$(status .state) $(status .place) $(status .program_id)" \
		"attached netlink $id"
	is "$1: there is no link" "$(find /sys/fs/bpf -name link)" ""
	send "$1: it drops" --listed one.txt --unlisted two.txt
	refuses "$1: attached is attached" "baleen is attached to veth-b already: 'baleen swap' \
changes a rule, 'baleen detach veth-b' takes it off" baleen attach veth-b --drop two.txt
	check "$1: swap" baleen swap veth-b:one two.txt
	send "$1: it drops the others" --listed two.txt --unlisted one.txt
	check "$1: match finds one" baleen match veth-b:one "$(head -n 1 two.txt)"
	check "$1: dump" baleen dump veth-b:one
	is "$1: it is what was swapped in" "$(sort out)" "$(sort two.txt)"
	check "$1: another rule" baleen rule add veth-b --first --allow "first=$TMP/two.txt"
	send "$1: all pass" --unlisted one.txt --unlisted two.txt
	check "$1: the rule goes" baleen rule del veth-b:first
	check "$1: a dry run" baleen policy veth-b --dry-run
	send "$1: all pass" --unlisted two.txt
	is "$1: and are counted" "$(status .rules[0].packets)" 300
	check "$1: no dry run" baleen policy veth-b --enforce
	is "$1: one program has pins" "$(ls /sys/fs/bpf/baleen/*)" "$(xdp_id "$B" veth-b)"
	check "$1: save" baleen save veth-b -o saved
	prints "$1: detach" "veth-b: detached" baleen detach veth-b
	is "$1: nothing is left" "$(xdp_mode "$B" veth-b) $(pins)" "off 0"
	check "$1: restore" baleen restore veth-b saved
	is "$1: the way comes back" "$(status .state) $(status .place)" "attached netlink"
	send "$1: and the rules" --listed two.txt --unlisted one.txt
	check "$1: detach again" baleen detach veth-b
	rm -r saved
}

# --- other tools ----------------------------------------------------------

try_removed()
{
	local mode option

	for mode in native generic; do
		option=xdpdrv
		[ "$mode" = native ] || option=xdpgeneric
		attach --mode "$mode"
		check "ip, $mode: takes it off" in_ns "$B" ip link set dev veth-b $option off
		out_of_force "ip, $mode" detached "somebody detached it; attach again"
		attach --mode "$mode"
		check "bpftool, $mode: takes it off" in_ns "$B" bpftool net detach $option dev veth-b
		out_of_force "bpftool, $mode" detached "somebody detached it; attach again"
		prints "bpftool, $mode: detach forgets it" "veth-b: detached" baleen detach veth-b
		is "bpftool, $mode: nothing is left" "$(pins)" 0
	done
	attach
	check "off again" in_ns "$B" ip link set dev veth-b xdp off
	check "attach by a link" baleen attach veth-b --drop two.txt
	is "that is what counts now" "$(status .state) $(status .place)" "attached link"
	check "detach" baleen detach veth-b
	attach
	check "off, and forgotten" in_ns "$B" ip link set dev veth-b xdp off
	check "by --gone" baleen detach --gone
	is "that is said" "$(cut -d '(' -f 1 out)" "veth-b: forgotten "
	is "nothing is left" "$(pins)" 0
}

try_replaced()
{
	local id

	check "an object" "$BALEEN" compile -o drop.o two.txt
	attach
	check "ip puts another program there" \
		in_ns "$B" ip -force link set dev veth-b xdpdrv obj drop.o sec xdp
	id=$(xdp_id "$B" veth-b)
	out_of_force "replaced" replaced "program 'baleen_xdp' (id $id, native) is there instead"
	send "that is what drops" --listed two.txt --unlisted one.txt
	check_status "attach refuses" 1 baleen attach veth-b --no-link --drop one.txt
	is "that program stays" "$(xdp_id "$B" veth-b)" "$id"
	prints "detach" "veth-b: detached" baleen detach veth-b
	is "it forgets ours and leaves theirs" "$(pins) $(xdp_id "$B" veth-b)" "0 $id"
	check "ip takes that off" in_ns "$B" ip link set dev veth-b xdpdrv off
}

try_gone()
{
	ip -n "$B" link add name eth7 type veth peer name eth8 || bail "no device"
	check "attach" baleen attach eth7 --no-link --drop one.txt
	make_netns "$C"
	check "--gone elsewhere" in_ns "$C" "$BALEEN" detach --gone
	is "leaves what it cannot see" "$(<out)$(pins)" 1
	ip -n "$B" link del eth7
	check_status "status fails" 1 baleen status eth7
	is "status knows" "$(cut -d ';' -f 1 out | head -n 1 | sed 's/device [0-9]*/device N/')" \
		"eth7: NOT IN FORCE: device N is gone"
	check "--gone here" baleen detach --gone
	is "forgets it" "$(cut -d ' ' -f 1,2 out) $(pins)" "eth7: forgotten 0"
}

# --- a chain --------------------------------------------------------------

try_usage()
{
	check_status "one way at a time" 2 baleen attach veth-b --no-link --chain --drop one.txt
	is "says so" "$(cut -d '(' -f 1 err)" \
		"baleen: attach: --no-link and --chain exclude each other "
}

try_chain()
{
	if baleen attach veth-b --chain --drop one.txt >out 2>err; then
		baleen detach veth-b
		skip "--chain is refused" "this kernel can replace functions of programs"
		return
	fi
	is "--chain is refused in words" \
		"$(grep -c 'the kernel refused the XDP program for a chain (freplace): ' err)" \
		"$(wc -l <err)"
	is "nothing is attached" "$(xdp_mode "$B" veth-b)" off
	is "nothing is left" "$(pins) $(find /sys/fs/bpf -name 'dispatch-*')" "0 "
	send "everything passes" --unlisted one.txt --unlisted two.txt
}

make_list one.txt 100 0 1
make_list two.txt 100 0 2 --avoid one.txt
try_usage
try_chain
try_commands native
try_commands generic
try_removed
try_replaced
try_gone
