#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Prefixes and IPv6 addresses that come and go in place, by the table of recent changes
# behind the image of a live rule: what packets see after each change is what the state
# says of it, which knows nothing of the table; and nobody who lists, saves or counts the
# live rule forgets it.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair

DEPLOY=$ROOT/build/tools/deploy
VERDICT=$ROOT/build/tools/verdict
export BALEEN_STATE_DIR=$TMP/state BALEEN_RUN_DIR=$TMP/run DEPLOY_NEVER=$TMP/never.list

baleen() { in_ns "$B" "$BALEEN" "$@"; }
deploy() { in_ns "$B" "$DEPLOY" "$1" veth-b "${@:2}"; }

# dropped: a letter for each address
dropped() { in_ns "$B" "$VERDICT" veth-b "$@"; }

# batch NAME WANT CHANGE...: of rule ban; prints this
batch() { is "$1" "$(deploy batch ban "${@:3}" 2>&1)" "$2"; }

# holds: what the state says, in the letters of dropped
holds() { deploy holds ban "$@" | tr yn DP; }

kind=drop+guarded
# fresh LINE...: another state and device, whose only rule has this feed; none without
fresh()
{
	local feed=

	take_off "$B" veth-b
	rm -rf "$TMP/state" "$TMP/run"
	[ $# -eq 0 ] || { printf '%s\n' "$@" >"$TMP/feed" && feed="=$TMP/feed"; }
	deploy make kept "$kind:ban$feed" >"$TMP/out" 2>&1 || bail "cannot make: $(<"$TMP/out")"
}

# agree NAME ADDRESS...: packets, the program's twin, an image of the rule and the state agree
agree()
{
	local name=$1 want saved

	shift
	want=$(holds "$@")
	is "$name: packets" "$(dropped "$@")" "$want"
	is "$name: who looks" "$(baleen match veth-b:ban "$@" 2>&1 | matched "$@")" "$want"
	rm -f "$TMP/saved.bln"
	saved=$(baleen merge -o "$TMP/saved.bln" veth-b:ban "$TMP/none.bln" 2>&1) || not_ok "$name: saved" "$saved"
	is "$name: an image of it" "$("$BALEEN" match "$TMP/saved.bln" "$@" 2>&1 | matched "$@")" "$want"
}

# matched ADDRESS...: the output of match in the letters of dropped
matched()
{
	awk -v asked="$*" '{ is[$1] = 1 }
		END {
			n = split(asked, key, " ")
			for (i = 1; i <= n; i++)
				printf "%s", key[i] in is ? "D" : "P"
			print ""
		}'
}

echo 20.9.9.0/24 >"$TMP/never.list"
: >"$TMP/nothing"
"$BALEEN" build --allow-empty -o "$TMP/none.bln" "$TMP/nothing" >"$TMP/out" 2>&1 || bail "no empty image: $(<"$TMP/out")"

# --- one after the other ---

fresh 20.1.1.1 20.1.1.2 21.0.0.0/16 '!21.0.5.0/24' 2400::1 2400:5::/32
id=$(xdp_id "$B" veth-b)
around=(20.1.1.{1,3} 21.0.{1,5}.1 30.0.{0,1}.{1,2} 2400::{1,2} 2500::{1,2} 2500:0:0:1::1 2400:5::9)
batch "a prefix" "ok in-place" +30.0.0.0/24
agree "a prefix" "${around[@]}"
batch "a host in it" "ok in-place" +30.0.0.1
batch "the prefix goes" "ok in-place" -30.0.0.0/24
agree "the host stays" "${around[@]}"
batch "another of it comes and goes" "ok ok in-place" +30.0.0.2 -30.0.0.2
batch "an IPv6 prefix" "ok in-place" +2500::/64
batch "an IPv6 address" "ok in-place" +2500:0:0:1::1
agree "IPv6" "${around[@]}"
batch "an exception in a feed" "ok in-place" '+!21.0.0.0/20'
agree "an exception" "${around[@]}"
batch "a host of it" "ok in-place" +21.0.1.1
agree "a host in an exception" "${around[@]}"
batch "goes" "ok in-place" -21.0.1.1
agree "none any more" "${around[@]}"
batch "two origins of a prefix" "ok in-place" @one +30.0.0.0/24
batch "the other" "ok in-place" @two +30.0.0.0/24
batch "one goes" "ok in-place" @one -30.0.0.0/24
agree "the other holds it" "${around[@]}"
batch "all go" "ok ok ok ok ok in-place" @two -30.0.0.0/24 @manual -2500::/64 -2500:0:0:1::1 '-!21.0.0.0/20' \
	-30.0.0.1
agree "as before" "${around[@]}"
is "it is the same program" "$(xdp_id "$B" veth-b)" "$id"

# --- counted ---

entries() { baleen status -j veth-b | jq '.[0].rules[0].stored'; }

n=$(entries)
batch "three" "ok ok ok in-place" +30.0.0.0/24 +2500::/64 +2600::/64
is "they count" "$(entries)" $((n + 3))
is "in metrics, too" "$(baleen metrics veth-b 2>&1 | sed -n 's/^baleen_rule_stored_keys{.*} //p')" $((n + 3))
batch "go" "ok ok ok in-place" -30.0.0.0/24 -2500::/64 -2600::/64
is "and do not" "$(entries)" "$n"

# --- what takes more ---

batch "what the image was built with, beside feeds" "ok ok anew" --atomic +31.0.0.0/24 +2700::/64
batch "lifted" "ok anew" -31.0.0.0/24
batch "an exception" "ok in-place" '+!32.0.0.7'
batch "a prefix around what is not in it" "ok anew" +32.0.0.0/24
agree "both" 32.0.0.{6,7,8}
batch "a range" "ok anew" +33.0.0.1-33.0.0.6
batch "a prefix around what is withheld" "withheld(20.9.9.0-20.9.9.255 20.9.9.0/24) in-place" +20.9.9.0/24
agree "all" 33.0.0.{0,1,6,7} 20.9.9.1 "${around[@]}"
lengths=()
for length in {16..25}; do lengths+=("+40.$length.0.0/$length"); done
is "too many lengths" "$(deploy batch ban "${lengths[@]}" | awk '{ print $NF }')" anew
agree "too many lengths" 40.{16..25}.0.1

# --- without feeds ---

fresh
batch "built with it" "ok ok ok anew" --atomic +30.0.0.0/24 +2500::/64 +30.1.0.0/16
n=$(entries)
batch "lifted in place" "ok ok in-place" -30.0.0.0/24 -2500::/64
agree "lifted" 30.0.0.{1,2} 30.1.0.1 2500::1
is "they do not count" "$(entries)" $((n - 2))
batch "and back" "ok in-place" +30.0.0.0/24
agree "back" 30.0.0.{1,2} 30.1.0.1 2500::1

# --- a table that is full ---

# more FIRST N: so many bans
more() { seq "$1" $(($1 + $2 - 1)) | awk '{ printf "+2600:%x:%x::/64\n", $1 / 65536, $1 % 65536 }'; }

mapfile -t many < <(more 1 1500)
is "fifteen hundred" "$(deploy batch ban "${many[@]}" | awk '{ print $NF }')" in-place
mapfile -t many < <(more 1501 4000)
is "four thousand: it is full, and built anew" "$(deploy batch ban "${many[@]}" | awk '{ print $NF }')" anew
mapfile -t many < <(more 5501 1000)
is "then there is room" "$(deploy batch ban "${many[@]}" | awk '{ print $NF }')" in-place
agree "all" 2600:0:1:: 2600:0:5dc:: 2600:0:157c:: 2600:0:1964:: 2600:0:1965::
is "they count" "$(entries)" $((n - 1 + 6500))

# --- readers beside a writer ---

fresh 60.0.0.1
batch "hosts" "ok ok in-place" +50.0.0.1 +2800::1
for _ in {1..100}; do stay+=(50.0.0.1 2800::1 60.0.0.1); done
# What stays is asked for without a pause while it is held by other entries than before.
while [ ! -e "$TMP/done" ]; do dropped "${stay[@]}"; done >"$TMP/readers" &
readers=$!
for _ in {1..60}; do
	deploy batch ban +50.0.0.0/24 +2800::/64 -50.0.0.1 -2800::1
	deploy batch ban +50.0.0.0/28 +2800::/48 -50.0.0.0/24 -2800::/64
	deploy batch ban +50.0.0.1 +2800::1 -50.0.0.0/28 -2800::/48
done >"$TMP/writer" 2>&1
touch "$TMP/done"
wait "$readers"
is "each change in place" "$(sort -u "$TMP/writer")" "ok ok ok ok in-place"
is "nobody missed ($(($(wc -c <"$TMP/readers") / 301)) times 300)" "$(tr -d 'D\n' <"$TMP/readers" | wc -c)" 0

# --- at random ---

# A small world, so that all meet all: prefixes in each other, exceptions, hosts, IPv6.
steps()
{
	awk -v seed="$1" -v n="$2" '
	# Park and Miller 1988
	function below(limit)
	{
		seed = seed * 16807 % 2147483647
		return int(seed / 2147483647 * limit)
	}

	function key()
	{
		kind = below(8)
		if (kind == 0)
			return sprintf("50.0.%d.0/%d", below(2), 24)
		if (kind == 1)
			return "50.0.0.0/23"
		if (kind == 2)
			return sprintf("50.0.%d.%d/28", below(2), 16 * below(2))
		if (kind <= 4)
			return sprintf("50.0.%d.%d", below(2), below(2) * 16 + below(2))
		if (kind == 5)
			return sprintf("2800:0:0:%d::/64", below(2))
		if (kind == 6)
			return "2800::/48"
		return sprintf("2800:0:0:%d::%d", below(2), below(2))
	}

	BEGIN {
		for (i = 0; i < n; i++) {
			line = ""
			for (k = below(3); k >= 0; k--)
				line = line sprintf(" %s%s%s", below(2) ? "+" : "-", below(12) ? "" : "!", key())
			print (below(3) ? "" : "@other") line
		}
	}'
}

world=(50.0.{0,1}.{0,1,2,16,17,31,32} 50.0.2.1 2800:0:0:{0,1}::{,1,2} 2800:0:0:2:: 2800:0:1::)
# walk NAME SEED N FEED...
walk()
{
	local name=$1 n_bad=0 in_place=0 line step=0 got

	steps "$2" "$3" >"$TMP/steps"
	shift 3
	fresh "$@"
	while read -r line; do
		step=$((step + 1))
		# shellcheck disable=SC2086
		got=$(deploy batch ban $line 2>&1)
		[ "${got##* }" = in-place ] && in_place=$((in_place + 1))
		[ "$(dropped "${world[@]}")" = "$(holds "${world[@]}")" ] && continue
		n_bad=$((n_bad + 1))
		[ "$n_bad" -gt 3 ] || echo "# step $step: $line: $got: $(dropped "${world[@]}"), not $(holds "${world[@]}")"
	done <"$TMP/steps"
	is "$name: steps that differ" "$n_bad" 0
	is "$name: many in place ($in_place of $step)" $((3 * in_place >= step)) 1
	agree "$name: at the end" "${world[@]}"
}

walk "no feed" 1 150
kind=drop
walk "a feed of hosts" 2 150 50.0.0.1 50.0.1.16 60.0.0.1
walk "a feed of prefixes" 3 150 50.0.0.0/27 '!50.0.0.1' 2800::/64 60.0.0.1
