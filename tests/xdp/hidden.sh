#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# No packet of a listed source gets past a rule because it hides its protocol, its ports or its
# flags: each packet of the table in tests/shapes.sh is given to XDP, to tc at the egress, to
# `replay` and, as far as it can be asked about such a packet, to `why`. tests/kmod/hook.sh asks
# the module.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/frames.sh
source "$ROOT/tests/frames.sh"
# shellcheck source=tests/shapes.sh
source "$ROOT/tests/shapes.sh"
# shellcheck source=tests/pcap.bash
source "$ROOT/tests/pcap.bash"
cd "$TMP" || exit 2

# The columns of $HIDING behind the row, and what has the keys.
WORDS=("proto tcp" "dport 22" "tcp-syn" "dport 22 tcp-syn" "")
FILTERS=(listed.bln listed.bln listed.bln listed.bln pairs.bln)

# sent: the letters of all frames, on their way from $FROM to $TO
sent()
{
	local i

	for ((i = 0; i < ${#frames[@]}; i += 400)); do
		"$ROOT/build/tools/frame" -v "$FROM" "$TO" "${frames[@]:i:400}" || return
	done | tr -d '\n'
}

# replayed RULE...: the same of all.pcap
replayed()
{
	"$BALEEN" replay -jv "$@" all.pcap | jq -r '[.[] | if .verdict == "drop" then "D" else "P" end] | add'
}

# counted DEVICE: packets of its first two rules
counted()
{
	in_ns "$B" "$BALEEN" status -j "$1" | jq -r '[.[0].rules[:2][].packets] | join(" ")'
}

# attach DEVICE ARGUMENT...
attach()
{
	in_ns "$B" "$BALEEN" attach "$1" --force --no-state "${@:2}"
}

# try_device NAME DEVICE COLUMNS [OPTION...]: each column, where it drops and where it allows
try_device()
{
	local column word filter n
	local -A answer

	for column in $3; do
		word=${WORDS[column]} filter=${FILTERS[column]}
		read_column "$column"
		n=$(want_letters 1 1 '') n=${#n}
		# shellcheck disable=SC2086 # words
		check "$1, ${word:-a key}: drop" attach "$2" "${@:4}" \
			--count seen=$filter $word --drop one=$filter $word
		is "$1, ${word:-a key}: a drop rule takes what is hidden" \
			"$(wrong_letters "$(sent)" "$(want_letters D D P)")" ""
		is "$1, ${word:-a key}: a count rule, too" "$(counted "$2")" "$n $n"
		check "$1, ${word:-a key}: detach" in_ns "$B" "$BALEEN" detach "$2"
		# shellcheck disable=SC2086 # words
		check "$1, ${word:-a key}: allow" attach "$2" "${@:4}" --default drop \
			--allow one=$filter $word
		is "$1, ${word:-a key}: an allow rule does not" \
			"$(wrong_letters "$(sent)" "$(want_letters P D D)")" ""
		check "$1, ${word:-a key}: detach" in_ns "$B" "$BALEEN" detach "$2"
	done
}

try_replay()
{
	local column word filter
	local -A answer

	for column in 0 1 2 3 4; do
		word=${WORDS[column]} filter=${FILTERS[column]}
		read_column "$column"
		# shellcheck disable=SC2086 # words
		is "replay, ${word:-a key}: drop" "$(wrong_letters "$(replayed --drop one=$filter $word)" \
			"$(want_letters D D P)")" ""
		# shellcheck disable=SC2086 # words
		is "replay, ${word:-a key}: allow" "$(wrong_letters "$(replayed --default drop --allow \
			one=$filter $word)" "$(want_letters P D D)")" ""
	done
}

# Rows that `why` can be asked about, and how.
ASKED="
opens
answers --established
elsewhere --dport 80
other --proto 50
unreached --shape deep
cut --shape cut
cut_other --proto udp --shape cut
later --shape fragment
"

# try_why ACTION VERDICTS: of the rule with an action, for Y, H and N: matches or not
try_why()
{
	local column word filter row how got want
	local -a addresses
	local -A answer matches=([Y]=${2:0:1} [H]=${2:1:1} [N]=${2:2:1}) hides=([Y]=- [H]=h [N]=-)

	for column in 0 1 2 3 4; do
		word=${WORDS[column]} filter=${FILTERS[column]} got='' want=''
		read_column "$column"
		# shellcheck disable=SC2086 # words
		check "why, ${word:-a key}: attach" attach veth-b --default drop "--$1" one=$filter $word
		while read -r row how; do
			[ -n "$row" ] || continue
			addresses=(2001:db8:a::bad1 192.0.2.1)
			[ "$row" != unreached ] || addresses=("${addresses[0]}")
			[[ $how == *--dport* || $how == *50* ]] || how+=" --dport 22"
			for _ in "${addresses[@]}"; do
				want+="$row ${matches[${answer[$row]}]} ${hides[${answer[$row]}]}"$'\n'
			done
			# shellcheck disable=SC2086 # words
			got+=$(in_ns "$B" "$BALEEN" why -j veth-b "${addresses[@]}" $how | jq -r --arg row "$row" \
				'.[] | .rules[0].matches as $matches | $row + (if (.because == "rule") != $matches
				then " ?" elif $matches then " M" else " -" end) +
				(if .rules[0].asks_hidden then " h" else " -" end)')$'\n'
		done <<<"$ASKED"
		is "why, ${word:-a key}, $1: it agrees" "$got" "$want"
		check "why, ${word:-a key}: detach" in_ns "$B" "$BALEEN" detach veth-b
	done
}

# A limit takes what is hidden, too: of five such packets two are within it.
try_limit()
{
	local hidden=() other=() i

	for ((i = 0; i < ${#frames[@]}; i++)); do
		[ "${rows[i]}" != unreached ] || hidden+=("${frames[i]}")
		[ "${rows[i]}" != other ] || other+=("${frames[i]}")
	done
	check "limit: attach" in_ns "$B" "$BALEEN" attach veth-b --force --drop jail=jail.txt bans \
		--drop over=listed.txt proto tcp dport 22 limit 1/h burst 2 ban 10m unverified
	fate "limit: what is hidden counts, and is dropped above it" PPDDD "${hidden[@]:0:5}"
	fate "limit: another protocol does not, and passes" PPPPP "${other[@]:30:5}"
	check "limit: detach" in_ns "$B" "$BALEEN" detach veth-b
}

# An address rule does not look for any of it; what no list has is dropped by nobody.
try_unlisted()
{
	local frames rows passed

	read_hiding unmatched
	check "unlisted: attach" attach veth-b --drop one=listed.bln proto tcp dport 22
	passed=$(sent)
	is "unlisted: no packet of a source that is not listed is dropped" "${passed//P/}" ""
	check "unlisted: detach" in_ns "$B" "$BALEEN" detach veth-b
	read_hiding listed
	check "address: attach" attach veth-b --drop one=listed.bln
	passed=$(sent)
	is "address: each packet of a listed source is" "${passed//D/}" ""
	check "address: detach" in_ns "$B" "$BALEEN" detach veth-b
}

# documented: the rows of docs/frames.md in the letters of $HIDING
documented()
{
	sed -n '/^## What a packet hides/,/^## /p' "$ROOT/docs/frames.md" | grep '^| ' | sed 1d |
		sed 's/^| [^|]* |//; s/hidden/H/g; s/yes/Y/g; s/no/N/g; s/[| ]\+/ /g; s/^ //; s/ $//'
}

is "docs/frames.md has the table" "$(documented)" \
	"$(sed '/^ *$/d; s/^ *[a-z_]* *//; s/ \+/ /g' <<<"$HIDING")"
# shellcheck disable=SC2119 # the default pair
make_pair
printf '%s\n' 192.0.2.1 2001:db8:a::bad1 >listed.txt
echo 192.0.2.9 >jail.txt
printf '%s\n' 192.0.2.1,22 2001:db8:a::bad1,22 >pairs.txt
check "hosts" "$BALEEN" build -o listed.bln --key src listed.txt
check "pairs" "$BALEEN" build -o pairs.bln --key src,dport pairs.txt
for class in listed unmatched; do
	make_hiding "$class" >"$class"
done
read_hiding listed
is "each row has frames" "$(sort -u <(printf '%s\n' "${rows[@]}"))" \
	"$(awk 'NF { print $1 }' <<<"$HIDING" | sort)"
pcap_begin all.pcap
# shellcheck disable=SC2046 # words
bytes $(printf "$MACS%s\n" "${frames[@]}" | awk '
	function little(n) { return sprintf("%02x%02x0000", n % 256, int(n / 256)) }
	{ n = length($0) / 2; print "0100000002000000" little(n) little(n) $0 }') >>all.pcap
FROM=$A:veth-a TO=$B:veth-b
try_device "native" veth-b "0 1 2 3 4" --mode native
try_limit
try_unlisted
try_why drop MM-
try_why allow M--
FROM=$B:veth-b TO=$A:veth-a
# The same source, another object.
try_device "egress" veth-b@egress "$(pick "3 4" "0 1 2 3 4")"
try_replay
