// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Loads the sample programs and puts one of them on a device:
 *
 *	guard xdp|tc DEVICE FILTER PORT
 *
 * Says `there` when it is, takes it off at the end of its input and says what was
 * answered: `listed N unlisted N no-filter N`.
 */
#include <net/if.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "device.h"
#include "guard.skel.h"

static void wait_for_end(void)
{
	puts("there");
	fflush(stdout);
	while (getchar() != EOF)
		continue;
}

static void guard_xdp(struct guard_bpf *guard, int ifindex)
{
	int fd = bpf_program__fd(guard->progs.guard_xdp);

	if (bpf_xdp_attach(ifindex, fd, 0, NULL))
		err(1, "attach");
	wait_for_end();
	bpf_xdp_detach(ifindex, 0, NULL);
}

static void guard_tc(struct guard_bpf *guard, int ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex, .attach_point = BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_opts, options, .prog_fd = bpf_program__fd(guard->progs.guard_tc));

	if (bpf_tc_hook_create(&hook) || bpf_tc_attach(&hook, &options))
		err(1, "attach");
	wait_for_end();
	hook.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS;
	bpf_tc_hook_destroy(&hook);
}

int main(int argc, char **argv)
{
	struct guard_bpf *guard;
	struct baleen_dev_target target;
	int ifindex;

	if (argc != 5 || (strcmp(argv[1], "xdp") && strcmp(argv[1], "tc")))
		errx(2, "usage: guard xdp|tc DEVICE FILTER PORT");
	ifindex = if_nametoindex(argv[2]);
	if (!ifindex)
		err(1, "%s", argv[2]);
	guard = guard_bpf__open_and_load();
	if (!guard)
		err(1, "load");
	target = target_of(argv[3]);
	memcpy(guard->data->filter, target.name, sizeof(target.name));
	guard->data->port = atoi(argv[4]);
	if (!strcmp(argv[1], "xdp"))
		guard_xdp(guard, ifindex);
	else
		guard_tc(guard, ifindex);
	printf("listed %llu unlisted %llu no-filter %llu\n", guard->bss->listed,
	       guard->bss->unlisted, guard->bss->no_filter);
	guard_bpf__destroy(guard);
	return 0;
}
