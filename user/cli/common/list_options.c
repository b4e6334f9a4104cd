// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The options of every command that reads lists and builds filters of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/list_options.h"
#include "filter/kind.h"
#include "key/key_spec.h"
#include "ops/seed.h"

#define KIND(name) (1u << BALEEN_KIND_##name)

/* Shape options by code, from OPTION_BITS on: which kinds have what they say
 * something of, and what that is.
 */
static const struct {
	const char *name;
	u32 kinds;
	const char *what;
} shapes[N_SHAPE_OPTIONS] = {
	{ "--bits", KIND(CLASSIC) | KIND(COUNTING), "number of bits to choose" },
	{ "--hashes", KIND(BLOOM) | KIND(CLASSIC) | KIND(COUNTING), "hashes" },
	{ "--hash", KIND(CLASSIC) | KIND(COUNTING), "hash to choose" },
	{ "--slot-bits", KIND(CUCKOO), "slots" },
	{ "--bucket-slots", KIND(CUCKOO), "buckets" },
	{ "--stash", KIND(CUCKOO), "stash" },
	{ "--copies", KIND(CUCKOO) | KIND(COUNTING), "copies" },
	{ "--remainder-bits", KIND(QUOTIENT), "remainders" },
	{ "--load", KIND(CUCKOO) | KIND(QUOTIENT), "slots to fill" },
};

/* In the order in which a shape without --kind finds its kind. */
static const u32 kinds[] = { BALEEN_KIND_CUCKOO, BALEEN_KIND_BLOOM, BALEEN_KIND_CLASSIC,
			     BALEEN_KIND_COUNTING, BALEEN_KIND_QUOTIENT };

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* clang-format off: a row each */
const struct option_spec shape_option_table[] = {
	{ "kind", 0, "K", list_option, .value = OPTION_KIND,
	  .words = "cuckoo bloom classic counting quotient",
	  .help = "cuckoo (default), bloom, classic, counting or quotient; see baleen-kinds(7)" },
	{ "fpp", 0, "P", list_option, .value = OPTION_FPP,
	  .help = "false positive rate allowed, 0 (default) to below 1; IPv4 keys in a cuckoo "
		  "table are exact whatever it says" },
	{ "key", 0, "SPEC", list_option, .value = OPTION_KEY, .words = KEY_WORDS,
	  .help = "the fields of a packet that are looked up: src (default), or any of "
		  "proto,src,dst,sport,dport; flow is all of them; or what no packet has: string, "
		  "a line of bytes, or squid, a URL or key of a cached object" },
	{ "capacity", 0, "N", list_option, .value = OPTION_CAPACITY,
	  .help = "leave room for N keys" },
	{ "bits", 0, "M", list_option, .value = OPTION_BITS,
	  .help = "classic, counting: M positions in all" },
	{ "hashes", 0, "K", list_option, .value = OPTION_HASHES,
	  .help = "bloom, classic, counting: K bits set per key" },
	{ "hash", 0, "H", list_option, .value = OPTION_HASH,
	  .words = "blocked keyed murmur3 murmur3-fnv1a squid",
	  .help = "classic, counting: keyed, murmur3, murmur3-fnv1a or squid; counting: blocked" },
	{ "slot-bits", 0, "N", list_option, .value = OPTION_SLOT_BITS, .words = "8 12 16 32 64",
	  .help = "cuckoo: slots of 8, 12, 16, 32 or 64 bits" },
	{ "bucket-slots", 0, "N", list_option, .value = OPTION_BUCKET_SLOTS, .words = "1 2 4",
	  .help = "cuckoo: 1, 2 or 4 (default) slots in a bucket" },
	{ "stash", 0, NULL, list_option, .value = OPTION_STASH,
	  .help = "cuckoo: 8 more places for keys that find no room" },
	{ "copies", 0, NULL, list_option, .value = OPTION_COPIES,
	  .help = "cuckoo, counting: what is listed twice is there twice" },
	{ "remainder-bits", 0, "R", list_option, .value = OPTION_REMAINDER_BITS,
	  .help = "quotient: remainders of R bits" },
	{ "load", 0, "L", list_option, .value = OPTION_LOAD,
	  .help = "cuckoo, quotient: share of the slots to fill, above 0, up to 1" },
	{ "seed", 0, "TEXT", list_option, .value = OPTION_SEED,
	  .help = "make the seed of TEXT, so that others with the same can merge" },
	{ 0 },
};

