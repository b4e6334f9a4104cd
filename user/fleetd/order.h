/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One thing that `baleen fleet` asks of baleen-fleetd, and its end.
 *
 *      baleen-fleetd --check       connects as fleet.conf says, and prints to whom
 *      baleen-fleetd --send NAME   sends the signed control message that stdin holds; NAME is
 *                                  what it is about: of two about the same the last one counts
 */
#ifndef BALEEN_FLEETD_ORDER_H
#define BALEEN_FLEETD_ORDER_H

#include "fleetd/fleetd.h"

/* An exit status. */
int order_run(struct fleet *fleet, int argc, char **argv);

#endif /* BALEEN_FLEETD_ORDER_H */
