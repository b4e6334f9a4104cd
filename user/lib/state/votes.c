// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Votes of hosts on generations of sets. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "state/rule_store_path.h"
#include "state/votes.h"
#include "util/announce.h"
#include "util/lock.h"
#include "util/output.h"
#include "util/small_file.h"

#define FILE_NAME "votes"
#define LINE_BYTES 512
#define MAX_BYTES (BALEEN_VOTES_MAX * LINE_BYTES)
#define LOCK_MS 5000

u64 baleen_vote_digest(const struct baleen_set_head *head)
{
	u64 digest = 0;

	for (u32 i = 0; i < 8; i++)
		digest = digest << 8 | head->digest[i];
	return digest;
}

static void path_of(char *path)
{
	snprintf(path, PATH_MAX, "%s/" FILE_NAME, baleen_rule_store_root(true));
}

/* --- lines ---------------------------------------------------------------------- */

/* As the name of a set: also of a host it makes one word. */
static bool is_word(const char *word)
{
	return baleen_set_name_is(word);
}

static void format_line(const struct baleen_vote *vote, char *line)
{
	int n = snprintf(line, LINE_BYTES, "%s %s %llu %016llx %s %s %llu",
			 vote->is_veto ? "veto" : "ok", vote->set,
			 (unsigned long long)vote->generation, (unsigned long long)vote->digest,
			 vote->host, vote->is_own ? "own" : "heard",
			 (unsigned long long)vote->made_s);

	if (vote->is_veto && *vote->reason)
		n += snprintf(line + n, LINE_BYTES - 1 - n, " %s", vote->reason);
	strcpy(line + n, "\n");
}

static bool parse_line(const char *line, struct baleen_vote *vote)
{
	unsigned long long generation, digest, made_s;
	char what[5], whose[6];
	int used = 0;

	*vote = (struct baleen_vote){ .is_veto = false };
	if (sscanf(line, "%4s %63s %llu %llx %64s %5s %llu%n", what, vote->set, &generation,
		   &digest, vote->host, whose, &made_s, &used) != 7)
		return false;
	vote->is_veto = !strcmp(what, "veto");
	vote->is_own = !strcmp(whose, "own");
	vote->generation = generation;
	vote->digest = digest;
	vote->made_s = made_s;
	if (line[used] == ' ')
		snprintf(vote->reason, sizeof(vote->reason), "%s", line + used + 1);
	return is_word(vote->set) && is_word(vote->host);
}

static bool is_of(const struct baleen_vote *a, const struct baleen_vote *b)
{
	return a->generation == b->generation && a->digest == b->digest && a->is_own == b->is_own &&
	       !strcmp(a->set, b->set) && !strcmp(a->host, b->host);
}

/* --- the file ------------------------------------------------------------------- */

static char *read_file(const char *path)
{
	size_t n_bytes;
	char *text;

	return baleen_small_file_read(path, BALEEN_INPUT_OWN, MAX_BYTES, &text, &n_bytes, NULL,
				      NULL) ?
		       NULL :
		       text;
}

static int each_vote(int (*visit)(const struct baleen_vote *vote, void *data), void *data)
{
	char path[PATH_MAX], *text, *rest = NULL;
	struct baleen_vote vote;
	int ret = 0;

	path_of(path);
	text = read_file(path);
	for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line && !ret;
	     line = strtok_r(NULL, "\n", &rest))
		if (parse_line(line, &vote))
			ret = visit(&vote, data);
	free(text);
	return ret;
}

/**
 * struct change - the votes as they are to be
 * @put: comes last, unless it is one that is taken back; an earlier one of its host goes
 * @text: the lines
 * @n: bytes of them
 * @n_votes: how many votes there are
 * @n_pass: of the oldest so many are passed over
 * @is_same: nothing is to change
 */
struct change {
	const struct baleen_vote *put;
	char *text;
	size_t n;
	u32 n_votes;
	u32 n_pass;
	bool is_same;
};

