// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The twin of a program that is attached. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "xdp/shadow_prog.h"

#define MAX_FRAME_BYTES 1500

/* The kernel's own number, which no header for userspace has. */
#define KERNEL_ENOTSUPP 524

static int read_tag(int fd, u8 *tag)
{
	struct bpf_prog_info info = { 0 };
	u32 bytes = sizeof(info);
	int err = bpf_obj_get_info_by_fd(fd, &info, &bytes);

	if (!err)
		memcpy(tag, info.tag, BPF_TAG_SIZE);
	return err;
}

static int compare_tags(struct baleen_shadow_prog *shadow, struct baleen_error *error)
{
	u8 own[BPF_TAG_SIZE], live[BPF_TAG_SIZE];
	int err = read_tag(shadow->replay.loaded.program_fd, own);

	if (!err)
		err = read_tag(shadow->live_fd, live);
	if (err)
		return baleen_fail(error, -err, "cannot compare programs: %s", strerror(-err));
	shadow->is_same = !memcmp(own, live, sizeof(own));
	return 0;
}

static int open_live(const struct baleen_xdp *xdp, int *live_fd, struct baleen_error *error)
{
	int fd = baleen_pins_open(&xdp->pins, xdp->program_id, "prog");

	if (fd == -ENOENT)
		return baleen_fail(error, ESTALE, "%s: another command changed it meanwhile",
				   xdp->device);
	if (fd < 0)
		return baleen_fail(error, -fd, "%s: cannot open its program: %s", xdp->device,
				   strerror(-fd));
	*live_fd = fd;
	return 0;
}

int baleen_shadow_prog_open(const struct baleen_xdp *xdp, struct baleen_shadow_prog *shadow,
			    struct baleen_error *error)
{
	int err = baleen_device_privileges(error);

	if (!err)
		err = open_live(xdp, &shadow->live_fd, error);
	if (err)
		return err;
	err = baleen_replay_open_live(&shadow->replay, xdp, error);
	if (err)
		goto close_live;
	err = compare_tags(shadow, error);
	if (err)
		goto close_replay;
	return 0;

close_replay:
	baleen_replay_close(&shadow->replay);
close_live:
	close(shadow->live_fd);
	return err;
}

static int ask_live(const struct baleen_shadow_prog *shadow, const u8 *frame, u32 n_bytes,
		    struct baleen_shadow_prog_answer *answer, struct baleen_error *error)
{
	const struct baleen_config *config = &shadow->replay.config;
	u32 n_skipped = baleen_replay_skips(config, frame, n_bytes);
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame + n_skipped,
		    .data_size_in = n_bytes - n_skipped, .repeat = 1);
	int err = bpf_prog_test_run_opts(shadow->live_fd, &options);

	if (err == -KERNEL_ENOTSUPP)
		return 0;
	if (err)
		return baleen_fail(error, -err, "the kernel cannot run the XDP program: %s",
				   strerror(-err));
	answer->is_live_asked = true;
	answer->is_live_drop = baleen_replay_is_drop(config, options.retval);
	return 0;
}

int baleen_shadow_prog_ask(struct baleen_shadow_prog *shadow, const u8 *frame, u32 n_bytes,
			   struct baleen_shadow_prog_answer *answer, struct baleen_error *error)
{
	struct baleen_shadow_prog_answer found = { 0 };
	int err;

	if (n_bytes < BALEEN_ETHER_BYTES || n_bytes > MAX_FRAME_BYTES)
		return baleen_fail(error, EINVAL, "no frame of %u bytes can be asked about",
				   n_bytes);
	err = baleen_replay_frame(&shadow->replay, frame, n_bytes, &found.judgement, error);
	if (err)
		return err;
	found.is_live_drop = found.judgement.is_drop;
	if (!shadow->is_same)
		err = ask_live(shadow, frame, n_bytes, &found, error);
	if (!err)
		*answer = found;
	return err;
}

void baleen_shadow_prog_close(struct baleen_shadow_prog *shadow)
{
	baleen_replay_close(&shadow->replay);
	close(shadow->live_fd);
}
