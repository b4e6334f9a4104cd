# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Images for the fuzzer: small ones of every kind and shape, of keys that it asks for
# (see any_key() in tests/kmod/fuzz/images.c). Sourced after tests/kmod/host.sh.

fuzz_images=build/kmod-test/fuzz-images

# make_image NAME LIST OPTION...
make_image()
{
	build/baleen build -o "$fuzz_images/$1.bln" --seed "$1" "${@:3}" - <<<"$2" ||
		{ echo "not ok - the image $1"; exit 1; }
}

# The addresses that are even, of both families, and keys of other fields.
make_fuzz_images()
{
	local i hosts="" both="" nets="" ports="" flows=""

	for ((i = 0; i < 256; i += 2)); do
		hosts+="10.0.0.$i"$'\n'
		both+="10.0.0.$i"$'\n'"2001:db8:0:$((i & 7))::$(printf %x "$i")"$'\n'
		ports+="$i"$'\n'
		flows+="tcp,10.0.0.$i,0.0.0.$((i & 15)),0,$i"$'\n'
	done
	nets=$'10.0.0.0/25\n10.0.1.0/24\n!10.0.0.7\n10.0.0.200\n2001:db8:0:1::/64\n2001:db8:0:2::/112\n!2001:db8:0:1::10\n'
	rm -rf "$fuzz_images"
	mkdir -p "$fuzz_images"
	make_image cuckoo "$both"
	make_image stash "$both" --stash --bucket-slots 2
	make_image single "$both" --bucket-slots 1 --stash
	make_image narrow8 "$both" --slot-bits 8 --fpp 0.1
	make_image narrow12 "$both" --slot-bits 12 --fpp 0.1 --stash
	make_image slots16 "$(grep : <<<"$both")" --slot-bits 16 --fpp 0.01
	make_image full "$hosts" --load 0.98
	make_image bloom "$both" --kind bloom --fpp 0.01
	make_image classic "$both" --kind classic --fpp 0.01 --hashes 5
	make_image murmur "$hosts" --kind classic --fpp 0.01 --hash murmur3
	make_image counting "$both" --kind counting --fpp 0.01
	make_image counters "$both" --kind counting --fpp 0.01 --hash keyed --bits 9001
	make_image quotient "$both" --kind quotient --load 0.4
	make_image remainders "$both" --kind quotient --remainder-bits 5 --fpp 0.1 --load 0.4
	make_image copies "$both" --kind counting --fpp 0.01 --copies
	make_image prefixes "$nets"
	make_image prefixes-bloom "$nets" --kind bloom --fpp 0.01
	make_image ports "$ports" --key dport
	make_image flows "$flows" --key flow
	make_image flows-bloom "$flows" --key flow --kind bloom --fpp 0.01
	make_image strings "$hosts" --key string
}
