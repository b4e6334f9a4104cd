// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Statements of a configuration about caches, in force on its device. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/icp_follow.h"
#include "icp/icp_filters.h"
#include "icp/icp_resync.h"
#include "ops/image_file.h"
#include "state/rule_store_schema.h"
#include "util/fd.h"
#include "util/input.h"
#include "util/text_hash.h"
#include "xdp/xdp.h"

/* --- statements ---------------------------------------------------------------- */

u64 baleen_icp_statements_hash(const char *statements)
{
	return *statements ? baleen_text_hash(statements, BALEEN_TEXT_HASH_START) | 1 : 0;
}

/* Empty without a state. */
static int read_statements(const char *device, char *statements, struct baleen_error *error)
{
	struct baleen_rule_store state;
	char *text = NULL;
	int err = baleen_rule_store_open(&state, device, 0, error);

	*statements = '\0';
	if (err)
		return err == -ENOENT ? 0 : err;
	err = baleen_rule_store_get_text(&state, BALEEN_TEXT_ICP, &text);
	if (err)
		baleen_fail(error, -err, "%s: its state cannot be read: %s", device,
			    strerror(-err));
	else if (text)
		snprintf(statements, BALEEN_ICP_TEXT_BYTES, "%s", text);
	free(text);
	baleen_rule_store_close(&state);
	return err;
}

/* --- what is there --------------------------------------------------------------- */

/**
 * struct there - the instance of a device
 * @is: there is one
 * @is_enforced: it answers, and is heard
 * @statements: hash of those that it came from; 0: by hand
 */
struct there {
	bool is;
	bool is_enforced;
	u64 statements;
};

static struct there look(const char *device)
{
	struct there there = { 0 };
	struct baleen_icp icp;

	if (baleen_icp_open(&icp, device, false, NULL))
		return there;
	there = (struct there){ .is = true,
				.is_enforced = baleen_icp_is_enforced(&icp),
				.statements = icp.now.config.statements };
	baleen_icp_close(&icp);
	return there;
}

static bool has_filter(const char *device)
{
	struct baleen_xdp xdp;
	bool is_attached;

	if (baleen_xdp_open(&xdp, device, false, NULL))
		return false;
	is_attached = xdp.attach_status == BALEEN_ATTACH_STATUS_ATTACHED;
	baleen_xdp_close(&xdp);
	return is_attached;
}

static bool is_followed(const struct there *there, const char *statements)
{
	u64 wanted = baleen_icp_statements_hash(statements);

	return wanted ? there->is_enforced && there->statements == wanted :
			!there->is || !there->statements;
}

bool baleen_icp_is_followed(const char *device, const char *statements)
{
	struct there there = look(device);

	return is_followed(&there, statements);
}

/* --- attach ----------------------------------------------------------------------- */

/**
 * struct follow - an instance on its way
 * @icp: the statements
 * @filter: of each sibling
 * @plan: of all that
 */
struct follow {
	struct baleen_conf_icp *icp;
	struct baleen_filter filter[BALEEN_ICP_MAX_SIBLINGS];
	struct baleen_icp_plan plan;
};

static int read_image(const char *path, struct baleen_filter *filter, struct baleen_error *error)
{
	int fd = baleen_input_open(path, BALEEN_INPUT_NAMED, error), err;

	if (fd < 0)
		return fd;
	err = baleen_image_file_read(fd, path, filter, error);
	close(fd);
	return err;
}

static int make_filter(struct follow *follow, u32 n, struct baleen_error *error)
{
	const struct baleen_icp_words *words = &follow->icp->words;
	const struct baleen_icp_sibling *sibling = &words->config.sibling[n];
	struct baleen_build_options build = follow->icp->build;
	int err;

	if (sibling->feeders)
		baleen_icp_shape_fed(&build);
	if (words->image[n])
		err = read_image(words->image[n], &follow->filter[n], error);
	else
		err = baleen_icp_make_empty(&build, &follow->filter[n], error);
	if (err)
		return err;
	follow->plan.filter[n] = &follow->filter[n];
	if (words->image[n])
		follow->plan.has_content |= 1u << n;
	if (sibling->mode != BALEEN_ICP_CONFIRM)
		follow->plan.n_objects += baleen_icp_room(&follow->filter[n], build.capacity);
	return 0;
}