const struct option_spec list_option_table[] = {
	{ .help = "\nLists hold one IPv4 or IPv6 address, prefix or range A-B a line, or with a '!' an\n"
		  "exception; the longest prefix decides. What follows, '#' and ';' comments and blank\n"
		  "lines are passed over; 'ipset save' files and gzip work. Keys of several fields have\n"
		  "commas between, in the order proto,src,dst,sport,dport.\n" },
	{ "skip-bad", 0, NULL, list_option, .value = OPTION_SKIP_BAD,
	  .help = "count bad lines and go on; otherwise they refuse the list" },
	{ "allow-empty", 0, NULL, list_option, .value = OPTION_ALLOW_EMPTY,
	  .help = "take a list without a single key" },
	{ "null", '0', NULL, list_option, .value = OPTION_NULL,
	  .help = "strings end with a NUL byte, not with the line" },
	{ "column", 0, "C", list_option, .value = OPTION_COLUMN,
	  .help = "the lists are tables (CSV): the key is in column C, a number or a name; 1-2 or "
		  "start-end for the first and last of a range" },
	{ "where", 0, "C=VALUE", list_option, .value = OPTION_WHERE,
	  .help = "only rows with this value in column C; may be repeated" },
	{ "delimiter", 0, "D", list_option, .value = OPTION_DELIMITER,
	  .help = "between columns: tab or one of , ; | (default: what fits)" },
	{ .table = shape_option_table },
	{ 0 },
};
/* clang-format on */

void list_options_init(struct list_options *options)
{
	*options = (struct list_options){
		.build = { .kind = BALEEN_KIND_CUCKOO, .key_spec = BALEEN_KEY_SRC },
	};
}

/* --- one option ------------------------------------------------------------ */

static int take_kind(const struct command *command, struct list_options *options,
		     const char *argument)
{
	u32 kind = baleen_kind_find(argument);

	if (kind == BALEEN_KIND_NONE)
		return complain_usage(command,
				      "--kind '%s': not cuckoo, bloom, classic, counting or "
				      "quotient",
				      argument);
	options->build.kind = kind;
	options->is_kind_given = true;
	return 0;
}

static int take_key(const struct command *command, struct list_options *options,
		    const char *argument)
{
	struct baleen_error error;

	if (baleen_key_spec_parse(argument, &options->build.key_spec, &error))
		return complain_usage(command, "--key %s: %s", argument, error.text);
	options->is_key_given = true;
	return 0;
}

static int take_csv(const struct command *command, struct list_options *options, int option,
		    const char *argument)
{
	const char *name = "delimiter";
	struct baleen_error error;
	int err;

	if (option == OPTION_COLUMN) {
		name = "column";
		err = baleen_csv_parse_column(&options->csv, argument, &error);
	} else if (option == OPTION_WHERE) {
		name = "where";
		err = baleen_csv_parse_where(&options->csv, argument, &error);
	} else {
		err = baleen_csv_parse_delimiter(&options->csv, argument, &error);
	}
	return err ? complain_usage(command, "--%s '%s': %s", name, argument, error.text) : 0;
}

static const char *take_hash(const char *argument, struct baleen_shape *shape)
{
	for (u32 i = 0; i < BALEEN_N_HASHES; i++) {
		if (!strcmp(argument, baleen_hash_name(i))) {
			shape->hash = i;
			shape->is_blocked = i == BALEEN_HASH_BLOCKED;
			return NULL;
		}
	}
	return "not blocked, keyed, murmur3, murmur3-fnv1a or squid";
}

