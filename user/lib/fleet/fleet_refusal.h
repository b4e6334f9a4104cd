/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages that are refused: why, and how many by publisher and cause.
 */
#ifndef BALEEN_FLEET_REFUSAL_H
#define BALEEN_FLEET_REFUSAL_H

#include "fleet/fleet_work.h"

/**
 * baleen_fleet_refuse() - refuse a message
 * @work: its result is told
 * @cause: enum baleen_fleet_cause
 * @format: why, a line for a person
 *
 * The same bytes are counted once. Names that nothing was taken of are counted as their host, those
 * of no host as nobody.
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_refuse(struct baleen_fleet_work *work, u32 cause, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * baleen_fleet_refusal_count() - count refusals, or entries that are held
 * @work: its store has a transaction
 * @name: of whom; empty for nobody
 * @cause: enum baleen_fleet_cause
 * @n: how many more
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_refusal_count(struct baleen_fleet_work *work, const char *name, u32 cause, u64 n);

#endif /* BALEEN_FLEET_REFUSAL_H */
