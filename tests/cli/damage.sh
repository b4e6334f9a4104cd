#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Damaged images: cut short at every length, one bit wrong in every byte, and
# one byte too long. Each command refuses each of them with one line, prints
# nothing and writes nothing. That the validator refuses each of them tests/unit/test_image.c
# and test_image_file.c show; `make check` tries 48 here.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

printf '192.0.2.%d\n' 1 2 3 4 5 >list.txt
check "an image" "$TMP/baleen" build -o image.bln list.txt
mapfile -t byte < <(od -An -v -to1 -w1 image.bln | tr -d ' ')
is "of a header and one block" "${#byte[@]}" 576
wrong=
n_tried=0
n_samples=0

# write FIRST COUNT: these bytes, as they are in the image
write()
{
	[ "$2" -eq 0 ] || printf '%b' "$(printf '\\0%s' "${byte[@]:$1:$2}")"
}

# is_tried N: the Nth length or byte; beside samples those at the end of the magic, of the
# fields of the header and of the header
is_tried()
{
	is_sample $(($1 + 1)) 576 32 || [[ " 1 7 8 64 511 512 " == *" $1 "* ]]
}

# try WHAT: every command on damaged.bln; adds to $wrong
try()
{
	local command status

	n_samples=$((n_samples + 1))
	for command in "info damaged.bln" "match damaged.bln 192.0.2.1" "dump damaged.bln" \
		"compile -o new.o damaged.bln"; do
		# shellcheck disable=SC2086 # words
		"$TMP/baleen" $command >"$TMP/out" 2>"$TMP/err"
		status=$?
		n_tried=$((n_tried + 1))
		[ "$status" -eq 1 ] && [ ! -s "$TMP/out" ] && [ ! -e new.o ] &&
			[[ $(<"$TMP/err") =~ ^baleen:\ damaged\.bln:\ [^$'\n']+$ ]] ||
			wrong+="$1: $command: status $status: $(<"$TMP/out")$(<"$TMP/err")"$'\n'
	done
}

# done_trying NAME SOME ALL: how many are to be tried in `make check`, and in all
done_trying()
{
	is "$1: $n_samples of $3 are tried" "$n_samples" "$(pick "$2" "$3")"
	is "$1: each is tried by four commands" "$n_tried" $((4 * n_samples))
	is "$1: each is refused with one line" "$wrong" ""
	wrong=
	n_tried=0
	n_samples=0
}

for ((n = 0; n < 576; n++)); do
	is_tried "$n" || continue
	write 0 "$n" >damaged.bln
	try "cut to $n bytes"
done
done_trying "cut short" 24 576

for ((n = 0; n < 576; n++)); do
	is_tried "$n" || continue
	{
		write 0 "$n"
		printf '%b' "$(printf '\\0%o' $((8#${byte[n]} ^ 1 << n % 8)))"
		write $((n + 1)) $((575 - n))
	} >damaged.bln
	try "byte $n wrong"
done
done_trying "one bit wrong" 24 576

{ write 0 576; printf x; } >damaged.bln
try "a byte too long"
done_trying "a byte too long" 1 1

write 0 576 >damaged.bln
check "written back as it was it is the image" cmp damaged.bln image.bln
prints "and is taken" 192.0.2.1 "$TMP/baleen" match damaged.bln 192.0.2.1

# A list is told from an image by its first bytes, whatever its name.
printf '192.0.2.1\n' >list.bln
prints "a list with the name of an image is a list" 192.0.2.1 baleen dump list.bln
{ printf '\x89BALEEM\n'; write 8 568; } >damaged.bln
refuses "--like a damaged image" "damaged.bln: not a Baleen image" \
	baleen build --like damaged.bln -o new.bln list.txt
refuses "a damaged image is no list to build from" \
	"damaged.bln: is an image already, not a list" baleen build -o new.bln damaged.bln
