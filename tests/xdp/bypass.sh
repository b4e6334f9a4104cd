#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# No frame gets past the table below because of how it is made: each shape is
# sent from a listed source, from an allowed one and from one in no list, under
# both defaults, and every frame is counted where the table says.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/frames.sh
source "$ROOT/tests/frames.sh"
# shellcheck source=tests/shapes.sh
source "$ROOT/tests/shapes.sh"
cd "$TMP" || exit 2

# What becomes of a frame, and which counter says so, under `--drop listed
# --allow allowed`; P passes, D is dropped. docs/frames.md has it, too.
#
#      row        default pass   default drop
TABLE="
       listed     D listed       D listed
       allowed    P allowed      P allowed
       unmatched  P unmatched    D unmatched
       neighbour  P unmatched    P vital
       vital      P not_ip       P vital
       not_ip     P not_ip       D not_ip
       mpls       P mpls         D mpls
       tags       P tags         D tags
       version    P version      D version
       short      P short        D short
       cut_tag    D short        D short
"
# neighbour: neighbour discovery and MLD of a source in no list. cut_tag: XDP
# passes it, then the kernel itself discards it, since it ends less than two
# bytes behind its first tag (skb_vlan_untag).
COUNTERS="listed allowed unmatched vital not_ip mpls tags version short no_filter"

# read_shapes FILE...: into rows and frames
read_shapes()
{
	local row frame

	rows=() frames=()
	while read -r row frame; do
		rows+=("$row")
		frames+=("$frame")
	done < <(cat "$@")
}

# --- what becomes of them ---

# count: packets of each of COUNTERS, and the bytes of the two rules
count()
{
	in_ns "$B" "$BALEEN" status -j veth-b | jq -r '.[0] | [ .rules[].packets, .unmatched, .vital,
		(.unparsed | .not_ip, .mpls, .tags, .version, .short), .no_filter,
		.rules[].packet_bytes ] | join(" ")'
}

# read_table DEFAULT: the letter and the counter of each row
read_table()
{
	local row pass drop pass_counter drop_counter

	while read -r row pass pass_counter drop drop_counter; do
		[ -n "$row" ] || continue
		if [ "$1" = pass ]; then
			letter[$row]=$pass counter[$row]=$pass_counter
		else
			letter[$row]=$drop counter[$row]=$drop_counter
		fi
	done <<<"$TABLE"
}

# want_counts DEFAULT BEFORE...: what count has to say behind all frames, each
# followed by an LLDP frame
want_counts()
{
	local -A n=() bytes=()
	local i name marker=not_ip out=() was=("${@:2}")

	[ "$1" = pass ] || marker=vital
	for ((i = 0; i < ${#rows[@]}; i++)); do
		name=${counter[${rows[i]}]}
		n[$name]=$((${n[$name]-0} + 1))
		bytes[$name]=$((${bytes[$name]-0} + 12 + ${#frames[i]} / 2))
	done
	n[$marker]=$((${n[$marker]-0} + ${#rows[@]}))
	i=0
	for name in $COUNTERS; do
		out+=($((was[i++] + ${n[$name]-0})))
	done
	out+=($((was[i++] + ${bytes[listed]-0})) $((was[i] + ${bytes[allowed]-0})))
	echo "${out[*]}"
}

# wrong_fates LETTERS: the frames whose letter is not that of their row
wrong_fates()
{
	local i

	for ((i = 0; i < ${#rows[@]}; i++)); do
		[ "${1:i:1}" = "${letter[${rows[i]}]}" ] ||
			echo "${rows[i]} '${1:i:1}' ${frames[i]:0:300}"
	done | head -n 20
}

# send_all: the letters of all frames
send_all()
{
	local i

	for ((i = 0; i < ${#frames[@]}; i += 400)); do
		fates "${frames[@]:i:400}" || return
	done | tr -d '\n'
}

# try NAME DEFAULT CLASS FILE...
try()
{
	local name="$1, default $2, $3 source" before letters rows frames
	local -A letter=() counter=()

	read_shapes "${@:4}"
	read_table "$2"
	read -r -a before <<<"$(count)"
	letters=$(send_all 2>send.err)
	is "$name: ${#frames[@]} frames were sent" "${#letters}$(<send.err)" "${#frames[@]}"
	is "$name: each has the fate of its row" "$(wrong_fates "$letters")" ""
	is "$name: and is counted there" "$(count)" "$(want_counts "$2" "${before[@]}")"
}

# try_mode NAME MODE MTU
try_mode()
{
	local default class kinds=("")

	[ "$3" -lt 9000 ] || kinds+=(.jumbo)
	check "$1: MTU $3" ip -n "$A" link set dev veth-a mtu "$3"
	check "$1: at both ends" ip -n "$B" link set dev veth-b mtu "$3"
	for default in pass drop; do
		check "$1: attach, default $default" in_ns "$B" "$BALEEN" attach veth-b --mode "$2" \
			--default "$default" --force --drop listed.txt --allow allowed.txt
		is "$1: mode" "$(xdp_mode "$B" veth-b)" "$2"
		for class in "${!SOURCE4[@]}"; do
			try "$1" "$default" "$class" "${kinds[@]/#/$class}"
		done
		check "$1: detach" in_ns "$B" "$BALEEN" detach veth-b
	done
}

# documented: the rows of docs/frames.md in the words of TABLE, which has one more
documented()
{
	sed -n '/^## The table/,/^## /p' "$ROOT/docs/frames.md" | grep '^| ' | sed 1d | awk -F ' *[|] *' '
		function letter(word) { return word == "passes" ? "P" : word == "dropped" ? "D" : word }
		{
			pass = tolower($5)
			gsub("not ip", "not_ip", pass)
			drop = pass
			if (split(pass, both, "; under drop: ") == 2) {
				pass = both[1]
				drop = both[2]
			}
			print letter($3), pass, letter($4), drop
		}'
}

is "docs/frames.md has the table" "$(documented)" "$(sed '/^ *$/d; s/^ *[a-z_]* *//; s/ \+/ /g' <<<"$TABLE" |
	sed '$d; s/listed\|allowed/that rule/g')"
make_pair
printf '%s\n' 192.0.2.1 2001:db8:a::bad1 >listed.txt
printf '%s\n' 192.0.2.2 2001:db8:a::d2 >allowed.txt
for class in "${!SOURCE4[@]}"; do
	make_shapes "$class"
done
try_mode "native" native 1500
try_mode "multi-buffer" native 9000
try_mode "generic" generic 9000
