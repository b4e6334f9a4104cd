# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Segments whose numbers go on with a connection count for a limit, others do not: where its
# numbers stand in the kernel is another place in each. Sourced.

# limit_says: the line of status
limit_says()
{
	on_b "$BALEEN" status veth-b | grep 'sources tracked'
}

test_limit()
{
	local i

	for i in {1..200}; do
		ip -n "$A" address add "10.66.1.$i/32" dev lo
	done
	ip -n "$A" address add 10.66.2.1/32 dev lo
	ip -n "$B" route add 10.66.0.0/16 via 10.66.0.1
	echo 203.0.113.9 >"$TMP/jail"
	check "a limit: attach" on_b "$BALEEN" attach veth-b --force --drop jail="$TMP/jail" bans \
		--count web=any dport 80 limit 1/h burst 900 ban 10m
	check "200 clients, and 2000 segments with numbers by chance" build/tools/crowd "$A" "$B" blind 2000 0 1
	limit_says >"$TMP/out"
	shows "nobody is over the limit" ' 0 over it now, 0 overruns'
	check "200 clients, and 2000 segments that go on" build/tools/crowd "$A" "$B" tcp 2000 0 1
	limit_says >"$TMP/out"
	shows "one is" ' 1 over it now'
	check "a limit: detach" on_b "$BALEEN" detach veth-b
	ip -n "$B" route del 10.66.0.0/16
	ip -n "$A" address flush dev lo to 10.66.0.0/16
}
