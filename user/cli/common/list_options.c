// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The options of every command that reads lists and builds filters of them. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/list_options.h"
#include "deploy/gate_live.h"
#include "filter/kind.h"
#include "key/key_spec.h"
#include "net/device.h"
#include "ops/seed.h"

#define KIND(name) (1u << BALEEN_KIND_##name)

/* Shape options: which kinds have what they say
 * something of, and what that is.
 */
static const struct {
	const char *name;
	u32 kinds;
	const char *what;
} shapes[N_SHAPE_OPTIONS] = {
	{ "bits", KIND(CLASSIC) | KIND(COUNTING), "number of bits to choose" },
	{ "hashes", KIND(BLOOM) | KIND(CLASSIC) | KIND(COUNTING), "hashes" },
	{ "hash", KIND(CLASSIC) | KIND(COUNTING), "hash to choose" },
	{ "hash-seed", KIND(CLASSIC) | KIND(COUNTING), "seed of a hash to choose" },
	{ "hash-form", KIND(CLASSIC) | KIND(COUNTING), "form of a hash" },
	{ "slot-bits", KIND(CUCKOO) | KIND(COMPACT), "slots" },
	{ "bucket-slots", KIND(CUCKOO), "buckets" },
	{ "buckets", KIND(CUCKOO) | KIND(CHAINED) | KIND(COMPACT), "buckets" },
	{ "partner", KIND(CUCKOO), "partners" },
	{ "semi-sort", KIND(CUCKOO), "buckets to sort" },
	{ "stash", KIND(CUCKOO), "stash" },
	{ "copies", KIND(CUCKOO) | KIND(COUNTING) | KIND(QUOTIENT) | KIND(CHAINED) | KIND(COMPACT),
	  "copies" },
	{ "remainder-bits", KIND(QUOTIENT), "remainders" },
	{ "load", KIND(CUCKOO) | KIND(QUOTIENT), "slots to fill" },
};

/* In the order in which a shape without --kind finds its kind. */
static const u32 kinds[] = { BALEEN_KIND_CUCKOO,   BALEEN_KIND_BLOOM,	 BALEEN_KIND_CLASSIC,
			     BALEEN_KIND_COUNTING, BALEEN_KIND_QUOTIENT, BALEEN_KIND_CHAINED,
			     BALEEN_KIND_COMPACT };

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

void list_options_init(struct list_options *options)
{
	*options = (struct list_options){
		.build = { .kind = BALEEN_KIND_CUCKOO, .key_spec = BALEEN_KEY_SRC },
		.accept_fpp = BALEEN_ACCEPT_FPP,
	};
}

void list_options_of(struct list_options *options, const char *device)
{
	if (!options->is_key_given && baleen_device_is_egress(device))
		options->build.key_spec = BALEEN_KEY_DST;
}

/* --- one option ------------------------------------------------------------ */

/* Remembers the last option that says how to build a filter. */
static struct list_options *shaped(const struct option_use *use)
{
	struct list_options *options = use->to;

	options->shaped_by = use->spec->name;
	return options;
}

int list_kind(const struct option_use *use)
{
	struct list_options *options = shaped(use);
	int i = option_word(use);

	if (i < 0)
		return EXIT_USAGE;
	options->build.kind = kinds[i];
	options->is_kind_given = true;
	return 0;
}

int list_key(const struct option_use *use)
{
	struct list_options *options = shaped(use);
	struct baleen_error error;

	if (baleen_key_spec_parse(use->argument, &options->build.key_spec, &error))
		return complain_usage(use->command, "--key %s: %s", use->argument, error.text);
	options->is_key_given = true;
	return 0;
}

int list_fpp(const struct option_use *use)
{
	struct option_use of_fpp = *use;

	of_fpp.to = &shaped(use)->build.fpp;
	return option_rate(&of_fpp);
}

int list_capacity(const struct option_use *use)
{
	struct option_use of_capacity = *use;

	of_capacity.to = &shaped(use)->build.capacity;
	return option_keys(&of_capacity);
}

int list_need(const struct option_use *use)
{
	return baleen_needs_parse(use->argument, &shaped(use)->needs) ?
		       option_refuse(use, "not of delete, merge and resize") :
		       0;
}

static int parse_seed(const struct option_use *use)
{
	struct list_options *options = shaped(use);

	options->seed_text = use->argument;
	baleen_seed_from_text(use->argument, &options->seed);
	options->build.seed = &options->seed;
	return 0;
}

