// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where the programs of an instance of ICP sit. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "icp/icp_links.h"

const struct baleen_clsact baleen_icp_egress = { .handle = 0xba1e, .pin = "egress" };

void baleen_icp_wait_for_programs(void)
{
	struct timespec second = { .tv_sec = 1 };

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&second, NULL);
}

int baleen_icp_link_switch(int link_fd, int program_fd, int old_fd, struct baleen_error *error)
{
	LIBBPF_OPTS(bpf_link_update_opts, options, .flags = BPF_F_REPLACE, .old_prog_fd = old_fd);
	int err = bpf_link_update(link_fd, program_fd, &options);

	if (err)
		return baleen_fail(error, -err, "%s", strerror(-err));
	baleen_icp_wait_for_programs();
	return 0;
}
