# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What programs cost the verifier: loads a fixed set of configurations and
# prints for each, as a diagnostic, `# count CONFIGURATION VERIFIED BYTES`.
#
# kernels.sh compares them with tests/kernels/instructions. Needs make_pair;
# uses veth-b, which has no program before and after.

source "$ROOT/tests/kernels/counted.sh"
PROGRAM=$ROOT/build/tools/program
COUNTED=$TMP/counted
COUNT_PINS=/sys/fs/bpf/count

# print_count CONFIGURATION ID|PIN: nothing of what is not there
print_count()
{
	local name verified bytes

	[ -n "$2" ] || return
	read -r name verified bytes < <("$PROGRAM" "$2")
	[ -z "$name" ] || echo "# count $1 $verified $bytes"
}

# count_rules CONFIGURATION RULE...: of what `baleen attach` loads; forced, since
# a Bloom filter may hold an address of this host
count_rules()
{
	is_counted "$1" "$(uname -r)" || return 0
	check "$1: baleen attach" in_ns "$B" "$BALEEN" attach veth-b --mode native --force \
		--accept-fpp 0.5 "${@:2}"
	print_count "$1" "$(xdp_id "$B" veth-b)"
	check "$1: baleen detach" in_ns "$B" "$BALEEN" detach veth-b
}

# count_image CONFIGURATION LIST [OPTION...]: of one rule; OPTIONs are of `baleen build`
count_image()
{
	check "$1: baleen build" "$BALEEN" build -o "$COUNTED/$1.bln" "${@:3}" "$2"
	count_rules "$1" --drop "drop=$COUNTED/$1.bln"
}

# count_object CONFIGURATION IMAGE: of what `baleen compile` makes, both programs
count_object()
{
	local program

	check "$1: baleen compile" "$BALEEN" compile -o "$COUNTED/object" --accept-fpp 0.5 "$2"
	check "$1: bpftool prog loadall" \
		bpftool prog loadall "$COUNTED/object" "$COUNT_PINS" type xdp
	for program in baleen_xdp baleen_xdp_frags; do
		print_count "$1-$program" "$COUNT_PINS/$program"
	done
	rm -r "$COUNT_PINS"
}

# count_icp CONFIGURATION SIBLING [OPTION...]: of what `baleen icp attach` loads; SIBLING and
# OPTIONs are of a sibling that is fed
count_icp()
{
	local place=/sys/fs/bpf/baleen-icp program

	check "$1: baleen icp attach" in_ns "$B" "$BALEEN" icp attach veth-b --mode generic \
		--asker 10.66.0.0/24 --feed 3131 --capacity 1000 \
		--sibling "s=10.66.0.9,feeder=10.66.0.9$2" "${@:3}"
	for program in prog apply egress; do
		print_count "$1-$program" "$(find "$place" -name "$program" -type f)"
	done
	check "$1: baleen icp detach" in_ns "$B" "$BALEEN" icp detach veth-b
}

# count_sixteen LIST: as many rules as there can be; every line is a list of its own
count_sixteen()
{
	local rules=() i

	for i in {1..16}; do
		sed -n "${i}p;$((i + 16))p" "$1" >"$COUNTED/rule$i"
		rules+=(--drop "$COUNTED/rule$i")
	done
	count_rules rules-16-both "${rules[@]}"
}

# count_sixteen_mixed LIST: twelve rules of hosts, which have a prefilter, and four of
# prefixes, which are asked with its answer and without
count_sixteen_mixed()
{
	local rules=() i

	for i in {1..16}; do
		sed -n "${i}p;$((i + 16))p" "$1" >"$COUNTED/mixed$i"
		[ "$i" -le 12 ] || printf '%s\n' "100.64.$i.0/24" "fd77:$i::/48" >>"$COUNTED/mixed$i"
		rules+=(--drop "$COUNTED/mixed$i")
	done
	count_rules rules-16-mixed "${rules[@]}"
}

# count_sixteen_of CONFIGURATION IMAGE: of rules that are all of this image
count_sixteen_of()
{
	local rules=() i

	for i in {1..16}; do
		rules+=(--drop "rule$i=$2")
	done
	count_rules "$1" "${rules[@]}"
}

# count_kind KIND OPTION...: tables of both families that are not those of every day,
# alone and as many as there can be
count_kind()
{
	count_image "both-$1" "$COUNTED/both" "${@:2}"
	count_sixteen_of "rules-16-$1" "$COUNTED/both-$1.bln"
}

# The names say: rules, families, kind, bits of a slot. The rate of the Bloom
# filter asks for the most hashes there are: near the border between two plans
# the random seed of the build decides which is taken.
count_all()
{
	mkdir -p "$COUNTED"
	make_list "$COUNTED/ip4" 300 0 1
	make_list "$COUNTED/ip6" 0 300 1
	sort "$COUNTED/ip4" "$COUNTED/ip6" >"$COUNTED/both"
	{ head -n 16 "$COUNTED/ip4" && head -n 16 "$COUNTED/ip6"; } >"$COUNTED/lines"
	count_image ip4-cuckoo-32 "$COUNTED/ip4"
	count_image ip4-cuckoo-16 "$COUNTED/ip4" --capacity 1000000
	count_image ip4-bloom "$COUNTED/ip4" --kind bloom --fpp 0.00001
	count_image ip6-cuckoo-64 "$COUNTED/ip6"
	count_image ip6-cuckoo-16 "$COUNTED/ip6" --capacity 1000000 --kind cuckoo --slot-bits 16
	count_image both-cuckoo "$COUNTED/both"
	count_sixteen "$COUNTED/lines"
	count_sixteen_mixed "$COUNTED/lines"
	count_kind classic --kind classic --bits 65537 --hashes 7
	count_kind classic-murmur3 --kind classic --bits 65537 --hashes 7 --hash murmur3
	count_kind counting --kind counting --bits 65537 --hashes 7 --hash keyed
	count_kind cuckoo-2x12 --kind cuckoo --slot-bits 12 --bucket-slots 2 --stash --fpp 0.1
	count_kind cuckoo-4x17 --kind cuckoo --slot-bits 17 --stash --fpp 0.1
	count_kind cuckoo-semi-13 --kind cuckoo --slot-bits 13 --semi-sort --fpp 0.1
	count_kind quotient --kind quotient --remainder-bits 9
	count_rules both-established --allow any established --drop "$COUNTED/both"
	count_rules both-conntrack --allow any established conntrack --drop "$COUNTED/both"
	count_rules both-limit --drop "$COUNTED/both" bans --count any limit 50/s burst 200 ban 10m
	count_object object-ip4-cuckoo-16 "$COUNTED/ip4-cuckoo-16.bln"
	count_object object-both-cuckoo "$COUNTED/both-cuckoo.bln"
	count_object object-both-quotient "$COUNTED/both-quotient.bln"
	count_icp icp-cuckoo ''
	count_icp icp-counting '' --kind counting
	count_icp icp-blocked '' --kind counting --hash blocked
	count_icp icp-observe ,mode=observe
}