static int parse_csv(const struct option_use *use)
{
	static int (*const take[])(struct baleen_csv_options *, const char *,
				   struct baleen_error *) = {
		baleen_csv_parse_column,
		baleen_csv_parse_where,
		baleen_csv_parse_delimiter,
	};
	struct baleen_error error;

	return take[use->spec->value](use->to, use->argument, &error) ?
		       option_refuse(use, "%s", error.text) :
		       0;
}

/* --- the shape of a table -------------------------------------------------- */

static int parse_hash(const struct option_use *use, struct baleen_shape *shape)
{
	if (option_word(use) < 0)
		return EXIT_USAGE;
	while (strcmp(use->argument, baleen_hash_name(shape->hash)))
		shape->hash = (shape->hash + 1) % BALEEN_N_HASHES;
	shape->is_blocked = shape->hash == BALEEN_HASH_BLOCKED;
	return 0;
}

static int parse_hash_seed(const struct option_use *use, struct baleen_shape *shape)
{
	u64 value = 0;

	/* 0 is a seed, too. */
	if (strcmp(use->argument, "0") &&
	    (parse_count(use->argument, &value) || value > UINT32_MAX))
		return option_refuse(use, "not a number of 32 bits");
	shape->hash_seed = value;
	shape->has_hash_seed = true;
	return 0;
}

static int parse_hash_form(const struct option_use *use, u32 *form)
{
	static const struct {
		const char *word;
		u32 form;
	} forms[] = {
		{ "unsigned", BALEEN_FORM_UNSIGNED },
		{ "quoted", BALEEN_FORM_QUOTED },
		{ "hex", BALEEN_FORM_HEX },
	};
	const char *text = use->argument;
	size_t length;

	for (;; text += length + 1) {
		u32 i = 0;

		length = strcspn(text, ",");
		while (i < 3 &&
		       (strlen(forms[i].word) != length || memcmp(forms[i].word, text, length)))
			i++;
		if (i == 3)
			return option_refuse(use, "not of unsigned, quoted and hex");
		*form |= forms[i].form;
		if (!text[length])
			return 0;
	}
}

static int parse_partner(const struct option_use *use, u32 *form)
{
	if (option_word(use) < 0)
		return EXIT_USAGE;
	*form |= BALEEN_FORM_XOR;
	return 0;
}

static int parse_load(const struct option_use *use, double *load)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(use->argument, &end);
	if (end == use->argument || *end || errno || !(value > 0 && value <= 1))
		return option_refuse(use, "not a share above 0, up to 1");
	*load = value;
	return 0;
}

/* A number of those in the words of the row. */
static int parse_one_of(const struct option_use *use, u32 *number)
{
	if (option_word(use) < 0)
		return EXIT_USAGE;
	*number = strtoul(use->argument, NULL, 10);
	return 0;
}

static int parse_up_to(const struct option_use *use, u32 most, u32 *number)
{
	u64 value;

	if (parse_count(use->argument, &value) || value > most)
		return option_refuse(use, "not a number from 1 to %u", most);
	*number = value;
	return 0;
}

static int parse_bits(const struct option_use *use, u64 *n_bits)
{
	return parse_count(use->argument, n_bits) ? option_refuse(use, "not a number of bits") : 0;
}

static int read_shape(const struct option_use *use, struct baleen_build_options *build)
{
	struct baleen_shape *shape = &build->shape;

	switch (use->spec->value) {
	case SHAPE_BITS: return parse_bits(use, &shape->n_bits);
	case SHAPE_HASHES: return parse_up_to(use, BALEEN_MAX_POSITIONS, &shape->n_hashes);
	case SHAPE_HASH: return parse_hash(use, shape);
	case SHAPE_HASH_SEED: return parse_hash_seed(use, shape);
	case SHAPE_HASH_FORM: return parse_hash_form(use, &shape->form);
	case SHAPE_SLOT_BITS: return parse_one_of(use, &shape->slot_bits);
	case SHAPE_BUCKET_SLOTS: return parse_one_of(use, &shape->bucket_slots);
	case SHAPE_BUCKETS: return parse_up_to(use, BALEEN_MAX_BUCKETS, &shape->n_buckets);
	case SHAPE_PARTNER: return parse_partner(use, &shape->form);
	case SHAPE_SEMI_SORT: shape->is_semi_sorted = true; return 0;
	case SHAPE_STASH: shape->has_stash = true; return 0;
	case SHAPE_COPIES: build->copies = true; return 0;
	case SHAPE_REMAINDER_BITS: return parse_up_to(use, 63, &shape->remainder_bits);
	default: return parse_load(use, &shape->load);
	}
}

