// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Images without what is nobody's. */
#include "filter/estimate.h"
#include "key/key_spec.h"
#include "list/list_algebra.h"
#include "list/special.h"
#include "ops/edit.h"
#include "ops/nobody.h"

static bool may_err(const struct baleen_filter *image, u32 domain)
{
	const struct baleen_table *table = &image->image.table[domain];

	switch (table->kind) {
	case BALEEN_KIND_CUCKOO:
	case BALEEN_KIND_QUOTIENT:
	case BALEEN_KIND_COMPACT: return !baleen_table_tells_apart(table, domain);
	default: return baleen_table_is_bit_array(table);
	}
}

int baleen_filter_leave_nobody(struct baleen_filter *image, u64 *n, struct baleen_error *error)
{
	struct baleen_list nobody, held = { 0 };
	int err;

	if (!baleen_spec_is_address(image->image.key_spec))
		return 0;
	err = baleen_special_nobody_list(image->image.key_spec, &nobody, error);
	if (err)
		return err;
	if (may_err(image, BALEEN_IP4))
		nobody.n_ip4 = 0;
	if (may_err(image, BALEEN_IP6))
		nobody.n_ip6 = 0;
	err = baleen_filter_held(image, &nobody, true, &held, error);
	if (!err)
		err = baleen_filter_edit_self(image, &held, BALEEN_SET_DIFFERENCE, error);
	if (!err)
		*n += held.n_ip4 + held.n_ip6;
	baleen_list_free(&held);
	baleen_list_free(&nobody);
	return err;
}
