/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The addresses of a name, as the resolver of the system knows them.
 */
#ifndef BALEEN_RESOLVER_H
#define BALEEN_RESOLVER_H

#include "util/fetch_wire.h"

/**
 * resolve_name() - write the addresses of a name as a list
 * @order: its name, and how many addresses it may have
 * @fd: open for writing: an address a line, in an order that does not depend on the answer
 * @report: filled in: the last one
 *
 * Both families are asked, and each is written as soon as it is there. When one of them gets no
 * answer, the report says which, and what is written is half of the answer.
 */
void resolve_name(const struct baleen_fetch_order *order, int fd,
		  struct baleen_fetch_report *report);

#endif /* BALEEN_RESOLVER_H */