int list_shape(const struct option_use *use)
{
	struct list_options *options = shaped(use);

	options->shape_text[use->spec->value] = use->argument ? use->argument : "";
	return read_shape(use, &options->build);
}

#define SLOT_BITS_WORDS                                                               \
	"4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 " \
	"31 32 64"

/* A row each. */
/* clang-format off */
const struct option_spec shape_option_table[] = {
	{ "kind", 0, "K", list_kind, .words = KIND_WORDS,
	  .help = "cuckoo (default), bloom, classic, counting or quotient; not for packets: chained "
		  "or compact; see baleen-kinds(7)" },
	{ "fpp", 0, "P", list_fpp,
	  .help = "false positive rate allowed, 0 (default) to below 1; IPv4 keys in a cuckoo "
		  "table are exact whatever it says" },
	{ "key", 0, "SPEC", list_key, .words = KEY_WORDS,
	  .help = "the fields of a packet that are looked up: src (default), or any of "
		  "proto,src,dst,sport,dport; flow is all of them; or what no packet has: string, "
		  "a line of bytes, squid, a URL or key of a cached object, or fingerprint, binary "
		  "digits" },
	{ "capacity", 0, "N", list_capacity, .help = "leave room for N keys" },
	{ "bits", 0, "M", list_shape, .value = SHAPE_BITS,
	  .help = "classic, counting: M positions in all" },
	{ "hashes", 0, "K", list_shape, .value = SHAPE_HASHES,
	  .help = "bloom, classic, counting: K bits set per key" },
	{ "hash", 0, "H", list_shape, .value = SHAPE_HASH, .words = HASH_WORDS,
	  .help = "classic, counting: keyed, murmur3, murmur3-fnv1a, squid or bip37; counting: "
		  "blocked; quotient of strings: murmur3" },
	{ "hash-seed", 0, "N", list_shape, .value = SHAPE_HASH_SEED,
	  .help = "strings: the seed of murmur3 to start from, 0 to 2^32 - 1; the tweak of bip37" },
	{ "hash-form", 0, "FORM", list_shape, .value = SHAPE_HASH_FORM,
	  .words = "unsigned quoted unsigned,quoted hex",
	  .help = "strings: what murmur3 takes and gives: unsigned numbers, the text in single "
		  "quotes, or hex, the bytes that its digits say; with commas between" },
	{ "slot-bits", 0, "N", list_shape, .value = SHAPE_SLOT_BITS, .words = SLOT_BITS_WORDS,
	  .help = "cuckoo: slots of 4 to 32 bits, or 64; compact: values of so many" },
	{ "bucket-slots", 0, "N", list_shape, .value = SHAPE_BUCKET_SLOTS, .words = "1 2 3 4",
	  .help = "cuckoo: 1 to 4 (default) slots in a bucket" },
	{ "buckets", 0, "M", list_shape, .value = SHAPE_BUCKETS,
	  .help = "cuckoo: M buckets, with --slot-bits; chained, compact: M chains" },
	{ "partner", 0, "xor", list_shape, .value = SHAPE_PARTNER, .words = "xor",
	  .help = "cuckoo of strings: the other bucket by XOR, modulo the buckets; keys may be "
		  "lost unless these are a power of two" },
	{ "semi-sort", 0, NULL, list_shape, .value = SHAPE_SEMI_SORT,
	  .help = "cuckoo: sort the 4 slots of a bucket, which takes a bit less each; with --fpp or "
		  "--slot-bits" },
	{ "stash", 0, NULL, list_shape, .value = SHAPE_STASH,
	  .help = "cuckoo: 8 more places for keys that find no room" },
	{ "copies", 0, NULL, list_shape, .value = SHAPE_COPIES,
	  .help = "cuckoo, counting, quotient: what is listed twice is there twice" },
	{ "remainder-bits", 0, "R", list_shape, .value = SHAPE_REMAINDER_BITS,
	  .help = "quotient: remainders of R bits" },
	{ "load", 0, "L", list_shape, .value = SHAPE_LOAD,
	  .help = "cuckoo, quotient: share of the slots to fill, above 0, up to 1" },
	{ "seed", 0, "TEXT", parse_seed,
	  .help = "make the seed of TEXT, so that others with the same can merge" },
	{ 0 },
};

