// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Statements of a configuration about caches. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/conf_icp.h"
#include "filter/hashes.h"
#include "icp/icp_filters.h"
#include "util/duration.h"
#include "util/number.h"

/**
 * struct statement - words of one statement
 * @icp: what was said before
 * @word: they, behind `icp`; at least two
 * @n_words: how many
 * @error: filled in on failure, without the first word
 */
struct statement {
	struct baleen_conf_icp *icp;
	char *const *word;
	u32 n_words;
	struct baleen_error *error;
};

static struct baleen_conf_icp *make(void)
{
	struct baleen_conf_icp *icp = calloc(1, sizeof(*icp));

	if (!icp)
		return NULL;
	baleen_icp_words_init(&icp->words);
	icp->build.kind = BALEEN_KIND_CUCKOO;
	return icp;
}

void baleen_conf_icp_free(struct baleen_conf_icp *icp)
{
	if (!icp)
		return;
	for (u32 n = 0; n < BALEEN_ICP_MAX_SIBLINGS; n++)
		for (u32 i = 0; i < icp->source[n].n; i++)
			free(icp->source[n].path[i]);
	baleen_icp_words_free(&icp->words);
	free(icp);
}

/* --- one statement ----------------------------------------------------------- */

static int put_sibling(struct statement *statement)
{
	struct baleen_icp_words *words = &statement->icp->words;
	int err = baleen_icp_words_sibling(words, statement->word[1], statement->error);
	const char *image;

	if (err)
		return err;
	image = words->image[words->config.n_siblings - 1];
	if (image && *image != '/')
		return baleen_fail(statement->error, EINVAL,
				   "'image=%s': not a whole path, from / on", image);
	return 0;
}

static int put_asker(struct statement *statement)
{
	return baleen_icp_words_asker(&statement->icp->words, statement->word[1], statement->error);
}

static int put_feed(struct statement *statement)
{
	return baleen_icp_words_feed(&statement->icp->words, statement->word[1], statement->error);
}

static int put_port(struct statement *statement)
{
	return baleen_icp_words_port(&statement->icp->words, statement->word[1], statement->error);
}

static int put_stale(struct statement *statement)
{
	return baleen_icp_words_span(&statement->icp->words.stale_ms, statement->word[1],
				     statement->error);
}

static int put_confirm(struct statement *statement)
{
	return baleen_icp_words_span(&statement->icp->words.confirm_ms, statement->word[1],
				     statement->error);
}

static int put_capacity(struct statement *statement)
{
	if (baleen_count_parse(statement->word[1], &statement->icp->build.capacity))
		return baleen_fail(statement->error, EINVAL, "not a count from 1 to 2^40");
	return 0;
}

static int put_kind(struct statement *statement)
{
	u32 kind = baleen_kind_find(statement->word[1]);

	if (kind != BALEEN_KIND_CUCKOO && kind != BALEEN_KIND_COUNTING)
		return baleen_fail(statement->error, EINVAL, "not cuckoo or counting");
	statement->icp->build.kind = kind;
	statement->icp->is_kind_given = true;
	return 0;
}

static int put_hash(struct statement *statement)
{
	static const struct {
		const char *word;
		u32 hash;
	} hashes[] = { { "squid", BALEEN_HASH_SQUID },
		       { "keyed", BALEEN_HASH_KEYED },
		       { "blocked", BALEEN_HASH_BLOCKED } };

	for (size_t i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++) {
		if (strcmp(statement->word[1], hashes[i].word))
			continue;
		statement->icp->build.shape.hash = hashes[i].hash;
		statement->icp->is_hash_given = true;
		return 0;
	}
	return baleen_fail(statement->error, EINVAL, "not squid, keyed or blocked");
}

static int put_fpp(struct statement *statement)
{
	double *fpp = &statement->icp->build.fpp;

	if (baleen_rate_parse(statement->word[1], fpp) || !*fpp)
		return baleen_fail(statement->error, EINVAL, "not a rate above 0 and below 1");
	return 0;
}

/* --- sources ------------------------------------------------------------------- */

static bool is_url(const char *text)
{
	return !strncmp(text, "http://", 7) || !strncmp(text, "https://", 8);
}

/* Everybody sees the arguments of a process, and what a configuration changes. */
static bool has_password(const char *url)
{
	const char *host = strstr(url, "://") + 3, *at = strchr(host, '@');

	return at && at < host + strcspn(host, "/?#");
}

