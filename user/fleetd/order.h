/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One thing that `baleen fleet` asks of baleen-fleetd, and its end.
 *
 *      baleen-fleetd --check       connects as fleet.conf says, and prints to whom
 *      baleen-fleetd --ask MS      asks all hosts the signed question that stdin holds, and prints
 *                                  who answered within this time: HOST, enum baleen_fleet_answer
 *                                  and the reason
 */
#ifndef BALEEN_FLEETD_ORDER_H
#define BALEEN_FLEETD_ORDER_H

#include "fleetd/fleetd.h"

/* An exit status. */
int order_run(struct fleet *fleet, int argc, char **argv);

/* Asks all hosts, and prints what they answer. 0 or a negative errno. */
int ask_all(struct fleet *fleet, struct redis *redis, const void *bytes, size_t n_bytes,
	    u64 wait_ms, struct baleen_error *error);

#endif /* BALEEN_FLEETD_ORDER_H */
