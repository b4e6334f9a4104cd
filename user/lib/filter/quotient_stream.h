/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fingerprints of quotient tables in ascending order, read and written.
 */
#ifndef BALEEN_QUOTIENT_STREAM_H
#define BALEEN_QUOTIENT_STREAM_H

#include "filter/quotient_slots.h"

/**
 * struct baleen_quotient_reader - a table as a sorted sequence
 * @quotient: the table
 * @value: the fingerprint read last
 * @home: quotient of @value
 * @at: slot after that of @value, not modulo the slots of the table
 * @n_left: fingerprints that may still come: not more than there are slots,
 *          whatever a damaged body says
 * @in_run: the next one is of the same quotient
 */
struct baleen_quotient_reader {
	struct baleen_quotient quotient;
	u64 value;
	u64 home;
	u64 at;
	u64 n_left;
	bool in_run;
};

/**
 * baleen_quotient_reader() - from the smallest fingerprint on
 * @filter: the filter; not changed while it is read
 * @domain: domain of a quotient table
 *
 * Return: a reader before the first one.
 */
struct baleen_quotient_reader baleen_quotient_reader(const struct baleen_filter *filter,
						     u32 domain);

/**
 * baleen_quotient_read() - the next fingerprint
 * @reader: reads it into its value
 *
 * Return: false when there is none.
 */
bool baleen_quotient_read(struct baleen_quotient_reader *reader);

/**
 * struct baleen_quotient_writer - fills an empty table in ascending order
 * @quotient: the table
 * @next: the first slot that is free, not modulo the slots of the table
 * @home: quotient of what was written last
 * @any: something was
 */
struct baleen_quotient_writer {
	struct baleen_quotient quotient;
	u64 next;
	u64 home;
	bool any;
};

/**
 * baleen_quotient_advance() - what a fingerprint does to the next free slot
 * @table: a quotient table
 * @next: the first free slot before it
 * @value: not less than those before it
 *
 * From 0 over all fingerprints of a table: what is beyond its slots are those
 * that go on at slot 0, and the next free slot that a writer starts with.
 *
 * Return: the first free slot after it.
 */
static inline u64 baleen_quotient_advance(const struct baleen_table *table, u64 next, u64 value)
{
	u64 home = value >> table->slot_bits;

	return (home > next ? home : next) + 1;
}

/**
 * baleen_quotient_writer() - a writer of an empty table
 * @filter: the filter
 * @domain: domain of a quotient table with as many slots as will be written, or more
 * @end: of baleen_quotient_advance() over all that will be written
 *
 * Return: the writer.
 */
struct baleen_quotient_writer baleen_quotient_writer(struct baleen_filter *filter, u32 domain,
						     u64 end);

/**
 * baleen_quotient_write() - the next fingerprint
 * @writer: the writer
 * @value: greater than the last one; where copies count, or equal to it
 */
void baleen_quotient_write(struct baleen_quotient_writer *writer, u64 value);

#endif /* BALEEN_QUOTIENT_STREAM_H */