static int put_path(struct statement *statement, struct baleen_conf_icp_source *source,
		    const char *path)
{
	if (*path != '/' && !is_url(path))
		return baleen_fail(statement->error, EINVAL,
				   "'%s': neither a whole path, from / on, nor a URL", path);
	if (*path != '/' && has_password(path))
		return baleen_fail(statement->error, EINVAL,
				   "a URL with a name or a password, which everybody would see");
	if (source->n == BALEEN_CONF_ICP_SOURCES)
		return baleen_fail(statement->error, EINVAL, "more than %d sources",
				   BALEEN_CONF_ICP_SOURCES);
	source->path[source->n] = strdup(path);
	if (!source->path[source->n])
		return baleen_no_memory(statement->error);
	source->n++;
	return 0;
}

static int put_every(struct statement *statement, struct baleen_conf_icp_source *source,
		     const char *text)
{
	if (baleen_duration_parse(text, &source->every_ms) || source->every_ms < 1000)
		return baleen_fail(statement->error, EINVAL,
				   "'%s': not a time of 1s or more such as 20s", text);
	return 0;
}

static int put_from(struct statement *statement, struct baleen_conf_icp_source *source,
		    const char *text)
{
	if (baleen_squid_from_parse(text, &source->from))
		return baleen_fail(statement->error, EINVAL,
				   "'%s': not swap, digest, log or objects", text);
	return 0;
}

static int put_source_word(struct statement *statement, struct baleen_conf_icp_source *source,
			   u32 *i)
{
	const char *word = statement->word[*i], *next = statement->word[*i + 1];
	bool is_every = !strcmp(word, "every"), is_from = !strcmp(word, "from");

	if (!is_every && !is_from)
		return put_path(statement, source, word);
	if (!next)
		return baleen_fail(statement->error, EINVAL, "%s: %s is missing", word,
				   is_every ? "a time such as 20s" : "a kind of source");
	++*i;
	return is_every ? put_every(statement, source, next) : put_from(statement, source, next);
}

static int put_source(struct statement *statement)
{
	int n = baleen_icp_words_find(&statement->icp->words, statement->word[1]), err = 0;
	struct baleen_conf_icp_source *source;

	if (n < 0)
		return baleen_fail(statement->error, EINVAL, "no sibling of this name is above");
	source = &statement->icp->source[n];
	if (source->n)
		return baleen_fail(statement->error, EINVAL, "is given twice");
	source->every_ms = BALEEN_CONF_ICP_EVERY_MS;
	for (u32 i = 2; i < statement->n_words && !err; i++)
		err = put_source_word(statement, source, &i);
	if (!err && !source->n)
		err = baleen_fail(statement->error, EINVAL, "a path or a URL is missing");
	return err;
}

/* --- the table ----------------------------------------------------------------- */

/**
 * struct spec - a statement
 * @word: behind `icp`
 * @missing: what is missing when there are fewer words
 * @repeats: it may stand more than once
 * @has_more: it may have more than one word behind its own
 * @put: takes it over
 */
static const struct spec {
	const char *word;
	const char *missing;
	bool repeats;
	bool has_more;
	int (*put)(struct statement *statement);
} specs[] = {
	{ "sibling", "NAME=ADDRESS", true, false, put_sibling },
	{ "source", "the name of a sibling", true, true, put_source },
	{ "asker", "a prefix of addresses", true, false, put_asker },
	{ "feed", "[DEV:]PORT", false, false, put_feed },
	{ "port", "a port", false, false, put_port },
	{ "stale", "a time such as 30s", false, false, put_stale },
	{ "confirm", "a time such as 1s", false, false, put_confirm },
	{ "capacity", "a count", false, false, put_capacity },
	{ "kind", "cuckoo or counting", false, false, put_kind },
	{ "hash", "squid, keyed or blocked", false, false, put_hash },
	{ "fpp", "a rate such as 0.001", false, false, put_fpp },
};

#define N_SPECS (sizeof(specs) / sizeof(specs[0]))

static int put_statement(struct statement *statement)
{
	const char *word = statement->word[0];
	struct baleen_error why;
	u32 i = 0;
	int err;

	while (i < N_SPECS && strcmp(word, specs[i].word))
		i++;
	if (i == N_SPECS)
		return baleen_fail(statement->error, EINVAL,
				   "'%s': not sibling, source, asker, feed, port, stale, confirm, "
				   "capacity, kind, hash or fpp",
				   word);
	if (statement->n_words < 2)
		return baleen_fail(statement->error, EINVAL, "%s: %s is missing", word,
				   specs[i].missing);
	if (statement->n_words > 2 && !specs[i].has_more)
		return baleen_fail(statement->error, EINVAL, "%s: '%s' is a word too many", word,
				   statement->word[2]);
	if (statement->icp->given & 1u << i && !specs[i].repeats)
		return baleen_fail(statement->error, EINVAL, "%s is given twice", word);
	statement->icp->given |= 1u << i;
	why = (struct baleen_error){ 0 };
	err = specs[i].put(
		&(struct statement){ statement->icp, statement->word, statement->n_words, &why });
	return err ? baleen_fail(statement->error, -err, "%s %s: %s", word, statement->word[1],
				 why.text) :
		     0;
}