static const char *take_load(const char *argument, double *load)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(argument, &end);
	if (end == argument || *end || errno || !(value > 0 && value <= 1))
		return "not a share above 0, up to 1";
	*load = value;
	return NULL;
}

/* A number of those in @allowed, which ends with 0. */
static const char *take_one_of(const char *argument, const u32 *allowed, const char *reason,
			       u32 *number)
{
	u64 value;

	if (parse_count(argument, &value))
		return reason;
	for (; *allowed; allowed++) {
		if (value == *allowed) {
			*number = value;
			return NULL;
		}
	}
	return reason;
}

static const char *take_up_to(const char *argument, u32 most, const char *reason, u32 *number)
{
	u64 value;

	if (parse_count(argument, &value) || value > most)
		return reason;
	*number = value;
	return NULL;
}

/* Return: NULL, or what is wrong with the argument. */
static const char *read_shape(struct baleen_build_options *build, int option, const char *argument)
{
	static const u32 widths[] = { 8, 12, 16, 32, 64, 0 }, slots[] = { 1, 2, 4, 0 };
	struct baleen_shape *shape = &build->shape;

	switch (option) {
	case OPTION_BITS:
		return parse_count(argument, &shape->n_bits) ? "not a number of bits" : NULL;
	case OPTION_HASHES:
		return take_up_to(argument, BALEEN_MAX_POSITIONS, "not a number from 1 to 32",
				  &shape->n_hashes);
	case OPTION_HASH: return take_hash(argument, shape);
	case OPTION_SLOT_BITS:
		return take_one_of(argument, widths, "not 8, 12, 16, 32 or 64", &shape->slot_bits);
	case OPTION_BUCKET_SLOTS:
		return take_one_of(argument, slots, "not 1, 2 or 4", &shape->bucket_slots);
	case OPTION_STASH: shape->has_stash = true; return NULL;
	case OPTION_COPIES: build->copies = true; return NULL;
	case OPTION_REMAINDER_BITS:
		return take_up_to(argument, 63, "not a number from 1 to 63",
				  &shape->remainder_bits);
	default: return take_load(argument, &shape->load);
	}
}

static int take_shape(const struct command *command, struct list_options *options, int option,
		      const char *argument)
{
	const char *name = shapes[option - OPTION_BITS].name;
	const char *reason = read_shape(&options->build, option, argument);

	if (reason)
		return complain_usage(command, "%s '%s': %s", name, argument, reason);
	options->shape_text[option - OPTION_BITS] = argument ? argument : "";
	options->shaped_by = name;
	return 0;
}

static void take_seed(struct list_options *options, const char *argument)
{
	options->seed_text = argument;
	baleen_seed_from_text(argument, &options->seed);
	options->build.seed = &options->seed;
}

static int take_needs(const struct command *command, struct list_options *options,
		      const char *argument)
{
	options->shaped_by = "--need";
	if (baleen_needs_parse(argument, &options->needs))
		return complain_usage(command, "--need '%s': not of delete, merge and resize",
				      argument);
	return 0;
}

/* Options of kind, geometry and key. */
static int take_build(const struct command *command, struct list_options *options, int option,
		      const char *argument)
{
	switch (option) {
	case OPTION_KIND:
		options->shaped_by = "--kind";
		return take_kind(command, options, argument);
	case OPTION_KEY: options->shaped_by = "--key"; return take_key(command, options, argument);
	case OPTION_FPP:
		options->shaped_by = "--fpp";
		if (parse_rate(argument, &options->build.fpp))
			return complain_usage(command, "--fpp '%s': not a rate from 0 to below 1",
					      argument);
		return 0;
	case OPTION_CAPACITY:
		options->shaped_by = "--capacity";
		if (parse_count(argument, &options->build.capacity))
			return complain_usage(command, "--capacity '%s': not a number of keys",
					      argument);
		return 0;
	default:
		options->shaped_by = "--seed";
		take_seed(options, argument);
		return 0;
	}
}

