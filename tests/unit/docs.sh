#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `make docs` passes, and finds each kind of gap in a small header.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

# header [SED]: a documented header, changed
header()
{
	sed "${1-}" >"$TMP/sample.h" <<'END'
#include <baleen/port.h>

/**
 * struct sample - two numbers
 * @first: the first
 * @second: the second
 */
struct sample {
	int first, second;
};

/**
 * sample_sum() - add
 * @sample: what to add
 *
 * Return: the sum.
 */
baleen_inline int sample_sum(const struct sample *sample)
{
	return sample->first + sample->second;
}

/**
 * sample_visit() - visit all
 * @visit: called for each with @data
 * @data: passed to @visit
 *
 * Return: how many.
 */
const struct sample *sample_visit(int (*visit)(struct sample *sample, void *data),
				  void *data);

/* Add to one number. */
baleen_inline int sample_helper(int x)
{
	return x + 1;
}
END
}

# finds NAME TEXT SED: after the change, the one gap that is reported has this text
finds()
{
	header "$3"
	check_status "$1" 1 tests/docs "$TMP/sample.h"
	is "$1: the message" "$(grep -c . "$TMP/err") $(grep -c "$2" "$TMP/err")" "1 1"
}

header
tests/docs "$TMP/sample.h" 2>"$TMP/err"
if [ $? -eq 77 ]; then
	skip "headers are documented" "$(cat "$TMP/err")"
	exit 0
fi
check "headers are documented" tests/docs
check "a documented header" tests/docs "$TMP/sample.h"
finds "parameter of an inline function" "'sample' not described in 'sample_sum'" \
	'/@sample: what/d'
finds "return value of an inline function" "return value of 'sample_sum'" '/Return: the sum/d'
finds "parameter that is no more" "Excess function parameter 'gone'" \
	's/ \* @sample: what/ * @gone: is\n&/'
finds "parameter of a prototype" "'visit' not described in 'sample_visit'" '/@visit: called/d'
finds "return value of a prototype" "return value of 'sample_visit'" '/Return: how many/d'
finds "member" "'second' not described in 'sample'" '/@second/d'
finds "comment of another function" "expecting prototype for sample_add()" \
	's/ sample_sum() - / sample_add() - /'
finds "prototype with an ordinary comment" "sample_visit() has no kernel-doc comment" \
	':a;N;$!ba;s|/\*\*\(\n \* sample_visit\)|/*\1|'
# shellcheck disable=SC2016 # $ is sed's
finds "prototype without a comment" "sample_more() has no kernel-doc comment" \
	'$a\int sample_more(void);'
header '/#include/d'
check_status "header that does not compile alone" 1 tests/docs "$TMP/sample.h"
is "header that does not compile alone: the message" "$(tail -n 1 "$TMP/err")" \
	"$TMP/sample.h: does not compile alone"
