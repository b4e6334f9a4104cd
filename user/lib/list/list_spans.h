/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The addresses of a set as the fewest spans, for programs that know no exceptions.
 */
#ifndef BALEEN_LIST_SPANS_H
#define BALEEN_LIST_SPANS_H

#include "list/list.h"

/* Called with each span; a nonzero return ends the walk. */
typedef int baleen_spans_visit(const struct baleen_span *span, void *data);

/**
 * baleen_list_spans() - a set of addresses, span by span
 * @list: finished; keys of several fields are none
 * @visit: called with each, IPv4 before IPv6, in ascending order; no two touch
 * @data: passed to @visit
 *
 * Return: 0, or what @visit returned.
 */
int baleen_list_spans(const struct baleen_list *list, baleen_spans_visit *visit, void *data);

#endif /* BALEEN_LIST_SPANS_H */
