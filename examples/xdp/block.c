// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Drops packets of the sources that a list names, until it is interrupted: block DEVICE LIST */
#include <baleen/libbaleen.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>

#include "block.skel.h"

int main(int argc, char **argv)
{
	struct baleen_keys *keys;
	struct baleen_set *set;
	struct block_bpf *program;
	struct bpf_link *link;
	sigset_t ends;
	int signal;

	if (argc != 3)
		errx(2, "usage: block DEVICE LIST");
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	program = block_bpf__open();
	if (!program)
		err(1, "the program cannot be opened");
	if (baleen_keys_new("src", &keys) || baleen_keys_read(keys, argv[2]) ||
	    baleen_set_build(keys, NULL, &set) || baleen_set_load(set, program->obj, "blocked"))
		errx(1, "%s", baleen_error_text());
	if (block_bpf__load(program))
		err(1, "the program cannot be loaded");
	link = bpf_program__attach_xdp(program->progs.block, if_nametoindex(argv[1]));
	if (!link)
		err(1, "%s", argv[1]);
	sigwait(&ends, &signal);
	printf("%llu passed, %llu dropped\n", program->bss->n_passed, program->bss->n_dropped);
	bpf_link__destroy(link);
	block_bpf__destroy(program);
	baleen_set_close(set);
	baleen_keys_free(keys);
	return 0;
}
