// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen icp seed: what caches hold to an image. */
#include <stdlib.h>

#include "cli/common/describe.h"
#include "cli/common/progress.h"
#include "cli/icp/icp_source.h"
#include "cli/icp/icp_verbs.h"
#include "cli/open/filter_ref.h"
#include "ops/algebra.h"

/* Room for as much again, or for so many, where nobody says how many there will be. */
#define ROOM_FACTOR 2
#define ROOM_LEAST 1000

/**
 * struct seed - the image on its way
 * @options: what to build
 * @from: type of the sources
 * @out: where it goes
 * @name: name of the filter
 * @json: say what came out as JSON
 * @is_verbose: say what was found, and what came out
 * @set: the objects of all sources
 * @filter: the digests of all sources, one over the other; then what was built
 * @digest: the source of the first digest; NULL: there is none
 * @keys: the first source of keys; NULL: there is none
 * @sources: described, for JSON
 */
struct seed {
	struct list_options options;
	enum baleen_squid_from from;
	const char *out;
	char name[BALEEN_NAME_BYTES];
	bool json;
	bool is_verbose;
	struct baleen_squid_set set;
	struct baleen_filter filter;
	const char *digest;
	const char *keys;
	json_t *sources;
};

/* --- sources -------------------------------------------------------------------- */

static u64 bits_of(const struct baleen_filter *filter)
{
	return baleen_table_bits(&filter->image.table[BALEEN_TUPLE]);
}

/* Each Squid sizes its digest by its own cache, so that two of one size are rare. */
static int refuse_geometry(const struct seed *seed, const char *text, u64 n_bits)
{
	return complain(
		"%s: %llu bits, %s has %llu: a key has other bits in each, so their union is no "
		"digest; a list of objects or store.log of each cache has keys, which go into "
		"one image",
		text, (unsigned long long)n_bits, seed->digest,
		(unsigned long long)bits_of(&seed->filter));
}

static int parse_digest(struct seed *seed, const char *text, struct baleen_squid_source *source)
{
	struct baleen_filter both;
	struct baleen_error error;

	if (!seed->digest) {
		seed->digest = text;
		seed->filter = source->filter;
		source->filter = (struct baleen_filter){ 0 };
		return 0;
	}
	if (bits_of(&source->filter) != bits_of(&seed->filter))
		return refuse_geometry(seed, text, bits_of(&source->filter));
	if (baleen_filter_merge(&seed->filter, &source->filter, &both, &error))
		return complain("%s: %s", text, error.text);
	baleen_filter_free(&seed->filter);
	seed->filter = both;
	return 0;
}

static int parse_source(struct seed *seed, const char *text)
{
	struct baleen_squid_source source;
	int err = source_read(text, seed->from, seed->is_verbose, &source);

	if (err)
		return err;
	if (source.from == BALEEN_SQUID_FROM_DIGEST) {
		err = parse_digest(seed, text, &source);
	} else {
		seed->keys = seed->keys ?: text;
		if (baleen_squid_set_add(&seed->set, &source.set))
			err = complain("%s: no memory for its objects", text);
	}
	if (!err && seed->digest && seed->keys)
		err = complain(
			"%s has bits, %s has keys: an image is made of the ones or of the others",
			seed->digest, seed->keys);
	if (!err && seed->json)
		json_array_append_new(seed->sources, describe_source(text, &source));
	baleen_squid_source_free(&source);
	return err;
}

/* --- the image ------------------------------------------------------------------ */

static int read_like(struct list_options *options)
{
	struct list_options none;
	struct filter_ref like;

	if (!options->like_path)
		return 0;
	list_options_init(&none);
	none.build.key_spec = BALEEN_KEY_SQUID;
	if (filter_ref_open(&like, options->like_path, &none))
		return EXIT_FAILED;
	options->like = like.filter.image;
	options->build.like = &options->like;
	filter_ref_close(&like);
	if (options->like.key_spec == BALEEN_KEY_SQUID)
		return 0;
	return complain("%s: its keys are %s, not those of Squid", options->like_path,
			key_spec_text(options->like.key_spec));
}

/* A digest is what it is: its bits do not say which keys they are of. */
static int check_digest(const struct seed *seed)
{
	const struct list_options *options = &seed->options;

	if (!options->like_path && !options->shaped_by)
		return 0;
	return complain(
		"%s: --%s: a digest becomes a classic image of its own size; a list of objects or "
		"store.log has keys, which go into any",
		seed->digest, options->like_path ? "like" : options->shaped_by);
}

static int build_list(struct seed *seed, struct baleen_list *list)
{
	struct baleen_build_options *build = &seed->options.build;
	struct baleen_error error;
	int err;

	if (!build->capacity && !build->like) {
		build->capacity = ROOM_FACTOR * seed->set.n;
		if (build->capacity < ROOM_LEAST)
			build->capacity = ROOM_LEAST;
	}
	progress_begin("building the image");
	err = baleen_build(list, build, &seed->filter, &error);
	progress_end();
	if (!err)
		return 0;
	return complain("%s: %s", seed->keys, error.text);
}

