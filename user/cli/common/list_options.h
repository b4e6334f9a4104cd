/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The options of every command that reads lists and builds filters of them.
 */
#ifndef BALEEN_CLI_LIST_OPTIONS_H
#define BALEEN_CLI_LIST_OPTIONS_H

#include "cli/common/options.h"
#include "list/csv_table.h"
#include "ops/build.h"
#include "ops/choose.h"

/* Codes above every character for long options without a letter. */
enum list_option {
	OPTION_NULL = '0',
	OPTION_SKIP_BAD = 0x100,
	OPTION_ALLOW_EMPTY,
	OPTION_COLUMN,
	OPTION_WHERE,
	OPTION_DELIMITER,
	OPTION_KIND,
	OPTION_FPP,
	OPTION_KEY,
	OPTION_CAPACITY,
	OPTION_LIKE,
	OPTION_NEED,
	OPTION_SEED,
	OPTION_BITS, /* from here to OPTION_LOAD: the shape of a table */
	OPTION_HASHES,
	OPTION_HASH,
	OPTION_SLOT_BITS,
	OPTION_BUCKET_SLOTS,
	OPTION_STASH,
	OPTION_COPIES,
	OPTION_REMAINDER_BITS,
	OPTION_LOAD,
	OPTION_OF_COMMAND, /* a command's own options start here */
};

#define N_SHAPE_OPTIONS (OPTION_LOAD - OPTION_BITS + 1)

/**
 * struct list_options - how lists are read and built
 * @skip_bad: count bad lines instead of refusing the list
 * @allow_empty: take a list without a key
 * @ends_with_nul: a string ends with a NUL byte, not with its line
 * @n_reported: bad lines of the list at hand that were printed
 * @looks_at_live: a live rule is looked at as it changes, not copied between
 *                 two changes
 * @csv: of a table: columns and conditions
 * @build: kind, key, rate, capacity, geometry
 * @shaped_by: the last option that says what to build, such as "--kind"
 * @is_kind_given: --kind was one of them
 * @kinds: kinds that have all that was asked for, a bit each
 * @needs: --need: what the filter has to do
 * @chooses: the kind is chosen to fit, and why goes to @choice; otherwise it is
 *           the first of @kinds
 * @choice: storage for that
 * @is_key_given: --key was one of them
 * @shape_text: the options about the shape of a table as they were typed, from
 *              OPTION_BITS on; NULL where one was not given
 * @like_path: --like; its header goes to @like
 * @like: storage for @build.like
 * @seed_text: --seed; what it makes goes to @seed
 * @seed: storage for @build.seed
 */
struct list_options {
	bool skip_bad;
	bool allow_empty;
	bool ends_with_nul;
	bool looks_at_live;
	u64 n_reported;
	struct baleen_csv_options csv;
	struct baleen_build_options build;
	const char *shaped_by;
	bool is_kind_given;
	u32 kinds;
	u32 needs;
	bool chooses;
	struct baleen_choice choice;
	bool is_key_given;
	const char *shape_text[N_SHAPE_OPTIONS];
	const char *like_path;
	struct baleen_image like;
	const char *seed_text;
	struct baleen_seed seed;
};

/* Entries for getopt_long() of what to build. */
#define SHAPE_OPTIONS                                                                 \
	{ "kind", required_argument, NULL, OPTION_KIND },                             \
		{ "fpp", required_argument, NULL, OPTION_FPP },                       \
		{ "key", required_argument, NULL, OPTION_KEY },                       \
		{ "capacity", required_argument, NULL, OPTION_CAPACITY },             \
		{ "bits", required_argument, NULL, OPTION_BITS },                     \
		{ "hashes", required_argument, NULL, OPTION_HASHES },                 \
		{ "hash", required_argument, NULL, OPTION_HASH },                     \
		{ "slot-bits", required_argument, NULL, OPTION_SLOT_BITS },           \
		{ "bucket-slots", required_argument, NULL, OPTION_BUCKET_SLOTS },     \
		{ "stash", no_argument, NULL, OPTION_STASH },                         \
		{ "copies", no_argument, NULL, OPTION_COPIES },                       \
		{ "remainder-bits", required_argument, NULL, OPTION_REMAINDER_BITS }, \
		{ "load", required_argument, NULL, OPTION_LOAD },                     \
	{                                                                             \
		"seed", required_argument, NULL, OPTION_SEED                          \
	}