const struct option_spec csv_option_table[] = {
	{ "column", 0, "C", parse_csv, .value = 0,
	  .help = "the lists are tables (CSV): the key is in column C, a number or a name; 1-2 or "
		  "start-end for the first and last of a range; or JSON, by a path such as .[].ip; "
		  "or @NAME, a format of baleen-lists(5)" },
	{ "where", 0, "C=VALUE", parse_csv, .value = 1,
	  .help = "only rows with this value in column C; may be repeated" },
	{ "delimiter", 0, "D", parse_csv, .value = 2,
	  .help = "between columns: tab or one of , ; | (default: what fits)" },
	{ 0 },
};

const struct option_spec list_option_table[] = {
	{ .help = "\nLists hold one IPv4 or IPv6 address, prefix or range A-B a line, or with a '!' an\n"
		  "exception; the longest prefix decides. What follows, '#' and ';' comments and blank\n"
		  "lines are passed over; 'ipset save' files and gzip work. Keys of several fields have\n"
		  "commas between, in the order proto,src,dst,sport,dport.\n" },
	{ "skip-bad", 0, NULL, option_flag, offsetof(struct list_options, skip_bad),
	  .help = "count bad lines and go on; otherwise they refuse the list" },
	{ "allow-empty", 0, NULL, option_flag, offsetof(struct list_options, allow_empty),
	  .help = "take a list without a single key" },
	{ "null", '0', NULL, option_flag, offsetof(struct list_options, ends_with_nul),
	  .help = "strings end with a NUL byte, not with the line" },
	{ .table = csv_option_table, .at = offsetof(struct list_options, csv) },
	{ .table = shape_option_table },
	{ 0 },
};
/* clang-format on */

/* --- all of them ----------------------------------------------------------- */

/* A kind that has a hash of its own takes another only where it is named. */
static bool is_shape_of(const struct list_options *options, u32 i, u32 kind)
{
	bool is_hash = i == SHAPE_HASH || i == SHAPE_HASH_SEED || i == SHAPE_HASH_FORM;

	if (is_hash && options->is_kind_given &&
	    (kind == BALEEN_KIND_QUOTIENT || kind == BALEEN_KIND_COMPACT))
		return options->build.shape.hash == BALEEN_HASH_MURMUR3;
	if (is_hash && kind == BALEEN_KIND_CUCKOO)
		return options->shape_text[SHAPE_PARTNER];
	return shapes[i].kinds & 1u << kind;
}

/* The first option about a shape that this kind does not have, or
 * N_SHAPE_OPTIONS.
 */
static u32 find_misfit(const struct list_options *options, u32 kind)
{
	u32 i = 0;

	while (i < N_SHAPE_OPTIONS && (!options->shape_text[i] || is_shape_of(options, i, kind)))
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
	return complain_usage(command, "--%s and --%s: no kind has both", shapes[first].name,
			      shapes[find_misfit(options, kinds[i])].name);
}

static int refuse_misfit(const struct command *command, const struct list_options *options)
{
	u32 misfit = find_misfit(options, options->build.kind);
	const char *text = options->shape_text[misfit];

	return complain_usage(command, "--%s%s%s: %s has no %s", shapes[misfit].name,
			      *text ? " " : "", text, baleen_kind_name(options->build.kind),
			      shapes[misfit].what);
}

int list_options_find_kinds(const struct command *command, struct list_options *options)
{
	u32 given = options->build.kind;

	options->kinds = 0;
	for (u32 i = N_KINDS; i-- > 0;) {
		if (find_misfit(options, kinds[i]) < N_SHAPE_OPTIONS ||
		    (options->is_kind_given && kinds[i] != given) ||
		    (!options->is_kind_given && baleen_kind_has_chains(kinds[i])))
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
	    baleen_kind_has_chains(build->kind) || build->fpp || build->shape.n_bits)
		return 0;
	return complain_usage(command, "--kind %s needs a false positive rate: --fpp",
			      baleen_kind_name(build->kind));
}

int list_options_check(const struct command *command, struct list_options *options)
{
	int err;

	if (options->like_path && options->shaped_by)
		return complain_usage(command,
				      "--like takes everything from the image: --%s "
				      "contradicts it",
				      options->shaped_by);
	err = list_options_find_kinds(command, options);
	return err ? err : check_rate(command, options);
}
