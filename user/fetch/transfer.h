/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A document from a web server: the attempts, the redirections, the end.
 */
#ifndef BALEEN_TRANSFER_H
#define BALEEN_TRANSFER_H

#include "util/fetch_wire.h"

/**
 * transfer_document() - carry out an order for a document
 * @order: of which each text ends
 * @body: descriptor of the file where it goes
 * @on_progress: called with the bytes received and how many there are to be; returns false
 *               to end the transfer
 * @report: the last report; filled in
 */
void transfer_document(const struct baleen_fetch_order *order, int body,
		       bool (*on_progress)(u64 n_received, u64 n_total),
		       struct baleen_fetch_report *report);

#endif /* BALEEN_TRANSFER_H */