static bool goes(const struct change *change, const struct baleen_vote *vote)
{
	return is_of(vote, change->put);
}

static int count_vote(const struct baleen_vote *vote, void *data)
{
	struct change *change = data;
	const struct baleen_vote *put = change->put;

	change->n_votes += !goes(change, vote);
	if (goes(change, vote))
		change->is_same = !put->is_taken_back && vote->is_veto == put->is_veto &&
				  !strcmp(vote->reason, put->reason);
	return 0;
}

static int keep_vote(const struct baleen_vote *vote, void *data)
{
	struct change *change = data;

	if (goes(change, vote))
		return 0;
	if (change->n_pass) {
		change->n_pass--;
		return 0;
	}
	format_line(vote, change->text + change->n);
	change->n += strlen(change->text + change->n);
	return 0;
}

/* Return: 1; 0 when nothing is to change; a negative errno. */
static int write_votes(struct change *change, struct baleen_error *error)
{
	char path[PATH_MAX];
	int err;

	each_vote(count_vote, change);
	if (change->is_same)
		return 0;
	if (change->n_votes >= BALEEN_VOTES_MAX)
		change->n_pass = change->n_votes + 1 - BALEEN_VOTES_MAX;
	change->text = malloc((size_t)(change->n_votes + 2) * LINE_BYTES);
	if (!change->text)
		return baleen_no_memory(error);
	each_vote(keep_vote, change);
	if (!change->put->is_taken_back) {
		format_line(change->put, change->text + change->n);
		change->n += strlen(change->text + change->n);
	}
	path_of(path);
	err = baleen_output_write(path, BALEEN_OUTPUT_NAMED, 0644, change->text, change->n, error);
	free(change->text);
	return err ? err : 1;
}

static int change_votes(struct change *change, struct baleen_error *error)
{
	int dir, err = baleen_rule_store_make_root(true, error);

	if (err)
		return err;
	dir = open(baleen_rule_store_root(true), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = dir < 0 ? -errno : baleen_lock_within(dir, LOCK_MS);
	if (err)
		err = baleen_fail(error, -err, "%s: %s", baleen_rule_store_root(true),
				  strerror(-err));
	else
		err = write_votes(change, error);
	if (dir >= 0)
		close(dir);
	if (err > 0)
		baleen_announce();
	return err;
}

int baleen_votes_put(const struct baleen_vote *vote, struct baleen_error *error)
{
	struct baleen_vote clean = *vote;
	/* One that was never given need not be taken back. */
	struct change change = { .put = &clean, .is_same = vote->is_taken_back };

	if (!is_word(vote->set) || !is_word(vote->host) || !vote->generation)
		return baleen_fail(error, EINVAL, "a vote on '%.64s' of '%.64s': no such names",
				   vote->set, vote->host);
	for (char *at = clean.reason; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = ' ';
	return change_votes(&change, error);
}

/* --- counting ------------------------------------------------------------------- */

/**
 * struct counting - votes on a generation
 * @set: name of the set
 * @head: of the generation
 * @count: filled in
 */
struct counting {
	const char *set;
	const struct baleen_set_head *head;
	struct baleen_votes_count *count;
};

static int count_one(const struct baleen_vote *vote, void *data)
{
	struct counting *counting = data;
	struct baleen_votes_count *count = counting->count;

	if (strcmp(vote->set, counting->set) || vote->generation != counting->head->generation ||
	    vote->digest != baleen_vote_digest(counting->head))
		return 0;
	if (!vote->is_veto)
		count->n_ok++;
	else if (!count->n_vetoes++)
		count->veto = *vote;
	return 0;
}

void baleen_votes_count(const char *set, const struct baleen_set_head *head,
			struct baleen_votes_count *count)
{
	struct counting counting = { .set = set, .head = head, .count = count };

	*count = (struct baleen_votes_count){ .n_ok = 0 };
	each_vote(count_one, &counting);
}
