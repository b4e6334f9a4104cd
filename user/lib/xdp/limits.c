// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The limits of a device's rules. */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "util/clock.h"
#include "xdp/bpf_objects.h"
#include "xdp/limits.h"

/* --- tables ---------------------------------------------------------------- */

static void count_slots(const struct baleen_limit_set *set, const struct baleen_limit *limit,
			struct baleen_limit_status *status)
{
	u64 now_ns = baleen_clock_ns(CLOCK_MONOTONIC);

	for (u32 i = 0; i < BALEEN_LIMIT_SETS; i++) {
		for (u32 slot = 0; slot < BALEEN_LIMIT_SLOTS; slot++) {
			u64 full_ns = *(const volatile u64 *)&set[i].full_ns[slot];

			status->n_tracked += full_ns > now_ns;
			status->n_over += baleen_bucket_is_empty(full_ns, limit->interval_ns,
								 limit->window_ns, now_ns);
		}
	}
}

static int look_at_table(const struct baleen_xdp *xdp, u32 index,
			 struct baleen_limit_status *status, struct baleen_error *error)
{
	const struct baleen_limit *limit = &xdp->config.limit[index];
	void *sets;

	status->n_slots = BALEEN_LIMIT_SETS * BALEEN_LIMIT_SLOTS;
	status->n_bytes = BALEEN_LIMIT_SETS * sizeof(struct baleen_limit_set);
	sets = mmap(NULL, status->n_bytes, PROT_READ, MAP_SHARED, xdp->limit_fd[BALEEN_LIMIT_TABLE],
		    (off_t)limit->first_set * sizeof(struct baleen_limit_set));
	if (sets == MAP_FAILED)
		return baleen_fail(error, errno, "%s:%s: cannot look at its limit: %m", xdp->device,
				   xdp->config.rule[index].image.name);
	count_slots(sets, limit, status);
	munmap(sets, status->n_bytes);
	return 0;
}

static int add_counts(const struct baleen_xdp *xdp, u32 index, struct baleen_limit_counts *counts,
		      struct baleen_error *error)
{
	int n_cpus = libbpf_num_possible_cpus(), err = -ENOMEM;
	struct baleen_limit_counts *of_cpu;

	if (n_cpus < 0)
		return baleen_fail(error, -n_cpus, "cannot count processors: %s",
				   strerror(-n_cpus));
	of_cpu = calloc(n_cpus, sizeof(*of_cpu));
	if (of_cpu)
		err = bpf_map_lookup_elem(xdp->limit_fd[BALEEN_LIMIT_COUNTS],
					  &xdp->config.rule[index].slot, of_cpu);
	for (int i = 0; i < n_cpus && !err; i++) {
		counts->overruns += of_cpu[i].overruns;
		counts->lost += of_cpu[i].lost;
		counts->forgotten += of_cpu[i].forgotten;
	}
	free(of_cpu);
	return err ? baleen_fail(error, -err, "%s: cannot read what its limits have counted: %s",
				 xdp->device, strerror(-err)) :
		     0;
}

/* The program of an earlier release counts whatever finds a connection. */
static bool is_unreadable(const struct baleen_config *config)
{
	return !config->tcp.rcv_nxt && config->code == baleen_bpf_objects_code();
}

enum baleen_limit_proof baleen_limit_proof(const struct baleen_config *config, u32 index, u8 proto,
					   bool opens)
{
	if (config->limit[index].typed.unverified)
		return BALEEN_PROOF_NOT_ASKED;
	if (is_unreadable(config))
		return BALEEN_PROOF_UNREADABLE;
	return proto == BALEEN_PROTO_TCP && !opens ? BALEEN_PROOF_NUMBERS : BALEEN_PROOF_NONE;
}

int baleen_limit_look(const struct baleen_xdp *xdp, u32 index, struct baleen_limit_status *status,
		      struct baleen_error *error)
{
	struct baleen_limit_status found = {
		.is_unreadable = baleen_limit_proof(&xdp->config, index, BALEEN_PROTO_TCP, false) ==
				 BALEEN_PROOF_UNREADABLE,
	};
	int err = look_at_table(xdp, index, &found, error);

