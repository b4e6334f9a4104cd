/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The probe for keys of any domain in a BPF program.
 */
#ifndef BALEEN_TESTS_BY_DOMAIN_H
#define BALEEN_TESTS_BY_DOMAIN_H

#include <baleen/program.h>

/* Each domain asks as packets of it do: with a table whose constants the verifier
 * knows. @image is constant data of the load.
 */
baleen_inline u64 test_by_domain(const struct baleen_image *image, const void *store,
				 const struct baleen_key *key)
{
	struct baleen_key known = *key;

#pragma clang loop unroll(full)
	for (u32 domain = BALEEN_IP4; domain <= BALEEN_TUPLE; domain++) {
		known.domain = domain;
		if (key->domain == domain)
			return baleen_image_test(image, store, &known);
	}
	return 0;
}

#endif /* BALEEN_TESTS_BY_DOMAIN_H */
