// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints what the verifier made of a program: program ID|PIN
 *
 * One line: its name, the instructions verified, the bytes after translation.
 * bpftool 7.1 does not know the second.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include <bpf/bpf.h>

int main(int argc, char **argv)
{
	struct bpf_prog_info info = { 0 };
	unsigned int n_bytes = sizeof(info);
	unsigned long id;
	char *end;
	int fd;

	if (argc != 2)
		errx(2, "usage: program ID|PIN");
	id = strtoul(argv[1], &end, 10);
	fd = *end ? bpf_obj_get(argv[1]) : bpf_prog_get_fd_by_id(id);
	if (fd < 0)
		err(1, "%s", argv[1]);
	if (bpf_obj_get_info_by_fd(fd, &info, &n_bytes))
		err(1, "%s", argv[1]);
	printf("%s %u %u\n", info.name, info.verified_insns, info.xlated_prog_len);
	return 0;
}
