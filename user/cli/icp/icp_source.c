// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The SOURCE operand of the verbs of `baleen icp`. */
#include "cli/common/feed_progress.h"
#include "cli/common/progress.h"
#include "cli/icp/icp_source.h"
#include "util/url.h"

int parse_squid_source(const struct option_use *use)
{
	return baleen_squid_from_parse(use->argument, use->to) ?
		       option_refuse(use, "not swap, digest, log or objects") :
		       0;
}

static int read_shown(const char *text, const struct baleen_squid_read *read,
		      struct baleen_squid_source *source, struct baleen_error *error)
{
	int err;

	if (baleen_url_is(text)) {
		err = baleen_squid_source_read(text, read, source, error);
		feed_progress_end();
		return err;
	}
	progress_begin("reading");
	err = baleen_squid_source_read(text, read, source, error);
	progress_end();
	return err;
}

int source_read(const char *text, enum baleen_squid_from from, bool is_verbose,
		struct baleen_squid_source *source)
{
	struct baleen_squid_read read = {
		.from = from,
		.on_progress = feed_progress,
		.data = (void *)text,
	};
	char found[BALEEN_SQUID_SOURCE_TEXT];
	struct baleen_error error;

	if (read_shown(text, &read, source, &error))
		return complain("%s", error.text);
	if (is_verbose || source->log.n_bad)
		complain("%s: %s", baleen_url_is(text) ? baleen_url_name(text).text : text,
			 baleen_squid_source_text(source, found));
	if (source->from == BALEEN_SQUID_FROM_OBJECTS && !source->objects.n_on_disk)
		complain(
			"warning: %s: no object on disk: the cache is empty, or, as Squid 6.13 does, "
			"has dropped from its index what it was asked for by ICP: take store.log",
			baleen_url_is(text) ? baleen_url_name(text).text : text);
	return 0;
}

static void describe_log(json_t *json, const struct baleen_store_log *log)
{
	json_object_set_new(json, "lines", json_integer(log->n_lines));
	json_object_set_new(json, "inserts", json_integer(log->n_inserts));
	json_object_set_new(json, "deletes", json_integer(log->n_deletes));
	json_object_set_new(json, "bad_lines", json_integer(log->n_bad));
}

json_t *describe_source(const char *text, const struct baleen_squid_source *source)
{
	json_t *json = json_object();

	json_object_set_new(json, "source",
			    json_text(baleen_url_is(text) ? baleen_url_name(text).text : text));
	json_object_set_new(json, "from", json_string(baleen_squid_from_name(source->from)));
	switch (source->from) {
	case BALEEN_SQUID_FROM_DIGEST:
		json_object_set_new(json, "objects", json_integer(source->digest.count));
		json_object_set_new(json, "capacity", json_integer(source->digest.capacity));
		json_object_set_new(json, "bits_per_entry",
				    json_integer(source->digest.bits_per_entry));
		break;
	case BALEEN_SQUID_FROM_LOG:
		json_object_set_new(json, "objects", json_integer(source->set.n));
		describe_log(json, &source->log);
		break;
	case BALEEN_SQUID_FROM_SWAP:
		json_object_set_new(json, "objects", json_integer(source->set.n));
		json_object_set_new(json, "inserts", json_integer(source->swap.n_added));
		json_object_set_new(json, "deletes", json_integer(source->swap.n_deleted));
		break;
	default:
		json_object_set_new(json, "objects", json_integer(source->set.n));
		json_object_set_new(json, "entries", json_integer(source->objects.n_entries));
	}
	return json;
}