int list_option_take(const struct command *command, struct list_options *options, int option,
		     const char *argument)
{
	switch (option) {
	case OPTION_SKIP_BAD: options->skip_bad = true; return 0;
	case OPTION_ALLOW_EMPTY: options->allow_empty = true; return 0;
	case OPTION_NULL: options->ends_with_nul = true; return 0;
	case OPTION_COLUMN:
	case OPTION_WHERE:
	case OPTION_DELIMITER: return take_csv(command, options, option, argument);
	case OPTION_LIKE: options->like_path = argument; return 0;
	case OPTION_NEED: return take_needs(command, options, argument);
	case OPTION_KIND:
	case OPTION_KEY:
	case OPTION_FPP:
	case OPTION_CAPACITY:
	case OPTION_SEED: return take_build(command, options, option, argument);
	default:
		if (option >= OPTION_BITS && option <= OPTION_LOAD)
			return take_shape(command, options, option, argument);
		/* getopt_long() has said what is wrong. */
		fprintf(stderr, "baleen: see 'baleen help %s'\n", command->name);
		return EXIT_USAGE;
	}
}

int list_option(const struct option_use *use)
{
	return list_option_take(use->command, use->to, use->spec->value, use->argument);
}

/* --- all of them ----------------------------------------------------------- */

/* The first option about a shape that this kind does not have, or
 * N_SHAPE_OPTIONS.
 */
static u32 find_misfit(const struct list_options *options, u32 kind)
{
	u32 i = 0;

	while (i < N_SHAPE_OPTIONS && (!options->shape_text[i] || shapes[i].kinds & 1u << kind))
		i++;
	return i;
}

static int refuse_pair(const struct command *command, const struct list_options *options)
{
	u32 first = 0, i = 0;

	while (!options->shape_text[first])
		first++;
	while (!(shapes[first].kinds & 1u << kinds[i]))
		i++;
	return complain_usage(command, "%s and %s: no kind has both", shapes[first].name,
			      shapes[find_misfit(options, kinds[i])].name);
}

static int refuse_misfit(const struct command *command, const struct list_options *options)
{
	u32 misfit = find_misfit(options, options->build.kind);
	const char *text = options->shape_text[misfit];

	return complain_usage(command, "%s%s%s: %s has no %s", shapes[misfit].name,
			      *text ? " " : "", text, baleen_kind_name(options->build.kind),
			      shapes[misfit].what);
}

int list_options_find_kinds(const struct command *command, struct list_options *options)
{
	u32 given = options->build.kind;

	options->kinds = 0;
	for (u32 i = N_KINDS; i-- > 0;) {
		if (find_misfit(options, kinds[i]) < N_SHAPE_OPTIONS ||
		    (options->is_kind_given && kinds[i] != given))
			continue;
		options->kinds |= 1u << kinds[i];
		options->build.kind = kinds[i];
	}
	if (options->kinds)
		return 0;
	return options->is_kind_given ? refuse_misfit(command, options) :
					refuse_pair(command, options);
}

static int check_rate(const struct command *command, const struct list_options *options)
{
	const struct baleen_build_options *build = &options->build;

	if (build->kind == BALEEN_KIND_CUCKOO || build->kind == BALEEN_KIND_QUOTIENT ||
	    build->fpp || build->shape.n_bits)
		return 0;
	return complain_usage(command, "--kind %s needs a false positive rate: --fpp",
			      baleen_kind_name(build->kind));
}

int list_options_check(const struct command *command, struct list_options *options)
{
	int err;

	if (options->like_path && options->shaped_by)
		return complain_usage(command,
				      "--like takes everything from the image: %s "
				      "contradicts it",
				      options->shaped_by);
	err = list_options_find_kinds(command, options);
	return err ? err : check_rate(command, options);
}