	if (!err)
		err = add_counts(xdp, index, &found.counts, error);
	if (!err)
		*status = found;
	return err;
}

int baleen_limit_ask(const struct baleen_xdp *xdp, u32 index, const struct baleen_fields *fields,
		     u64 *source, bool *is_over, struct baleen_error *error)
{
	const struct baleen_limit *limit = &xdp->config.limit[index];
	u64 asked = baleen_limit_source(limit, fields->is_ip6, fields->src_hi, fields->src_lo);
	u32 at = baleen_limit_set_of(limit, asked);
	struct baleen_limit_set set;
	int err = bpf_map_lookup_elem(xdp->limit_fd[BALEEN_LIMIT_TABLE], &at, &set);

	if (err)
		return baleen_fail(error, -err, "%s: cannot look at its limits: %s", xdp->device,
				   strerror(-err));
	*source = asked;
	*is_over = asked && baleen_limit_is_over(&set, asked, limit->interval_ns, limit->window_ns,
						 baleen_clock_ns(CLOCK_MONOTONIC));
	return 0;
}

/* --- overruns -------------------------------------------------------------- */

/**
 * struct reading - overruns on their way out of a ring
 * @overrun: they
 * @n: how many
 * @room: how many fit
 */
struct reading {
	struct baleen_overrun *overrun;
	size_t n;
	size_t room;
};

/* Called by libbpf; a negative return ends its round behind this one. */
static int receive(void *data, void *bytes, size_t n_bytes)
{
	struct reading *reading = data;

	if (n_bytes >= sizeof(*reading->overrun))
		memcpy(&reading->overrun[reading->n++], bytes, sizeof(*reading->overrun));
	return reading->n == reading->room ? -ENOBUFS : 0;
}

u32 baleen_overruns_id(const struct baleen_xdp *xdp)
{
	struct bpf_map_info info = { 0 };
	u32 bytes = sizeof(info);

	return bpf_obj_get_info_by_fd(xdp->limit_fd[BALEEN_LIMIT_RING], &info, &bytes) ? 0 :
											 info.id;
}

int baleen_overruns_read(const struct baleen_xdp *xdp, struct baleen_overrun *overrun, size_t room,
			 size_t *n, struct baleen_error *error)
{
	struct reading reading = { .overrun = overrun, .room = room };
	struct ring_buffer *ring;
	int ret = 0;

	ring = ring_buffer__new(xdp->limit_fd[BALEEN_LIMIT_RING], receive, &reading, NULL);
	if (!ring)
		return baleen_fail(error, errno, "%s: limits: %m", xdp->device);
	if (room)
		ret = ring_buffer__consume(ring);
	ring_buffer__free(ring);
	if (ret < 0 && ret != -ENOBUFS)
		return baleen_fail(error, -ret, "%s: limits: %s", xdp->device, strerror(-ret));
	*n = reading.n;
	return 0;
}

int baleen_limit_of_slot(const struct baleen_config *config, u32 slot)
{
	for (u32 i = 0; i < config->n_rules; i++)
		if (config->rule[i].slot == slot && config->limit[i].interval_ns)
			return i;
	return -ENOENT;
}

const char *baleen_limit_source_format(const struct baleen_rate_limit *limit, u64 source,
				       char *text)
{
	bool is_ip6 = source >> 56 != BALEEN_LIMIT_IP4 >> 56;
	u32 bits = is_ip6 ? limit->src6_bits : limit->src_bits;
	u64 address[2] = { baleen_be64(source), 0 };
	u32 address4 = baleen_be32((u32)source);
	char written[INET6_ADDRSTRLEN];

	inet_ntop(is_ip6 ? AF_INET6 : AF_INET, is_ip6 ? (void *)address : (void *)&address4,
		  written, sizeof(written));
	snprintf(text, BALEEN_LIMIT_SOURCE_TEXT, "%s/%u", written, bits ? bits : is_ip6 ? 64 : 32);
	return text;
}
