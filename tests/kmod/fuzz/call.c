// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A command with one thing wrong, now and then, and what is true of every answer. */
#include "fuzz.h"

u64 odd_number(struct fuzz *fuzz, u64 n)
{
	u32 shift = below(fuzz, 64);

	switch (below(fuzz, 8)) {
	case 0: return 0;
	case 1: return 1;
	case 2: return n - 1;
	case 3: return n + 1;
	case 4: return n + 64;
	case 5: return 1ull << shift;
	case 6: return (1ull << shift) - 1;
	default: return next_random(&fuzz->random) >> shift;
	}
}

struct place place(struct fuzz *fuzz, size_t n_bytes)
{
	struct place place = { .n_bytes = n_bytes };

	if (n_bytes > SLOT_BYTES / 2 - fuzz->n_used)
		errx(1, "%s needs %zu bytes", fuzz->op, n_bytes);
	/* Once in a while at the end of the last page. */
	if (!fuzz->has_end && one_in(fuzz, 8)) {
		place.at = fuzz->slot + SLOT_BYTES - n_bytes;
		fuzz->has_end = true;
	} else {
		place.at = fuzz->slot + fuzz->n_used;
		fuzz->n_used += (n_bytes + 63) / 64 * 64;
	}
	place.address = fuzz->slot_address + (place.at - fuzz->slot);
	poison(place.at, n_bytes);
	return place;
}

static u64 bad_address(struct fuzz *fuzz, u64 good)
{
	switch (below(fuzz, 7)) {
	case 0: return 0;
	case 1: return 1ull << 47;
	case 2: return 0xffff888000000000ull + below(fuzz, 1u << 20);
	case 3: return 0xffffffff81000000ull;
	case 4: return ~0ull - below(fuzz, 4096);
	case 5: return good | 1ull << 32 << below(fuzz, 32);
	default: return fuzz->slot_address + MAX_THREADS * (u64)SLOT_BYTES * 2 - 8;
	}
}

u64 address_of(struct fuzz *fuzz, const struct place *place, bool *spoiled)
{
	if (!one_in(fuzz, 24))
		return place->address;
	*spoiled = true;
	return bad_address(fuzz, place->address);
}

int any_fd(struct fuzz *fuzz, bool *spoiled)
{
	if (!one_in(fuzz, 32))
		return FIRST_FD;
	*spoiled = true;
	return one_in(fuzz, 4) ? -1 : FIRST_FD + (int)below(fuzz, N_FDS);
}

u32 size_of(struct fuzz *fuzz, u32 n_bytes)
{
	return n_bytes + (one_in(fuzz, 4) ? 8 * below(fuzz, 8) : 0);
}

void name_of(u32 n, u8 *name)
{
	memset(name, 0, BALEEN_DEV_NAME_BYTES);
	memcpy(name, "fuzz-0", 6);
	name[5] += n;
}

struct baleen_dev_target any_target(struct fuzz *fuzz, u32 *n)
{
	struct baleen_dev_target target = { .ifindex = 0 };

	*n = below(fuzz, N_NAMES);
	name_of(*n, target.name);
	if (!fuzz->alone && one_in(fuzz, 4)) {
		target.ifindex = 1 + below(fuzz, 8);
		snprintf((char *)target.name, sizeof(target.name), "rule-%u", below(fuzz, 4));
	}
	return target;
}

/* Commands with arrays of structs, which have sizes. */
static bool has_sizes(unsigned long number)
{
	return number == BALEEN_DEV_LIST || number == BALEEN_DEV_BIND ||
	       number == BALEEN_DEV_BINDING;
}

static bool is_errno(unsigned long number, int err)
{
	static const int known[] = {
		EBADF, EFAULT, EINVAL, ENOMEM,	   ENOTTY, ENOENT, EEXIST,   EBADMSG,
		EBUSY, ENOSPC, ESTALE, EOPNOTSUPP, EINTR,  EPERM,  EMSGSIZE, ENODEV,
	};

	for (u32 i = 0; i < N_OF(known); i++)
		if (err == -known[i])
			return true;
	return !err || (err == -E2BIG && has_sizes(number));
}

/* Something in the argument. */
static void spoil(struct fuzz *fuzz, u8 *arg, size_t n_bytes)
{
	size_t at = below(fuzz, n_bytes);

	if (one_in(fuzz, 2) && n_bytes >= 8) {
		u64 old, new;

		at = below(fuzz, n_bytes / 8) * 8;
		memcpy(&old, arg + at, 8);
		new = odd_number(fuzz, old);
		memcpy(arg + at, &new, 8);
	} else {
		arg[at] = next_random(&fuzz->random);
	}
}

int call(struct fuzz *fuzz, unsigned long number, void *arg, size_t n_bytes, bool *spoiled)
{
	struct place at = place(fuzz, n_bytes);
	u8 *before = need(malloc(n_bytes));
	int fd = any_fd(fuzz, spoiled), err;
	u64 where;

	if (one_in(fuzz, 6)) {
		spoil(fuzz, arg, n_bytes);
		*spoiled = true;
	}
	memcpy(before, arg, n_bytes);
	memcpy(at.at, arg, n_bytes);
	where = address_of(fuzz, &at, spoiled);
	err = command(fd, number, (void *)(uintptr_t)where);
	if (!is_errno(number, err))
		finding(fuzz, "errno %d", -err);
	if (fuzz->alone && err && memcmp(at.at, before, n_bytes))
		finding(fuzz, "a failure has changed the argument: errno %d", -err);
	memcpy(arg, at.at, n_bytes);
	free(before);
	return err;
}
