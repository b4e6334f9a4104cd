#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A device whose frames begin with their IP header: a tun, both ways.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/frames.sh
source "$ROOT/tests/frames.sh"
cd "$TMP" || exit 2

baleen()
{
	in_ns "$B" "$BALEEN" "$@"
}

# The user of tun0: writes to it what it reads as HEX, a line each, and after each line
# that is "?" prints the packets that came out of it by then. A ping to 10.9.0.1 comes
# back, so what was sent before it has come, too.
cat >user.py <<-'END'
	import fcntl, os, struct, sys
	tun = os.open("/dev/net/tun", os.O_RDWR)
	fcntl.ioctl(tun, 0x400454ca, struct.pack("16sH", b"tun0", 0x1001))  # IFF_TUN | IFF_NO_PI
	print("there", flush=True)
	for line in sys.stdin:
	    if line.strip() != "?":
	        os.write(tun, bytes.fromhex(line))
	        continue
	    while True:
	        packet = os.read(tun, 65536)
	        if packet[0] >> 4 == 4 and packet[16:20] == bytes([10, 9, 0, 99]):
	            break
	        if packet[0] >> 4 == 4 and packet[16:18] == bytes([10, 9]):
	            print(".".join(map(str, packet[16:20])), flush=True)
	    print("end", flush=True)
END

# comes HEX...: packets without Ethernet come in
comes()
{
	printf '%s\n' "$@" >&8
}

# packets DEVICE: of its rules
packets()
{
	baleen status -j "$1" | jq -c '[.[0].rules[].packets]'
}

# goes ADDRESS...: datagrams are sent there; prints to which of them they went
goes()
{
	local line

	in_ns "$B" python3 -c '
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for address in sys.argv[1:]:
    s.sendto(b"x", (address, 9))' "$@" 10.9.0.99
	echo '?' >&8
	while read -r -u 7 line && [ "$line" != end ]; do
		echo "$line"
	done | paste -s -d ' '
}

# v4 SOURCE, v6 HOST: a datagram to port 53, from its IP header on
v4() { ip4 "$1" 17 "$(udp 53)" | cut -c 5-; }
v6() { ip6 "$1" 17 64 "$(udp 53)" | cut -c 5-; }

# test_in MODE
test_in()
{
	printf '%s\n' 9.9.9.7 fd66::aa >bad.list
	check "$1: attach" baleen attach tun0 --mode "$1" --count "dns=any" proto udp dport 53 \
		--drop bad.list --sample 1000/s
	comes "$(v4 9.9.9.7)" "$(v4 9.9.9.8)" "$(v6 aa)" "$(v6 ab)" 45000014
	goes 10.9.0.2 >/dev/null
	is "$1: sources that are listed are dropped, ports are found" "$(packets tun0)" "[4,2]"
	is "$1: what is cut off is counted" "$(baleen status -j tun0 |
		jq -c '.[0].unparsed | [.short, .not_ip]')" "[1,0]"
	: >watching
	in_ns "$B" "$BALEEN" watch --json --count 1 tun0 >event 2>watching &
	until grep -q watching watching; do
		kill -0 $! || bail "nobody watches"
	done
	comes "$(v6 aa)"
	wait $!
	is "$1: events show the packet" "$(jq -c '[.rule, .src, .dport]' event)" '["dns","fd66::aa",53]'
	check "$1: why" baleen why tun0 9.9.9.7 fd66::aa 9.9.9.8 --proto udp
	is "$1: why asks the program" "$(grep -c ': dropped' out) $(grep -c ': passes' out)" "2 1"
	check "$1: detach" baleen detach tun0
}

# test_out [OPTION...]
test_out()
{
	echo 10.9.0.7 >out.list
	check "attach" baleen attach --egress tun0 "$@" --drop out.list
	is "destinations that are listed do not leave" "$(goes 10.9.0.2 10.9.0.7 10.9.0.8)" \
		"10.9.0.2 10.9.0.8"
	is "and are counted" "$(packets tun0@egress)" "[1]"
	check "why" baleen why tun0@egress 10.9.0.7 10.9.0.8
	is "why asks the program" "$(grep -c ': dropped' out) $(grep -c ': passes' out)" "1 1"
	check "detach" baleen detach tun0@egress
	is "then all leave" "$(goes 10.9.0.2 10.9.0.7)" "10.9.0.2 10.9.0.7"
}

make_netns "$B"
coproc USER { exec nsenter --net="/run/netns/$B" -- python3 user.py; }
exec 7<&"${USER[0]}" 8>&"${USER[1]}" # for subshells, too
read -r -u 7 _ || bail "no tun"
ip -n "$B" address add 10.9.0.1/24 dev tun0
ip -n "$B" link set dev tun0 up
test_in generic
test_out
test_out --no-link