static int build(struct seed *seed)
{
	struct baleen_list list = { 0 };
	int err;

	if (seed->digest) {
		snprintf(seed->filter.image.name, BALEEN_NAME_BYTES, "%s", seed->name);
		baleen_filter_seal(&seed->filter);
		return check_digest(seed);
	}
	seed->options.build.name = seed->name;
	err = read_like(&seed->options);
	if (err)
		return err;
	if (baleen_squid_set_finish(&seed->set) || baleen_squid_set_to_list(&seed->set, &list))
		return complain("%s: no memory for %zu objects", seed->keys, seed->set.n_events);
	err = build_list(seed, &list);
	baleen_list_free(&list);
	return err;
}

/* --- the command ---------------------------------------------------------------- */

static int report(struct seed *seed)
{
	if (seed->json) {
		json_t *description = describe_filter(&seed->filter);

		json_object_set_new(description, "file", json_text(seed->out));
		json_object_set(description, "sources", seed->sources);
		return print_json(description);
	}
	if (seed->is_verbose)
		print_filter(stderr, seed->out, &seed->filter, written_entries(&seed->filter));
	return EXIT_DONE;
}

static int make(struct seed *seed, char **sources, int n_sources)
{
	int err = 0;

	for (int i = 0; i < n_sources && !err; i++)
		err = parse_source(seed, sources[i]);
	if (!err)
		err = build(seed);
	if (!err)
		err = output_write(seed->out, &seed->filter, 0600);
	return err ? err : report(seed);
}

static int parse(struct seed *seed, int *argc, char ***argv)
{
	struct list_options *options = &seed->options;
	int err = options_parse(&icp_seed_command, seed, argc, argv);

	if (err)
		return err;
	if (!seed->out)
		return complain_usage(&icp_seed_command, "-o IMAGE is missing");
	if (!*argc)
		return complain_usage(&icp_seed_command, "a SOURCE is missing");
	if (options->build.key_spec != BALEEN_KEY_SQUID)
		return complain_usage(&icp_seed_command, "--key %s: the keys are those of Squid",
				      key_spec_text(options->build.key_spec));
	err = list_options_check(&icp_seed_command, options);
	return err ? err : output_check(&icp_seed_command, seed->out, seed->name);
}

static int run(int argc, char **argv)
{
	struct seed seed = { 0 };
	int err;

	list_options_init(&seed.options);
	seed.options.build.key_spec = BALEEN_KEY_SQUID;
	err = parse(&seed, &argc, &argv);
	if (err)
		return err;
	seed.sources = json_array();
	err = make(&seed, argv, argc);
	json_decref(seed.sources);
	baleen_squid_set_free(&seed.set);
	baleen_filter_free(&seed.filter);
	return err;
}

static const struct option_spec options[] = {
	VALUE("from", 0, "WHAT", parse_squid_source, seed, from,
	      "every SOURCE is swap (swap.state), a digest, a log (store.log) or objects (Squid's "
	      "list of them), whatever it looks like",
	      .words = "swap digest log objects"),
	{ .table = shape_option_table,
	  .at = offsetof(struct seed, options),
	  .help = "  --capacity N     leave room for N objects; twice as many as there are by default\n"
		  "  --kind K, --fpp P, --hash H, --seed TEXT and the shape of the kind, as for build\n" },
	VALUE("like", 0, "IMAGE", option_text, seed, options.like_path,
	      "take kind, geometry and seed from another image"),
	VALUE("output", 'o', "IMAGE", option_text, seed, out,
	      "where to write; the old file stays until the new one is whole; kmod:NAME is a "
	      "filter of the kernel module"),
	FLAG("json", 'j', seed, json, "describe the image as JSON, and what each SOURCE was"),
	FLAG("verbose", 'v', seed, is_verbose,
	     "describe the image, and what each SOURCE was, on stderr"),
	{ 0 },
};

const struct command icp_seed_command = {
	.name = "icp seed",
	.synopsis = "-o IMAGE [OPTION...] SOURCE...",
	.help = "Makes an image of what caches hold: each SOURCE is a file or a URL, '-' is standard\n"
		"input, of one cache on its own: swap.state of its cache_dir, its cache digest, its\n"
		"store.log since the cache was empty, or Squid's list of its objects. The image has all objects that any of them\n"
		"has. A digest gives a classic image of hash squid, bit for bit; from the others the\n"
		"kind can be chosen, cuckoo with slots of 64 bits by default, which can be fed. A URL\n"
		"without a path gets the one that Squid has for what --from says.\n",
	.options = options,
	.run = run,
};
