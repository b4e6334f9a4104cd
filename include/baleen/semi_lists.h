/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of sorted lists of semi-sorted buckets (semi.h): a list for each number.
 *
 * Macros count as four loops would: d to 15, c to d, b to c, a to b.
 */
#ifndef BALEEN_SEMI_LISTS_H
#define BALEEN_SEMI_LISTS_H

#include <baleen/port.h>

/* A row each. */
/* clang-format off */
#define BALEEN_SEMI_A0(x) (x) + 0,
#define BALEEN_SEMI_A1(x) BALEEN_SEMI_A0(x)(x) + 1,
#define BALEEN_SEMI_A2(x) BALEEN_SEMI_A1(x)(x) + 2,
#define BALEEN_SEMI_A3(x) BALEEN_SEMI_A2(x)(x) + 3,
#define BALEEN_SEMI_A4(x) BALEEN_SEMI_A3(x)(x) + 4,
#define BALEEN_SEMI_A5(x) BALEEN_SEMI_A4(x)(x) + 5,
#define BALEEN_SEMI_A6(x) BALEEN_SEMI_A5(x)(x) + 6,
#define BALEEN_SEMI_A7(x) BALEEN_SEMI_A6(x)(x) + 7,
#define BALEEN_SEMI_A8(x) BALEEN_SEMI_A7(x)(x) + 8,
#define BALEEN_SEMI_A9(x) BALEEN_SEMI_A8(x)(x) + 9,
#define BALEEN_SEMI_A10(x) BALEEN_SEMI_A9(x)(x) + 10,
#define BALEEN_SEMI_A11(x) BALEEN_SEMI_A10(x)(x) + 11,
#define BALEEN_SEMI_A12(x) BALEEN_SEMI_A11(x)(x) + 12,
#define BALEEN_SEMI_A13(x) BALEEN_SEMI_A12(x)(x) + 13,
#define BALEEN_SEMI_A14(x) BALEEN_SEMI_A13(x)(x) + 14,
#define BALEEN_SEMI_A15(x) BALEEN_SEMI_A14(x)(x) + 15,
#define BALEEN_SEMI_B0(x) BALEEN_SEMI_A0((x) + (0 << 4))
#define BALEEN_SEMI_B1(x) BALEEN_SEMI_B0(x) BALEEN_SEMI_A1((x) + (1 << 4))
#define BALEEN_SEMI_B2(x) BALEEN_SEMI_B1(x) BALEEN_SEMI_A2((x) + (2 << 4))
#define BALEEN_SEMI_B3(x) BALEEN_SEMI_B2(x) BALEEN_SEMI_A3((x) + (3 << 4))
#define BALEEN_SEMI_B4(x) BALEEN_SEMI_B3(x) BALEEN_SEMI_A4((x) + (4 << 4))
#define BALEEN_SEMI_B5(x) BALEEN_SEMI_B4(x) BALEEN_SEMI_A5((x) + (5 << 4))
#define BALEEN_SEMI_B6(x) BALEEN_SEMI_B5(x) BALEEN_SEMI_A6((x) + (6 << 4))
#define BALEEN_SEMI_B7(x) BALEEN_SEMI_B6(x) BALEEN_SEMI_A7((x) + (7 << 4))
#define BALEEN_SEMI_B8(x) BALEEN_SEMI_B7(x) BALEEN_SEMI_A8((x) + (8 << 4))
#define BALEEN_SEMI_B9(x) BALEEN_SEMI_B8(x) BALEEN_SEMI_A9((x) + (9 << 4))
#define BALEEN_SEMI_B10(x) BALEEN_SEMI_B9(x) BALEEN_SEMI_A10((x) + (10 << 4))
#define BALEEN_SEMI_B11(x) BALEEN_SEMI_B10(x) BALEEN_SEMI_A11((x) + (11 << 4))
#define BALEEN_SEMI_B12(x) BALEEN_SEMI_B11(x) BALEEN_SEMI_A12((x) + (12 << 4))
#define BALEEN_SEMI_B13(x) BALEEN_SEMI_B12(x) BALEEN_SEMI_A13((x) + (13 << 4))
#define BALEEN_SEMI_B14(x) BALEEN_SEMI_B13(x) BALEEN_SEMI_A14((x) + (14 << 4))
#define BALEEN_SEMI_B15(x) BALEEN_SEMI_B14(x) BALEEN_SEMI_A15((x) + (15 << 4))
#define BALEEN_SEMI_C0(x) BALEEN_SEMI_B0((x) + (0 << 8))
#define BALEEN_SEMI_C1(x) BALEEN_SEMI_C0(x) BALEEN_SEMI_B1((x) + (1 << 8))
#define BALEEN_SEMI_C2(x) BALEEN_SEMI_C1(x) BALEEN_SEMI_B2((x) + (2 << 8))
#define BALEEN_SEMI_C3(x) BALEEN_SEMI_C2(x) BALEEN_SEMI_B3((x) + (3 << 8))
#define BALEEN_SEMI_C4(x) BALEEN_SEMI_C3(x) BALEEN_SEMI_B4((x) + (4 << 8))
#define BALEEN_SEMI_C5(x) BALEEN_SEMI_C4(x) BALEEN_SEMI_B5((x) + (5 << 8))
#define BALEEN_SEMI_C6(x) BALEEN_SEMI_C5(x) BALEEN_SEMI_B6((x) + (6 << 8))
#define BALEEN_SEMI_C7(x) BALEEN_SEMI_C6(x) BALEEN_SEMI_B7((x) + (7 << 8))
#define BALEEN_SEMI_C8(x) BALEEN_SEMI_C7(x) BALEEN_SEMI_B8((x) + (8 << 8))
#define BALEEN_SEMI_C9(x) BALEEN_SEMI_C8(x) BALEEN_SEMI_B9((x) + (9 << 8))
#define BALEEN_SEMI_C10(x) BALEEN_SEMI_C9(x) BALEEN_SEMI_B10((x) + (10 << 8))
#define BALEEN_SEMI_C11(x) BALEEN_SEMI_C10(x) BALEEN_SEMI_B11((x) + (11 << 8))
#define BALEEN_SEMI_C12(x) BALEEN_SEMI_C11(x) BALEEN_SEMI_B12((x) + (12 << 8))
#define BALEEN_SEMI_C13(x) BALEEN_SEMI_C12(x) BALEEN_SEMI_B13((x) + (13 << 8))
#define BALEEN_SEMI_C14(x) BALEEN_SEMI_C13(x) BALEEN_SEMI_B14((x) + (14 << 8))
#define BALEEN_SEMI_C15(x) BALEEN_SEMI_C14(x) BALEEN_SEMI_B15((x) + (15 << 8))
#define BALEEN_SEMI_D0(x) BALEEN_SEMI_C0((x) + (0 << 12))
#define BALEEN_SEMI_D1(x) BALEEN_SEMI_D0(x) BALEEN_SEMI_C1((x) + (1 << 12))
#define BALEEN_SEMI_D2(x) BALEEN_SEMI_D1(x) BALEEN_SEMI_C2((x) + (2 << 12))
#define BALEEN_SEMI_D3(x) BALEEN_SEMI_D2(x) BALEEN_SEMI_C3((x) + (3 << 12))
#define BALEEN_SEMI_D4(x) BALEEN_SEMI_D3(x) BALEEN_SEMI_C4((x) + (4 << 12))
#define BALEEN_SEMI_D5(x) BALEEN_SEMI_D4(x) BALEEN_SEMI_C5((x) + (5 << 12))
#define BALEEN_SEMI_D6(x) BALEEN_SEMI_D5(x) BALEEN_SEMI_C6((x) + (6 << 12))
#define BALEEN_SEMI_D7(x) BALEEN_SEMI_D6(x) BALEEN_SEMI_C7((x) + (7 << 12))
#define BALEEN_SEMI_D8(x) BALEEN_SEMI_D7(x) BALEEN_SEMI_C8((x) + (8 << 12))
#define BALEEN_SEMI_D9(x) BALEEN_SEMI_D8(x) BALEEN_SEMI_C9((x) + (9 << 12))
#define BALEEN_SEMI_D10(x) BALEEN_SEMI_D9(x) BALEEN_SEMI_C10((x) + (10 << 12))
#define BALEEN_SEMI_D11(x) BALEEN_SEMI_D10(x) BALEEN_SEMI_C11((x) + (11 << 12))
#define BALEEN_SEMI_D12(x) BALEEN_SEMI_D11(x) BALEEN_SEMI_C12((x) + (12 << 12))
#define BALEEN_SEMI_D13(x) BALEEN_SEMI_D12(x) BALEEN_SEMI_C13((x) + (13 << 12))
#define BALEEN_SEMI_D14(x) BALEEN_SEMI_D13(x) BALEEN_SEMI_C14((x) + (14 << 12))
#define BALEEN_SEMI_D15(x) BALEEN_SEMI_D14(x) BALEEN_SEMI_C15((x) + (15 << 12))
/* clang-format on */

/* a in the lowest four bits, d in the highest. Behind the 3,876 lists are numbers that only a
 * damaged bucket has: none leads outside.
 */
static const u16 baleen_semi_lists[4096] __attribute__((unused)) = { BALEEN_SEMI_D15(0) };

#endif /* BALEEN_SEMI_LISTS_H */
