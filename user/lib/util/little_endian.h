/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Little-endian numbers at any address: the numbers of files and messages.
 */
#ifndef BALEEN_LITTLE_ENDIAN_H
#define BALEEN_LITTLE_ENDIAN_H

#include <string.h>

#include <baleen/port.h>

static inline u32 baleen_get_le32(const u8 *at)
{
	u32 le;

	memcpy(&le, at, sizeof(le));
	return baleen_le32(le);
}

static inline u64 baleen_get_le64(const u8 *at)
{
	u64 le;

	memcpy(&le, at, sizeof(le));
	return baleen_le64(le);
}

static inline void baleen_put_le32(u8 *at, u32 number)
{
	u32 le = baleen_le32(number);

	memcpy(at, &le, sizeof(le));
}

static inline void baleen_put_le64(u8 *at, u64 number)
{
	u64 le = baleen_le64(number);

	memcpy(at, &le, sizeof(le));
}

#endif /* BALEEN_LITTLE_ENDIAN_H */
