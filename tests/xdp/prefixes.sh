#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Lists of prefixes against live frames, tagged and untagged: who is inside is
# dropped, who is outside passes. A tool that shares no code with the filter
# says which is which.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"

LISTS=../shared/data/lists
N_FRAMES=100000 # of each side, half of them of each family

# mix SEED N: random prefixes of all lengths, IPv4 and IPv6; of 8 two are within
# the one before, one is an exception within it
mix()
{
	awk -v seed="$1" -v n="$2" '
	# Park and Miller 1988
	function below(limit)
	{
		seed = seed * 16807 % 2147483647
		return int(seed / 2147483647 * limit)
	}

	# begin(): the parts of another address, 8 of 16 bits or 4 of 8
	function begin(    i)
	{
		for (i = 0; i < n_parts; i++)
			part[i] = below(part_bits == 8 ? 256 : 65536)
		if (part_bits == 8)
			part[0] = 11 + part[0] % 100
		else
			part[0] = 8192 + part[0] % 8192
	}

	# Random from this bit on.
	function change(bit,    i, keep)
	{
		for (i = int(bit / part_bits); i < n_parts; i++) {
			keep = 2 ^ (i == int(bit / part_bits) ? part_bits - bit % part_bits : part_bits)
			part[i] = part[i] - part[i] % keep + below(keep)
		}
	}

	function show(length_, sign,    i, text)
	{
		text = sign
		for (i = 0; i < n_parts; i++)
			text = text (i ? separator : "") sprintf(part_bits == 8 ? "%d" : "%x", part[i])
		print text "/" length_
	}

	BEGIN {
		for (k = 0; k < n; k++) {
			is_ip6 = k % 2
			part_bits = is_ip6 ? 16 : 8
			n_parts = is_ip6 ? 8 : 4
			separator = is_ip6 ? ":" : "."
			bits = part_bits * n_parts
			longest = is_ip6 && k % 4 == 1 ? 64 : bits
			shortest = is_ip6 ? 20 : 9
			begin()
			length_ = shortest + below(longest + 1 - shortest)
			show(length_, "")
			for (nested = below(4); nested && length_ < longest; nested--) {
				change(length_)
				length_ += 1 + below(longest - length_)
				show(length_, nested == 1 ? "!" : "")
			}
		}
	}'
}

# send NAME TAGS
send()
{
	check "$1, $2 tags: inside dropped, outside passed" "$TRAFFIC" --from "$A:veth-a" \
		--to "$B:veth-b" --listed inside --unlisted outside --expect -j --tags "$2" --batch 250
	is "$1, $2 tags: all were sent" "$(jq -c '[.listed.sent, .unlisted.sent]' "$TMP/out")" \
		"[$n,$n]"
	sent=$(jq -c --argjson a "$sent" '[ $a[0] + .listed.sent, $a[1] + .listed.bytes,
		$a[2] + .unlisted.sent, $a[3] + .markers, 0 ]' "$TMP/out")
}

# try NAME LIST...
try()
{
	local name=$1 n=$N_FRAMES mode tags sent

	if ! "$ROOT/build/tools/sample" 20261 $((n / 2)) $((n / 2)) inside outside \
		"${@:2}"; then
		bail "no addresses for $name"
	fi
	is "$name: there are so many" "$(cat inside outside | wc -l)" $((2 * n))
	check "$name: build" "$BALEEN" build -o list.bln "${@:2}"
	for mode in native generic; do
		sent="[0,0,0,0,0]"
		check "$name, $mode: attach" in_ns "$B" "$BALEEN" attach veth-b --mode "$mode" \
			--force --drop list.bln
		is "$name, $mode: mode" "$(xdp_mode "$B" veth-b)" "$mode"
		for tags in 0 4; do
			send "$name, $mode" $tags
		done
		is "$name, $mode: counted" "$(counters "$B" veth-b)" "$sent"
		check "$name, $mode: detach" in_ns "$B" "$BALEEN" detach veth-b
	done
}

LISTS=$(realpath -q $LISTS) || LISTS=
make_pair
cd "$TMP" || exit 2
mix 7 20000 >mix.txt
if [ ! -d "$LISTS" ]; then
	try "random mix" mix.txt
	skip "lists of the world" "no ../shared/data/lists"
	exit 0
fi
try "country us" "$LISTS"/country-us.ipv{4,6}.cidr
try "country de, br" "$LISTS"/country-{de.ipv4,br.ipv6}.cidr
try "ipsum and a random mix" "$LISTS/ipsum.txt" mix.txt
