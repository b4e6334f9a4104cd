// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The shapes that a cuckoo table can have. */
#include <errno.h>

#include "filter/cuckoo_shape.h"

double baleen_cuckoo_most_load(u32 bucket_slots)
{
	static const double most[] = { 0.5, 0.897, 0.959, 0.98 };

	return most[bucket_slots - 1];
}

u64 baleen_cuckoo_min_buckets(u32 domain, u32 slot_bits, bool is_packed)
{
	u32 key_bits = baleen_key_bits(domain);

	if (is_packed || slot_bits < 16 || (domain != BALEEN_IP4 && slot_bits < 64))
		return 4;
	return key_bits > slot_bits - 2 ? 1ull << (key_bits - (slot_bits - 2)) : 1;
}

bool baleen_cuckoo_is_aligned(u32 slot_bits, u32 bucket_slots)
{
	return (slot_bits == 8 || slot_bits == 16 || slot_bits == 32 || slot_bits == 64) &&
	       bucket_slots != 3;
}

static int check_semi_sorted(double fpp, const struct baleen_shape *shape,
			     struct baleen_error *error)
{
	u32 slot_bits = shape->slot_bits, slots = shape->bucket_slots;

	if (slots && slots != BALEEN_BUCKET_SLOTS)
		return baleen_fail(error, EINVAL, "semi-sorted buckets have 4 slots, not %u",
				   slots);
	if (slot_bits == BALEEN_MIN_PACKED_BITS || slot_bits > BALEEN_MAX_PACKED_BITS)
		return baleen_fail(error, EINVAL, "semi-sorted slots have 5 to 32 bits, not %u",
				   slot_bits);
	if (!slot_bits && !fpp)
		return baleen_fail(error, EINVAL,
				   "semi-sorted slots hold fingerprints of up to 32 bits: they "
				   "need --fpp or --slot-bits");
	if (shape->form)
		return baleen_fail(error, EINVAL, "partners by XOR: buckets are not semi-sorted");
	return 0;
}

static int check_shape(u32 domain, double fpp, const struct baleen_shape *shape,
		       struct baleen_error *error)
{
	u32 slot_bits = shape->slot_bits, slots = shape->bucket_slots;

	bool is_width = slot_bits >= BALEEN_MIN_PACKED_BITS && slot_bits <= BALEEN_MAX_PACKED_BITS;

	if (slot_bits && !is_width && slot_bits != 64)
		return baleen_fail(error, EINVAL, "slots have 4 to 32 bits, or 64, not %u",
				   slot_bits);
	if (slot_bits == 64 && domain == BALEEN_IP4)
		return baleen_fail(error, EINVAL,
				   "slots of 64 bits are too wide for IPv4 addresses: 32 bits are "
				   "exact");
	if (slots > 4)
		return baleen_fail(error, EINVAL, "buckets have 1 to 4 slots, not %u", slots);
	if (slots == 3 && (slot_bits == 64 || (!slot_bits && !fpp)))
		return baleen_fail(error, EINVAL,
				   "slots of buckets of 3 hold fingerprints of up to 32 bits: they "
				   "need --fpp or --slot-bits");
	if (shape->is_semi_sorted && check_semi_sorted(fpp, shape, error))
		return -EINVAL;
	if (shape->load && !(shape->load >= BALEEN_CUCKOO_LEAST_LOAD && shape->load <= 1))
		return baleen_fail(error, EINVAL, "a load is 0.01 to 1");
	slots = slots ? slots : BALEEN_BUCKET_SLOTS;
	if (shape->load > baleen_cuckoo_most_load(slots))
		return baleen_fail(error, EINVAL,
				   "buckets of %u slot%s cannot be filled above %.1f %%", slots,
				   slots == 1 ? "" : "s", 100 * baleen_cuckoo_most_load(slots));
	return 0;
}

/* Buckets that were asked for are neither more nor fewer. */
static int check_buckets(u32 domain, u64 n, const struct baleen_shape *shape,
			 struct baleen_error *error)
{
	u32 slots = shape->bucket_slots ? shape->bucket_slots : BALEEN_BUCKET_SLOTS;
	bool is_xor = shape->form & BALEEN_FORM_XOR;
	bool is_packed =
		shape->is_semi_sorted || !baleen_cuckoo_is_aligned(shape->slot_bits, slots);
	u64 least;

	if ((is_xor || shape->n_buckets) && !shape->slot_bits)
		return baleen_fail(error, EINVAL, "%s: slots of how many bits? --slot-bits",
				   is_xor ? "partners by XOR" : "a number of buckets");
	if (is_xor && (shape->slot_bits > BALEEN_FORM_BITS || shape->has_stash))
		return baleen_fail(error, EINVAL,
				   "partners by XOR: slots have up to 32 bits, and there is no "
				   "stash");
	if (!shape->n_buckets)
		return 0;
	least = baleen_cuckoo_min_buckets(domain, shape->slot_bits, is_packed);
	if (!is_xor && shape->n_buckets < least)
		return baleen_fail(error, EINVAL, "slots of %u bits need %llu buckets at least",
				   shape->slot_bits, (unsigned long long)least);
	if (n > (u64)shape->n_buckets * slots)
		return baleen_fail(error, EINVAL, "%llu keys do not fit into %u buckets of %u",
				   (unsigned long long)n, shape->n_buckets, slots);
	return 0;
}

int baleen_cuckoo_shape_check(u32 domain, u64 n, double fpp, const struct baleen_shape *shape,
			      struct baleen_error *error)
{
	int err = check_shape(domain, fpp, shape, error);

	return err ? err : check_buckets(domain, n, shape, error);
}