static int check_shape(struct baleen_conf_icp *icp, struct baleen_error *error)
{
	if (icp->build.kind == BALEEN_KIND_CUCKOO && icp->is_kind_given &&
	    (icp->build.fpp || icp->is_hash_given))
		return baleen_fail(error, EINVAL,
				   "a cuckoo filter has 64-bit slots and one rate: hash and fpp "
				   "are of counting ones");
	baleen_icp_shape(&icp->build, icp->is_kind_given, icp->is_hash_given);
	return 0;
}

static int check_whole(struct baleen_conf_icp *icp, struct baleen_error *error)
{
	int err = check_shape(icp, error);

	return err ? err : baleen_icp_words_check(&icp->words, "icp ", error);
}

/* --- lines of a configuration ---------------------------------------------------- */

/* A statement is added to those of the state, in their form. */
static int add_line(struct baleen_conf_parser *parser, char *text)
{
	size_t n = strlen(text);

	for (u32 i = 1; i < parser->n_words; i++) {
		const char *word = parser->word[i];

		if (!*word || strchr(word, '\t'))
			return baleen_conf_refuse(parser, "icp: an empty word, or a tab in one");
		if (n + strlen(word) + 2 > BALEEN_ICP_TEXT_BYTES)
			return baleen_conf_refuse(parser, "icp: more than %d bytes of statements",
						  BALEEN_ICP_TEXT_BYTES);
		n += sprintf(text + n, "%s%s", i > 1 ? "\t" : n ? "\n" : "", word);
	}
	return 0;
}

int baleen_conf_parse_icp(struct baleen_conf_parser *parser, void *to)
{
	struct baleen_error why;
	struct statement statement = { .word = parser->word + 1,
				       .n_words = parser->n_words - 1,
				       .error = &why };
	int err;

	if (!parser->icp)
		parser->icp = make();
	if (!parser->icp)
		return baleen_no_memory(parser->error);
	if (!parser->icp_line)
		parser->icp_line = parser->line;
	statement.icp = parser->icp;
	err = put_statement(&statement);
	return err ? baleen_conf_refuse(parser, "icp: %s", why.text) : add_line(parser, to);
}

int baleen_conf_check_icp(struct baleen_conf_parser *parser)
{
	struct baleen_error why;

	if (!parser->icp)
		return 0;
	parser->line = parser->icp_line;
	if (check_whole(parser->icp, &why))
		return baleen_conf_refuse(parser, "icp: %s", why.text);
	if (parser->conf->is_egress)
		return baleen_conf_refuse(parser, "icp: queries come in, and egress is of what "
						  "goes out");
	if (parser->conf->rules.attach_type == BALEEN_ATTACH_TYPE_CHAIN)
		return baleen_conf_refuse(parser, "icp: in a chain only the chain says what comes "
						  "next: without 'chain' the filter does");
	return 0;
}

/* --- statements of a state ------------------------------------------------------- */

/* @line: is changed */
static int read_line(struct baleen_conf_icp *icp, char *line, struct baleen_error *error)
{
	char *word[BALEEN_CONF_MAX_WORDS + 1], *rest = line;
	struct statement statement = { .icp = icp, .word = word, .error = error };

	while (rest && statement.n_words < BALEEN_CONF_MAX_WORDS)
		word[statement.n_words++] = strsep(&rest, "\t");
	word[statement.n_words] = NULL;
	return put_statement(&statement);
}

int baleen_conf_icp_read(const char *text, struct baleen_conf_icp **icp, struct baleen_error *error)
{
	struct baleen_conf_icp *made = make();
	char *copy = strdup(text), *rest = copy, *line;
	int err = made && copy ? 0 : baleen_no_memory(error);

	while (!err && (line = strsep(&rest, "\n")))
		err = read_line(made, line, error);
	if (!err)
		err = check_whole(made, error);
	free(copy);
	if (err)
		baleen_conf_icp_free(made);
	else
		*icp = made;
	return err;
}

bool baleen_conf_icp_has(const char *text, const char *line)
{
	size_t length = strcspn(line, "\n");

	while (*text) {
		size_t n = strcspn(text, "\n");

		if (n == length && !memcmp(text, line, n))
			return true;
		text += n + (text[n] == '\n');
	}
	return false;
}

const char *baleen_conf_icp_line(const char *line, char *text)
{
	snprintf(text, BALEEN_CONF_ICP_LINE, "%.*s", (int)strcspn(line, "\n"), line);
	for (char *at = text; *at; at++)
		if (*at == '\t')
			*at = ' ';
	return text;
}
