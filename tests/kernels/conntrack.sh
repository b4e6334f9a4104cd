# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A router whose conntrack is a module with BTF of its own: while it is not loaded, rules
# that ask it are refused; then what belongs to a flow that veth-b forwards passes a default
# of drop, and goes out of it; and what belongs to a socket of this host. The picture, and
# more of it, is in tests/xdp/conntrack.sh.

# shellcheck source=tests/frames.sh
source tests/frames.sh
C=$A-c

# reload_conntrack: what init has loaded, and test_absent taken out
reload_conntrack()
{
	local module

	while read -r module; do
		case $module in *conntrack* | *defrag* | *nft_ct*) insmod "$module" 2>/dev/null ;; esac
	done </modules.load
	[ -d /sys/module/nf_conntrack ] || bail "no conntrack"
}

test_absent()
{
	local missing="baleen: conntrack: the kernel's module is not loaded: 'modprobe nf_conntrack'"

	check "conntrack: a filter that does not ask" on_b "$BALEEN" attach veth-b --drop drop="$TMP/drop.bln"
	check "conntrack: the module goes" rmmod nft_ct nf_conntrack
	check_status "conntrack: rule add without it" 1 \
		on_b "$BALEEN" rule add veth-b --allow replies=any conntrack
	is "conntrack: says what is missing" "$(<"$TMP/err")" "$missing"
	judges "conntrack: what was there stays" "$LISTED"
	check "conntrack: detach" on_b "$BALEEN" detach veth-b
	check_status "conntrack: attach without it" 1 \
		on_b "$BALEEN" attach veth-b --allow replies=any conntrack
	is "conntrack: says the same, once" "$(<"$TMP/err")" "$missing"
	check_status "conntrack: at the egress, too" 1 \
		on_b "$BALEEN" attach --egress veth-b --allow replies=any conntrack
	is "conntrack: with the same words" "$(<"$TMP/err")" "$missing"
	on_b "$BALEEN" doctor veth-b >"$TMP/out"
	shows "conntrack: doctor names it" "^ok +conntrack +no rule may ask for flows: ${missing#baleen: }"
	reload_conntrack
}

make_inside()
{
	make_netns "$C"
	ip -n "$B" link add name inside type veth peer name host netns "$C" &&
		ip -n "$B" address add 10.77.0.1/24 dev inside &&
		ip -n "$C" address add 10.77.0.2/24 dev host &&
		ip -n "$B" link set dev inside up && ip -n "$C" link set dev host up &&
		ip -n "$C" address add 198.51.100.1/32 dev host &&
		ip -n "$C" route add default via 10.77.0.1 &&
		ip -n "$B" route add 192.0.2.0/24 via 10.66.0.1 &&
		ip -n "$B" route add 198.51.100.1/32 via 10.77.0.2 &&
		ip -n "$A" route add 10.77.0.0/24 via 10.66.0.2 || bail "no host inside"
	in_ns "$B" tee /proc/sys/net/ipv4/ip_forward <<<1 >/dev/null
	in_ns "$B" tee /proc/sys/net/netfilter/nf_conntrack_udp_timeout <<<600 >/dev/null
	in_ns "$B" /vm/nft -f - <<-END || bail "no rules of nftables"
	table inet follow {
	    chain forward {
	        type filter hook forward priority 0
	        ct state new accept
	    }
	}
	END
}

# gets NAMESPACE ADDRESS: a page of a web server
gets()
{
	in_ns "$1" timeout 3 wget -q -O /dev/null "http://$2:8080/"
}

serve_web()
{
	local ns

	echo hello >"$TMP/index.html"
	for ns in "$A" "$B" "$C"; do
		in_ns "$ns" httpd -p 8080 -h "$TMP"
		until gets "$ns" 127.0.0.1; do :; done
	done
}

# What asks the sockets of this kernel, and no conntrack.
test_sockets()
{
	check "established: a server answers before" gets "$A" 10.66.0.2
	check "established: attach" on_b "$BALEEN" attach veth-b --default drop --allow replies=any established
	check "established: TCP of this host" gets "$B" 10.66.0.1
	check "established: ping of this host" in_ns "$B" ping -c 1 -W 5 10.66.0.1
	check "established: no SYN from outside" \
		bash -c "! nsenter --net=/run/netns/$A -- timeout 3 wget -q -O /dev/null http://10.66.0.2:8080/"
	check "established: nothing that is forwarded" \
		bash -c "! nsenter --net=/run/netns/$C -- timeout 3 wget -q -O /dev/null http://10.66.0.1:8080/"
	check "established: detach" on_b "$BALEEN" detach veth-b
}

test_flows()
{
	local mode=$1

	check "conntrack, $mode: attach" on_b "$BALEEN" attach veth-b --mode "$mode" --default drop \
		--allow replies=any established conntrack
	check "conntrack, $mode: TCP from inside" gets "$C" 10.66.0.1
	check "conntrack, $mode: ping" in_ns "$C" ping -c 1 -W 5 10.66.0.1
	check "conntrack, $mode: no SYN from outside" \
		bash -c "! nsenter --net=/run/netns/$A -- timeout 3 wget -q -O /dev/null http://10.77.0.2:8080/"
	fate "conntrack, $mode: a reply of UDP, and from elsewhere" PDD "$(ip4 192.0.2.1 17 "$(udp 4001)")" \
		"$(ip4 192.0.2.2 17 "$(udp 4001)")" "$(ip4 192.0.2.1 17 "$(udp 4009)")"
	fate "conntrack, $mode: its first fragment, no later one" PD \
		"$(ip4 192.0.2.1 17 "$(udp 4001)" 2000)" "$(ip4 192.0.2.1 17 "$(udp 4001)" 0001)"
	fate "conntrack, $mode: errors of it, and of others" PD "$(ip4 203.0.113.1 1 "$(error4 3 17 4001)")" \
		"$(ip4 203.0.113.1 1 "$(error4 3 17 4009)")"
	check "conntrack, $mode: why" on_b "$BALEEN" why veth-b 192.0.2.1 --dst 198.51.100.1 \
		--proto udp --sport 9 --dport 4001
	shows "conntrack, $mode: why says who knows it" "decides \(established conntrack\)"
	check "conntrack, $mode: detach" on_b "$BALEEN" detach veth-b
}

test_flows_out()
{
	check "conntrack, egress: attach" on_b "$BALEEN" attach --egress veth-b --force --default drop \
		--allow replies=any conntrack
	check "conntrack, egress: a server answers" gets "$A" 10.77.0.2
	check "conntrack, egress: nobody begins" \
		bash -c "! nsenter --net=/run/netns/$C -- timeout 3 wget -q -O /dev/null http://10.66.0.1:8080/"
	check "conntrack, egress: detach" on_b "$BALEEN" detach veth-b@egress
}

test_conntrack()
{
	test_absent
	make_inside
	serve_web
	# A flow that nobody answers: UDP from 198.51.100.1:4001 to 192.0.2.1:9.
	check "conntrack: who begins a flow" "$ROOT/build/tools/frame" "$C:host" "$B:inside" \
		"08004500001c0000400040114e9bc6336401c0000201$(from 4001 9)"
	test_sockets
	test_flows native
	test_flows generic
	test_flows_out
	in_ns "$B" /vm/nft flush ruleset
	ip netns del "$C"
}
