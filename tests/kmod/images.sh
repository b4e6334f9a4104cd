# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Builds the images that the programs in the virtual machines ask: small ones of all
# kinds and shapes, and one of a million keys of each kind, in `make check` of half as
# many. Sourced in the root of the repository, after `make`; $images is the directory.

LIST=build/kmod-test/64/answers
N_LARGE=500000
[ "${TEST_ALL-}" != 1 ] || N_LARGE=1000000

# list KEY N: of both families
list_both()
{
	"$LIST" --list "$1" 4 "$2" && "$LIST" --list "$1" 6 "$2"
}

# image NAME OPTION...: of the list on standard input
image()
{
	# shellcheck disable=SC2154 # of those who source this
	build/baleen build -o "$images/$1.bln" --seed kmod "${@:2}" - ||
		{ echo "no image $1" >&2; return 1; }
}

small_images()
{
	local pair="--key src,dst" n=100

	# shellcheck disable=SC2086 # words
	{
		list_both src $n | image small-cuckoo --capacity 200 &&
			list_both src $n | image small-stash --kind cuckoo --stash --bucket-slots 2 &&
			list_both src $n | image small-narrow --slot-bits 12 --fpp 0.1 &&
			list_both src $n | image small-packed --slot-bits 9 --bucket-slots 1 --stash &&
			list_both src $n | image small-bloom --kind bloom --fpp 0.01 &&
			list_both src $n | image small-classic --kind classic --fpp 0.01 &&
			list_both src $n | image small-murmur3 --kind classic --hash murmur3 --fpp 0.01 &&
			printf 'word %s\n' {1..100} | image small-words --key string --kind classic --hash murmur3 --fpp 0.01 &&
			list_both src $n | image small-counting --kind counting --fpp 0.01 &&
			list_both src $n | image small-quotient --kind quotient --fpp 0.01 &&
			list_both src $n | image small-copies --kind cuckoo --copies &&
			list_both net $n | image small-nets &&
			list_both pair $n | image small-pair $pair &&
			"$LIST" --list flow 6 $n | image small-flow --key flow --fpp 0.01
	}
}

# Room for more, to be filled; the first for the batches.
medium_images()
{
	local n=4000

	"$LIST" --list src 4 50000 | image batch --capacity 60000 &&
		"$LIST" --list src 4 $n | image medium-cuckoo4 --capacity 7000 &&
		"$LIST" --list src 6 $n | image medium-cuckoo6 --capacity 7000 &&
		list_both src $n | image medium-stash --stash --bucket-slots 2 --capacity 14000 &&
		list_both src $n | image medium-narrow --slot-bits 12 --fpp 0.1 --capacity 14000 &&
		list_both src $n | image medium-packed --slot-bits 17 --bucket-slots 3 --capacity 14000 &&
		list_both src $n | image medium-bloom --kind bloom --fpp 0.01 &&
		list_both src $n | image medium-classic --kind classic --fpp 0.01 &&
		list_both src $n | image medium-counting --kind counting --fpp 0.01 &&
		list_both src $n | image medium-quotient --kind quotient --fpp 0.01 &&
		list_both src $n | image medium-copies --copies &&
		list_both net $n | image medium-nets &&
		list_both pair $n | image medium-pair --key src,dst --capacity 14000 &&
		"$LIST" --list flow 6 $n | image medium-flow --key flow --capacity 14000
}

# So many keys each.
large_images()
{
	local n=$N_LARGE

	"$LIST" --list src 4 "$n" | image large-cuckoo4 &&
		"$LIST" --list src 6 "$n" | image large-cuckoo6 &&
		"$LIST" --list src 4 "$n" | image large-narrow --slot-bits 12 --fpp 0.01 --stash &&
		"$LIST" --list src 4 "$n" | image large-bloom --kind bloom --fpp 0.001 &&
		"$LIST" --list src 4 "$n" | image large-classic --kind classic --fpp 0.01 &&
		"$LIST" --list src 6 "$n" | image large-counting --kind counting --fpp 0.01 &&
		"$LIST" --list src 4 "$n" | image large-quotient --kind quotient &&
		"$LIST" --list net 4 "$n" | image large-nets4 &&
		"$LIST" --list net 6 "$n" | image large-nets6 &&
		"$LIST" --list pair 4 "$n" | image large-pair --key src,dst &&
		"$LIST" --list flow 6 "$n" | image large-flow --key flow
}

make_images()
{
	{ small_images && medium_images && large_images; } 2>"$images/log" ||
		{ cat "$images/log" >&2; return 1; }
}
