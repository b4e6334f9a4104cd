# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The hook gives each frame the verdict that the XDP program gives it, and counts it
# in the same counter: frames of every make (tests/shapes.sh), as they are and in
# pieces, and rules of every kind. Sourced after hook-lib.sh.

# xdp_counts: as `bind --counts`, of the program on veth-b
xdp_counts()
{
	local json n i name out=() bytes=()

	in_ns "$B" "$BALEEN" status -j veth-b >"$TMP/status" || return
	json=$ROOT/build/tools/json
	n=$1
	for ((i = 0; i < n; i++)); do
		out+=("$("$json" "$TMP/status" "[0].rules[$i].packets")")
		bytes+=("$("$json" "$TMP/status" "[0].rules[$i].packet_bytes")")
	done
	for name in unmatched vital unparsed.{not_ip,mpls,tags,version,short}; do
		out+=("$("$json" "$TMP/status" "[0].$name")")
	done
	echo "${out[*]} ${bytes[*]}"
}

# letters OPTION...: of all of ${frames[@]}, on one line
letters()
{
	local i

	for ((i = 0; i < ${#frames[@]}; i += 400)); do
		"$ROOT/build/tools/frame" -v "$@" "$FROM" "$TO" "${frames[@]:i:400}" || return
	done | tr -d '\n'
}

# differences A B: the frames with different letters
differences()
{
	local i

	for ((i = 0; i < ${#frames[@]}; i++)); do
		[ "${1:i:1}" = "${2:i:1}" ] || echo "XDP ${1:i:1} hook ${2:i:1} ${frames[i]:0:300}"
	done | head -n 20
}

# same NAME N ARGUMENT...: XDP and hook with the N rules of these arguments agree on
# ${frames[@]}, which are sent with the options ${how[@]}
same()
{
	local name=$1 n=$2 from_xdp from_hook counts

	check "$name: XDP" in_ns "$B" "$BALEEN" attach veth-b --mode "${MODE-native}" --force \
		--no-state --accept-fpp 0.1 "${@:3}"
	from_xdp=$(letters ${how+"${how[@]}"} 2>"$TMP/send.err")
	counts=$(xdp_counts "$n")
	check "$name: XDP goes" in_ns "$B" "$BALEEN" detach veth-b
	check "$name: hook" hook veth-b "${@:3}"
	from_hook=$(letters ${how+"${how[@]}"} 2>>"$TMP/send.err")
	is "$name: ${#frames[@]} frames were sent" "${#from_xdp} ${#from_hook}$(<"$TMP/send.err")" \
		"${#frames[@]} ${#frames[@]}"
	is "$name: each has the same verdict" "$(differences "$from_xdp" "$from_hook")" ""
	is "$name: and the same counter" "$(counts)" "$counts"
	check "$name: hook goes" hook --off veth-b
	LETTERS=$from_hook
}

# --- frames of every make -------------------------------------------------

# read_shapes FILE...: all but those that the kernel discards before the hook since
# their tag is cut off, which go to $CUT
read_shapes()
{
	local row frame

	frames=() CUT=()
	while read -r row frame; do
		if [ "$row" = cut_tag ]; then
			CUT+=("$frame")
		else
			frames+=("$frame")
		fi
	done < <(cat "$@")
}

test_cut()
{
	local frames=("${CUT[@]}") before

	check "cut tags: hook" hook veth-b --count any="$TMP/listed.bln"
	is "cut tags: the kernel itself drops them" "$(letters | tr -d D)" ""
	before=$(counts)
	is "cut tags: only the markers are counted" "$before" "0 0 0 ${#frames[@]} 0 0 0 0 0"
	check "cut tags: hook goes" hook --off veth-b
}

test_shapes()
{
	local default how=() rules=(--drop listed="$TMP/listed.bln"
		--allow allowed="$TMP/allowed.bln")

	read_shapes $SHAPES/{listed,allowed,unmatched}
	for default in pass drop; do
		same "shapes, default $default" 2 --default $default "${rules[@]}"
		is "shapes, default $default: some pass, some do not" \
			"$(fold -w1 <<<"$LETTERS" | sort -u | tr -d '\n')" DP
	done
	test_cut
	set_mtu 9000
	read_shapes $SHAPES/{listed,allowed,unmatched}{,.jumbo}
	how=(-n)
	# Generic XDP has the whole of it in one piece.
	MODE=generic same "in pieces, default drop" 2 --default drop "${rules[@]}"
	set_mtu 1500
}

# --- what hides its protocol, its ports or its flags ---

# Each row of $HIDING in tests/shapes.sh, as tests/xdp/hidden.sh has XDP judge them.
test_hiding()
{
	local words=("proto 6" "dport 22" "tcp-syn" "dport 22 tcp-syn" "") rows frames column word image n
	local -A answer

	printf '%s\n' 192.0.2.1,22 2001:db8:a::bad1,22 | image hidden_pairs --key src,dport
	read_hiding "$SHAPES/hiding"
	for column in 0 1 2 3 4; do
		word=${words[column]} image=$TMP/listed.bln
		[ -n "$word" ] || image=$TMP/hidden_pairs.bln
		read_column "$column"
		n=$(want_letters 1 1 '') n=${#n}
		# shellcheck disable=SC2086 # words
		check "hiding, ${word:-a key}: hook" hook veth-b --count seen="$image" $word --drop one="$image" $word
		is "hiding, ${word:-a key}: a drop rule takes what is hidden, of ${#rows[@]} packets" \
			"$(wrong_letters "$(letters)" "$(want_letters D D P)")" ""
		is "hiding, ${word:-a key}: a count rule, too" "$(counts | cut -d' ' -f1,2)" "$n $n"
		check "hiding, ${word:-a key}: hook goes" hook --off veth-b
		# shellcheck disable=SC2086 # words
		check "hiding, ${word:-a key}: hook" hook veth-b --default drop --allow one="$image" $word
		is "hiding, ${word:-a key}: an allow rule does not" \
			"$(wrong_letters "$(letters)" "$(want_letters P D D)")" ""
		check "hiding, ${word:-a key}: hook goes" hook --off veth-b
	done
}

# --- rules of every kind --------------------------------------------------

# Frames of both families, protocols and ports, tags and fragments.
make_frames()
{
	local source four six rest

	frames=()
	for source in 192.0.2.1:01 192.0.2.2:02 198.51.100.200:c8 203.0.113.255:ff; do
		four=${source%:*} six=${source#*:}
		for rest in "6 $(tcp 22 $SYN)" "6 $(tcp 22 $ACK)" "6 $(tcp 80 $SYN_ACK)" \
			"17 $(udp 53)" "17 $(udp 22)" "1 0800$(zeros 6)" "47 $(zeros 8)" "6 0009" \
			"132 $(udp 22)" "136 $(udp 65535)"; do
			read -r proto payload <<<"$rest"
			frames+=("$(ip4 "$four" "$proto" "$payload")" "$(ip4 "$four" "$proto" "$payload" 2000)"
				"$(ip4 "$four" "$proto" "$payload" 2001)" "$(tag 7)$(ip4 "$four" "$proto" "$payload")"
				"$(tag 0)$(tag 8)$(ip4 "$four" "$proto" "$payload")"
				"$(tag 7 88a8)$(tag 9)$(ip4 "$four" "$proto" "$payload")"
				"$(ip6 "$six" "$proto" 64 "$payload")"
				"$(tag 7)$(ip6 "$six" "$proto" 64 "$payload")"
				"$(ip6 "$six" 60 64 "$(printf %02x "$proto")00$(zeros 6)$payload")"
				"$(ip6 "$six" 44 64 "$(printf %02x "$proto")00000800000000$payload")")
		done
		frames+=("$(ip6 "$six" 58 255 "$(icmp6 135)")" "$(ip6 "$six" 58 1 "$(icmp6 143)")"
			"$(ip6 "$six" 58 64 "$(icmp6 135)")")
	done
}

make_images()
{
	printf '%s\n' 192.0.2.1 192.0.2.2 fd66::1 fd66::2 | image hosts
	printf '%s\n' 192.0.2.0/24 '!192.0.2.2' 203.0.113.0/24 198.51.100.128/25 fd66::/124 '!fd66::2' \
		2001:db8:1::/48 fd66::c0/123 | image nets
	printf '%s\n' 198.51.100.1 2001:db8::1 | image to --key dst
	printf '%s\n' 22 53 0 | image ports --key dport
	printf '%s\n' 6,22 17,53 1,0 | image services --key proto,dport
	printf '%s\n' 6,192.0.2.1,198.51.100.1,9,22 17,192.0.2.2,198.51.100.1,9,53 \
		6,fd66::1,2001:db8::1,9,22 1,192.0.2.1,198.51.100.1,0,0 | image flows --key flow
	printf '%s\n' 192.0.2.1,22 fd66::2,53 | image pairs --key src,dport
	"$TRAFFIC" --print --random 2000 --seed 9 | cat - <(echo 192.0.2.1) | image blooms --kind bloom --fpp 0.001
}

test_rules()
{
	local frames how name n

	make_frames
	make_images
	for name in hosts nets to ports services flows pairs; do
		same "rule of $name" 1 --drop one="$TMP/$name.bln"
		[[ $LETTERS == *D* && $LETTERS == *P* ]] ||
			[ $name = to ] || not_ok "rule of $name: some pass, some do not" "$LETTERS"
	done
	same "a Bloom filter" 1 --drop one="$TMP/blooms.bln"
	same "qualifiers" 6 --count seen="$TMP/nets.bln" --allow syn="$TMP/hosts.bln" tcp-syn dport 22 \
		--drop seven="$TMP/nets.bln" vlan 7 --count dns="$TMP/hosts.bln" proto 17 dport 1-53,100 \
		--drop icmp="$TMP/nets.bln" proto 1 --allow rest="$TMP/flows.bln" proto 6 tcp-syn
	same "default drop" 2 --default drop --allow flows="$TMP/flows.bln" --drop nets="$TMP/nets.bln"
	same "dry run" 2 --default drop --dry-run --allow flows="$TMP/flows.bln" \
		--drop nets="$TMP/nets.bln"
	is "dry run: nothing is dropped" "${LETTERS//P/}" ""
	n=$(pick 4 16)
	same "$n rules" "$n" $(for ((i = 1; i < n; i++)); do echo "--count r$i=$TMP/pairs.bln dport $i-$((i + 60))"; done) \
		--drop last="$TMP/hosts.bln"
	set_mtu 9000
	how=(-n)
	MODE=generic same "in pieces: qualifiers" 3 --allow syn="$TMP/hosts.bln" tcp-syn dport 22 \
		--drop seven="$TMP/nets.bln" vlan 7 --drop flows="$TMP/flows.bln"
	set_mtu 1500
}

# A port behind eight extension headers of 2,048 bytes, which no XDP program finds.
test_far()
{
	local how chain=$(tcp 22 $SYN) i next=06 frames

	set_mtu 65535
	for i in {1..8}; do
		chain=${next}ff$(zeros 2046)$chain next=3c
	done
	frames=("86dd60000000$(printf %04x $((${#chain} / 2)))3c40$(printf 'fd66%026x01' 0)20010db8$(zeros 11)01$chain")
	check "far headers: hook" hook veth-b --drop one="$TMP/hosts.bln" tcp-syn dport 22
	is "far headers: the port is found" "$(letters -n)" D
	is "far headers: in one piece, too" "$(letters)" D
	frames=("${frames[0]/00160000/00170000}")
	is "far headers: another port passes" "$(letters -n)" P
	check "far headers: hook goes" hook --off veth-b
	set_mtu 1500
}

# Lists of thousands, by tags in the frame.
test_lists()
{
	local tags

	check "lists: hook" hook veth-b --drop listed="$TMP/many.bln"
	for tags in 0 1 2 4; do
		judges "lists: all of it is dropped, nothing else, $tags tags" "$TMP/many" --tags $tags
	done
	check "lists: hook goes" hook --off veth-b
	lets_by "lists: without the hook all pass" "$TMP/many"
}