/* Entries for getopt_long() of every command that takes lists. */
#define LIST_OPTIONS                                                      \
	{ "skip-bad", no_argument, NULL, OPTION_SKIP_BAD },               \
		{ "allow-empty", no_argument, NULL, OPTION_ALLOW_EMPTY }, \
		{ "null", no_argument, NULL, OPTION_NULL },               \
		{ "column", required_argument, NULL, OPTION_COLUMN },     \
		{ "where", required_argument, NULL, OPTION_WHERE },       \
		{ "delimiter", required_argument, NULL, OPTION_DELIMITER }, SHAPE_OPTIONS

#define SHAPE_OPTIONS_HELP                                                                       \
	"  --kind K         cuckoo (default), bloom, classic, counting or quotient; see\n"       \
	"                   baleen-kinds(7)\n"                                                   \
	"  --fpp P          false positive rate allowed, 0 (default) to below 1; IPv4 keys in\n" \
	"                   a cuckoo table are exact whatever it says\n"                         \
	"  --key SPEC       the fields of a packet that are looked up: src (default), or any\n"  \
	"                   of proto,src,dst,sport,dport; flow is all of them; or what no\n"     \
	"                   packet has: string, a line of bytes, or squid, a URL or key of\n"    \
	"                   a cached object\n"                                                   \
	"  --capacity N     leave room for N keys\n"                                             \
	"  --bits M         classic, counting: M positions in all\n"                             \
	"  --hashes K       bloom, classic, counting: K bits set per key\n"                      \
	"  --hash H         classic, counting: keyed, murmur3, murmur3-fnv1a or squid;\n"        \
	"                   counting: blocked\n"                                                 \
	"  --slot-bits N    cuckoo: slots of 8, 12, 16, 32 or 64 bits\n"                         \
	"  --bucket-slots N  cuckoo: 1, 2 or 4 (default) slots in a bucket\n"                    \
	"  --stash          cuckoo: 8 more places for keys that find no room\n"                  \
	"  --copies         cuckoo, counting: what is listed twice is there twice\n"             \
	"  --remainder-bits R  quotient: remainders of R bits\n"                                 \
	"  --load L         cuckoo, quotient: share of the slots to fill, above 0, up to 1\n"    \
	"  --seed TEXT      make the seed of TEXT, so that others with the same can merge\n"

#define LIST_OPTIONS_HELP                                                                        \
	"Lists hold one IPv4 or IPv6 address, prefix or range A-B a line, or with a '!' an\n"    \
	"exception; the longest prefix decides. What follows, '#' and ';' comments and blank\n"  \
	"lines are passed over; 'ipset save' files and gzip work. Keys of several fields have\n" \
	"commas between, in the order proto,src,dst,sport,dport.\n"                              \
	"  --skip-bad       count bad lines and go on; otherwise they refuse the list\n"         \
	"  --allow-empty    take a list without a single key\n"                                  \
	"  -0, --null       strings end with a NUL byte, not with the line\n"                    \
	"  --column C       the lists are tables (CSV): the key is in column C, a number or\n"   \
	"                   a name; 1-2 or start-end for the first and last of a range\n"        \
	"  --where C=VALUE  only rows with this value in column C; may be repeated\n"            \
	"  --delimiter D    between columns: tab or one of , ; | (default: what fits)\n" SHAPE_OPTIONS_HELP

/* Some values of --key, for completion. */
#define KEY_WORDS "src dst proto,dport src,dport flow string squid"

/* All of them, and those of what to build; each is of a struct list_options. */
extern const struct option_spec list_option_table[];
extern const struct option_spec shape_option_table[];

/* Takes one of them; of its row @value is an enum list_option. */
int list_option(const struct option_use *use);

void list_options_init(struct list_options *options);

/* Takes one option; 0, or EXIT_USAGE after a message. */
int list_option_take(const struct command *command, struct list_options *options, int option,
		     const char *argument);

/* Finds the kinds that have all that was asked for, of which the first becomes
 * that of the build; 0, or EXIT_USAGE after a message.
 */
int list_options_find_kinds(const struct command *command, struct list_options *options);

/* The same, and what else may contradict. */
int list_options_check(const struct command *command, struct list_options *options);

#endif /* BALEEN_CLI_LIST_OPTIONS_H */
