// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The fingerprints of quotient tables in ascending order, read and written. */
#include "filter/quotient_stream.h"

/* --- read ------------------------------------------------------------------ */

/* The first quotient from @home on that has a run. */
static bool seek_occupied(const struct baleen_quotient *quotient, u64 *home)
{
	u64 reach = ~0ull << (*home & 63), n = quotient->table->n_buckets;

	for (u64 group = *home / 64; group * 64 < n; group++, reach = ~0ull) {
		u64 bits = baleen_le64(
			baleen_quotient_group(quotient, group)[BALEEN_QUOTIENT_OCCUPIED]);

		bits &= reach & baleen_quotient_all(quotient->table);
		if (bits) {
			*home = group * 64 + baleen_lowest64(bits);
			return true;
		}
	}
	return false;
}

struct baleen_quotient_reader baleen_quotient_reader(const struct baleen_filter *filter, u32 domain)
{
	struct baleen_quotient_reader reader = { .quotient = baleen_quotient_of(filter, domain) };
	const struct baleen_table *table = reader.quotient.table;
	struct baleen_quotient_run run;

	if (!seek_occupied(&reader.quotient, &reader.home))
		return reader;
	/* Before it may be what went on from the last slot. */
	run = baleen_quotient_find(table, filter->bytes, reader.home);
	if (!run.n)
		return reader;
	reader.at = reader.home + ((run.first - (u32)reader.home) & (table->n_buckets - 1));
	reader.n_left = table->n_buckets;
	return reader;
}

bool baleen_quotient_read(struct baleen_quotient_reader *reader)
{
	const struct baleen_quotient *quotient = &reader->quotient;
	const struct baleen_table *table = quotient->table;

	if (!reader->n_left)
		return false;
	if (!reader->in_run) {
		/* The home of the first run is known. */
		if (reader->n_left < table->n_buckets)
			reader->home++;
		if (!seek_occupied(quotient, &reader->home)) {
			reader->n_left = 0;
			return false;
		}
		if (reader->at < reader->home)
			reader->at = reader->home;
	}
	reader->n_left--;
	reader->value = reader->home << table->slot_bits |
			baleen_quotient_get(table, quotient->store, reader->at);
	reader->at++;
	reader->in_run = baleen_quotient_bit(quotient, reader->at, BALEEN_QUOTIENT_CONTINUED);
	return true;
}

/* --- write ----------------------------------------------------------------- */

struct baleen_quotient_writer baleen_quotient_writer(struct baleen_filter *filter, u32 domain,
						     u64 end)
{
	u64 n = filter->image.table[domain].n_buckets;

	return (struct baleen_quotient_writer){
		.quotient = baleen_quotient_of(filter, domain),
		.next = end > n ? end - n : 0,
	};
}

static void set_bit(const struct baleen_quotient *quotient, u32 slot,
		    enum baleen_quotient_plane plane)
{
	baleen_quotient_group(quotient, slot >> 6)[plane] |= baleen_le64(1ull << (slot & 63));
}

void baleen_quotient_write(struct baleen_quotient_writer *writer, u64 value)
{
	const struct baleen_quotient *quotient = &writer->quotient;
	const struct baleen_table *table = quotient->table;
	u64 home = value >> table->slot_bits;
	u64 at = writer->next > home ? writer->next : home;
	u32 slot = at & (table->n_buckets - 1);

	if (writer->any && home == writer->home)
		set_bit(quotient, slot, BALEEN_QUOTIENT_CONTINUED);
	else
		set_bit(quotient, home, BALEEN_QUOTIENT_OCCUPIED);
	if (at != home)
		set_bit(quotient, slot, BALEEN_QUOTIENT_SHIFTED);
	baleen_quotient_put(quotient, slot, value & ~(~0ull << table->slot_bits));
	writer->next = at + 1;
	writer->home = home;
	writer->any = true;
}
