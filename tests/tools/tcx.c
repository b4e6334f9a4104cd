// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Puts a program that does nothing at the tcx ingress of a device: tcx DEVICE
 *
 * Says `there` when it is, and takes it off at the end of its input. Exit: 77
 * when the kernel has no tcx (before 6.6).
 */
#include <err.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>

#include <bpf/bpf.h>

/* Of linux/bpf.h, which Debian 12 has without. */
#define TCX_INGRESS 46

int main(int argc, char **argv)
{
	/* r0 = TCX_NEXT; exit */
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = -1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int program, link, ifindex;

	if (argc != 2)
		errx(2, "usage: tcx DEVICE");
	ifindex = if_nametoindex(argv[1]);
	if (!ifindex)
		err(1, "%s", argv[1]);
	program = bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "nothing", "GPL", code, 2, NULL);
	if (program < 0)
		err(1, "load");
	link = bpf_link_create(program, ifindex, TCX_INGRESS, NULL);
	if (link == -EINVAL)
		return 77;
	if (link < 0)
		err(1, "attach");
	puts("there");
	fflush(stdout);
	while (getchar() != EOF)
		continue;
	return 0;
}
