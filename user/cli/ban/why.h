/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The verdict on a packet and the entry that causes it, in words and in JSON.
 */
#ifndef BALEEN_CLI_WHY_H
#define BALEEN_CLI_WHY_H

#include "cli/common/cli.h"
#include "deploy/explain.h"

/**
 * struct why - one run of why
 * @device: its name
 * @address: the addresses that are asked about
 * @n_addresses: how many
 * @is_of_urls: they are URLs, of caches
 * @is_egress: packets go out, to the addresses that are asked about
 * @src: source as typed, or NULL; of what goes out
 * @dst: destination as typed, or NULL; of what comes in
 * @has_sport: a source port was given
 * @has_dport: a destination port was given
 * @source: ask publishers of signed sets for the line
 * @json: print JSON
 * @question: the packet; its addresses are those of the one that is asked about
 */
struct why {
	const char *device;
	char *const *address;
	u32 n_addresses;
	bool is_of_urls;
	bool is_egress;
	const char *src;
	const char *dst;
	bool has_sport;
	bool has_dport;
	bool source;
	bool json;
	struct baleen_question question;
};

/* Prints the answer about one address. */
void print_why(const struct why *why, const char *address, const struct baleen_xdp *xdp,
	       const struct baleen_explanation *explanation);

/* The same as JSON. */
json_t *describe_why(const struct why *why, const char *address, const struct baleen_xdp *xdp,
		     const struct baleen_explanation *explanation);

/* Do packets and entries, or the copy and the live program, disagree? */
bool why_differs(const struct baleen_xdp *xdp, const struct baleen_explanation *explanation);

#endif /* BALEEN_CLI_WHY_H */