static int attach(const char *device, struct follow *follow, const char *statements,
		  struct baleen_icp_report *report, struct baleen_error *error)
{
	const struct baleen_icp_words *words = &follow->icp->words;
	int err = 0;

	for (u32 n = 0; n < words->config.n_siblings && !err; n++)
		err = make_filter(follow, n, error);
	baleen_icp_words_plan(words, device, &follow->plan);
	follow->plan.config.statements = baleen_icp_statements_hash(statements);
	if (!err)
		err = baleen_icp_attach(&follow->plan, report, error);
	for (u32 n = 0; n < BALEEN_ICP_MAX_SIBLINGS; n++)
		baleen_filter_free(&follow->filter[n]);
	return err;
}

/* --- follow ------------------------------------------------------------------------ */

static int replace(const char *device, const char *statements, const struct there *there,
		   struct baleen_icp_followed *followed, struct baleen_error *error)
{
	struct follow *follow = calloc(1, sizeof(*follow));
	int err = follow ? baleen_conf_icp_read(statements, &follow->icp, error) :
			   baleen_no_memory(error);

	/* A moment in which the caches answer themselves. */
	if (!err && there->is) {
		err = baleen_icp_detach(device, error);
		followed->did_detach = !err;
	}
	if (!err)
		err = attach(device, follow, statements, &followed->report, error);
	followed->did_attach = !err;
	/* Another one did it meanwhile. */
	if (err == -EBUSY && baleen_icp_is_followed(device, statements))
		err = 0;
	if (follow)
		baleen_conf_icp_free(follow->icp);
	free(follow);
	return err;
}

int baleen_icp_follow(const char *device, struct baleen_icp_followed *followed,
		      struct baleen_error *error)
{
	char statements[BALEEN_ICP_TEXT_BYTES];
	struct there there = look(device);
	int err;

	memset(followed, 0, sizeof(*followed));
	err = read_statements(device, statements, error);
	if (err || baleen_device_is_egress(device))
		return err;
	if (*statements && !has_filter(device))
		*statements = '\0';
	if (is_followed(&there, statements))
		return 0;
	if (*statements)
		return replace(device, statements, &there, followed, error);
	err = baleen_icp_detach(device, error);
	followed->did_detach = !err;
	return err == -ENOENT ? 0 : err;
}

/* --- sources ------------------------------------------------------------------------ */

static int seed(const char *device, const struct baleen_conf_icp *icp, u32 n,
		struct baleen_error *error)
{
	const struct baleen_conf_icp_source *source = &icp->source[n];
	const struct baleen_icp_resync resync = {
		.device = device,
		.sibling = icp->words.config.sibling[n].name,
		.source = (const char *const *)source->path,
		.n_sources = source->n,
		.read.from = source->from,
	};
	struct baleen_icp_resync_report report;

	return source->n ? baleen_icp_resync(&resync, &report, error) : 0;
}

int baleen_icp_seed(const char *device, struct baleen_error *error)
{
	char statements[BALEEN_ICP_TEXT_BYTES];
	struct baleen_conf_icp *icp = NULL;
	struct baleen_error why;
	int err = read_statements(device, statements, error);

	if (err || !*statements)
		return err;
	err = baleen_conf_icp_read(statements, &icp, error);
	for (u32 n = 0; icp && n < icp->words.config.n_siblings; n++) {
		int failed = seed(device, icp, n, &why);

		if (failed && !err)
			err = baleen_fail(error, -failed, "%s:%s: %s", device,
					  icp->words.config.sibling[n].name, why.text);
	}
	baleen_conf_icp_free(icp);
	return err;
}

int baleen_icp_sources(const char *device, const char *sibling, struct baleen_conf_icp **icp,
		       u32 *n, struct baleen_error *error)
{
	char statements[BALEEN_ICP_TEXT_BYTES];
	struct baleen_conf_icp *read = NULL;
	int found = -ENOENT, err = read_statements(device, statements, error);

	if (!err && *statements)
		err = baleen_conf_icp_read(statements, &read, error);
	if (!err && read)
		found = baleen_icp_words_find(&read->words, sibling);
	if (!err && (found < 0 || !read->source[found].n))
		err = baleen_fail(error, ENOENT,
				  "%s: no configuration has a source of sibling '%s'", device,
				  sibling);
	if (err) {
		baleen_conf_icp_free(read);
		return err;
	}
	*icp = read;
	*n = found;
	return 0;
}
