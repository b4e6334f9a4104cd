#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The command line on rules of the module, in the machines of rules.sh.
#
#      veth-a ====== veth-b: rules -> macv-b: AF_PACKET
#
# A packet socket on veth-b sees a packet before the hook does; what the hook lets
# pass goes on to macv-b, a macvlan that takes all that veth-b receives.
#
# Not executable, because it is for the machines of rules.sh.

source "$(dirname "$0")/../lib.sh"
export BALEEN_RUN_DIR=$TMP/run BALEEN_STATE_DIR=$TMP/state BALEEN_CONF_DIR=$TMP/conf
source tests/words.sh
source tests/frames.sh
source tests/kmod/vm.sh
PATH=/vm:$PATH

# shellcheck disable=SC2034 # of the parts
FROM=$A:veth-a TO=$B:macv-b

baleen() { in_ns "$B" timeout 60 "$BALEEN" "$@"; }

# device PATH: this value of veth-b, of status as JSON
device() { baleen status -j veth-b | jq -r ".[0]$1"; }

# names: of the rules in order
names() { device '.rules | map(.name) | join(" ")'; }

# packets: NAME=PACKETS of each rule in order, and the unmatched
packets()
{
	device ' | [ (.rules[] | "\(.name)=\(.packets)"), "unmatched=\(.unmatched)" ] | join(" ")'
}

# are NAME LETTERS ADDRESS...: what becomes of a datagram from each, P or D
are()
{
	local name=$1 want=$2 frames=() address

	for address in "${@:3}"; do
		frames+=("$(ip4 "$address" 17 "$(udp 53)")")
	done
	is "$name" "$("$ROOT/build/tools/frame" -v "$FROM" "$TO" "${frames[@]}" 2>&1)" "$want"
}

make_ground()
{
	mkdir -p /run/netns
	make_pair
	ip -n "$B" link add link veth-b name macv-b type macvlan mode passthru &&
		ip -n "$B" link set macv-b up || bail "no macvlan"
	cd "$TMP" || exit 2
	echo 192.0.2.1 >one
	printf '%s\n' 192.0.2.0/24 198.51.100.7 >net
	echo 10.66.0.2 >own
	echo 203.0.113.9 >away
	echo hello >strings
	make_list many 500 500 1
	make_list free 500 500 2 --avoid many
	make_list more 20000 0 3 --avoid free
	cat many more >big
	# Where this is a terminal there is progress to be seen.
	baleen build -o many.bln many 2>/dev/null && baleen build -o big.bln big 2>/dev/null ||
		bail "no images"
}

source tests/kmod/rules-words.sh
source tests/kmod/rules-traffic.sh
cd "$ROOT" || exit 2
make_ground
case $(uname -r) in
6.1.*) ;;
*) test_no_module ;;
esac
MODULE=$ROOT/$MODULE load_module
case $(uname -r) in
6.1.*) ;;
*) test_words ;;
esac
test_traffic
cd "$ROOT" || exit 2
test_gone
