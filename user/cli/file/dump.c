// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen dump: the keys of an exact image, in ascending order. */

#include "cli/common/set_text.h"
#include "cli/file/dump_sets.h"
#include "cli/open/filter_ref.h"
#include "filter/copies.h"
#include "filter/directory_table.h"

/* With the "/128" of a prefix and the "!" of an exception. */
#define ENTRY_TEXT (BALEEN_KEY_TEXT + 8)

/**
 * struct printer - what has been printed
 * @key_spec: key fields of the image
 * @counted: the image, where copies of a key count; else NULL
 * @json: an array of strings
 * @n: entries so far
 */
struct printer {
	u32 key_spec;
	const struct baleen_filter *counted;
	bool json;
	u64 n;
};

/* Whether there is use in going on: not with a full disk or a closed pipe. */
static bool print_entry(struct printer *printer, const char *text)
{
	if (printer->json)
		say("%s\n  \"%s\"", printer->n ? "," : "", text);
	else
		say("%s\n", text);
	printer->n++;
	return !ferror(stdout);
}

static bool print_prefix(struct printer *printer, const struct baleen_key *key, u32 length,
			 bool is_exception)
{
	char address[BALEEN_KEY_TEXT], text[ENTRY_TEXT];
	const char *mark = is_exception ? "!" : "";

	baleen_key_format(key, printer->key_spec, address);
	if (length == (key->domain == BALEEN_IP4 ? 32 : 128))
		snprintf(text, sizeof(text), "%s%s", mark, address);
	else
		snprintf(text, sizeof(text), "%s%s/%u", mark, address, length);
	return print_entry(printer, text);
}

/* The interval by the fewest prefixes. */
static bool print_net4(struct printer *printer, struct baleen_net4 net)
{
	bool go_on = true;

	for (u64 first = net.first; first <= net.last && go_on;) {
		struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = first };
		u32 length;

		net.first = first;
		length = baleen_net4_prefix(&net);
		go_on = print_prefix(printer, &key, length, false);
		first += 1ull << (32 - length);
	}
	return go_on;
}

/* How often a key is printed. */
static u64 copies_of(const struct printer *printer, const struct baleen_key *key)
{
	u64 n = 1;

	if (printer->counted)
		baleen_copies_of(printer->counted, key, &n);
	return n;
}

static bool print_host4(struct printer *printer, u32 ip4)
{
	struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = ip4 };
	bool go_on = true;

	for (u64 n = copies_of(printer, &key); n && go_on; n--)
		go_on = print_prefix(printer, &key, 32, false);
	return go_on;
}

/* Hosts and intervals in one ascending order. */
static bool print_ip4(struct printer *printer, const struct baleen_list *list)
{
	size_t i = 0, j = 0;
	bool go_on = true;

	while (go_on && (i < list->n_ip4 || j < list->n_net4)) {
		if (j == list->n_net4 || (i < list->n_ip4 && list->ip4[i] < list->net4[j].first))
			go_on = print_host4(printer, list->ip4[i++]);
		else
			go_on = print_net4(printer, list->net4[j++]);
	}
	return go_on;
}

static bool print_ip6(struct printer *printer, const struct baleen_list *list)
{
	bool go_on = true;

	for (size_t i = 0; i < list->n_prefix6 && go_on; i++) {
		const struct baleen_prefix6 *entry = &list->prefix6[i];
		struct baleen_key key = { .domain = BALEEN_IP6, .hi = entry->hi, .lo = entry->lo };

		go_on = print_prefix(printer, &key, entry->length, entry->is_exception);
	}
	return go_on;
}

static bool print_keys(struct printer *printer, const struct baleen_list *list)
{
	char text[BALEEN_KEY_TEXT];
	bool go_on = true;

	for (size_t i = 0; i < list->n_key && go_on; i++) {
		baleen_key_format(&list->key[i], printer->key_spec, text);
		for (u64 n = copies_of(printer, &list->key[i]); n && go_on; n--)
			go_on = print_entry(printer, text);
	}
	return go_on;
}

struct dump {
	struct list_options lists;
	int format;
	const char *set;
	bool json;
};

/* As a set of another program; the first error is that of the disk. */
static int print_sets(const struct filter_ref *ref, const struct dump *asked,
		      const struct baleen_list *list)
{
	u32 key_spec = ref->filter.image.key_spec;

	if (!baleen_spec_is_address(key_spec))
		return complain("%s: its keys are no addresses: --format text prints them",
				ref->argument);
	dump_sets(asked->format, list, asked->set);
	return finish_output(EXIT_DONE);
}

static int print_list(struct printer *printer, const struct baleen_list *list)
{
	if (printer->json)
		putchar('[');
	if (print_ip4(printer, list) && print_ip6(printer, list))
		print_keys(printer, list);
	if (printer->json)
		puts("\n]");
	return finish_output(EXIT_DONE);
}

static int dump(const struct filter_ref *ref, const struct dump *asked)
{
	struct printer printer = { .key_spec = ref->filter.image.key_spec, .json = asked->json };
	struct baleen_error error;
	struct baleen_list list;
	int err;

	if (!baleen_copies_check(&ref->filter.image, NULL))
		printer.counted = &ref->filter;

	if (baleen_filter_to_list(&ref->filter, &list, &error))
		return complain("%s: %s", ref->argument, error.text);
	err = asked->format == DUMP_TEXT ? print_list(&printer, &list) :
					   print_sets(ref, asked, &list);
	baleen_list_free(&list);
	return err;
}

static int run(int argc, char **argv)
{
	struct dump asked = { .set = "baleen" };
	struct filter_ref ref;
	int err;

	list_options_init(&asked.lists);
	err = options_parse(&dump_command, &asked, &argc, &argv);
	if (!err)
		err = list_options_check(&dump_command, &asked.lists);
	if (!err)
		err = set_check_name(&dump_command, asked.set);
	if (!err && asked.json && asked.format != DUMP_TEXT)
		err = complain_usage(&dump_command, "--json is for --format text");
	if (err)
		return err;
	if (filter_ref_open(&ref, *argv, &asked.lists))
		return EXIT_FAILED;
	err = dump(&ref, &asked);
	filter_ref_close(&ref);
	return err;
}

static const struct option_spec options[] = {
	{ .table = list_option_table, .at = offsetof(struct dump, lists) },
	VALUE("format", 0, "F", option_choice, dump, format,
	      "text (default); ipset, for 'ipset restore'; nft, for 'nft -f'; or csv: of addresses, "
	      "without exceptions",
	      .words = "text ipset nft csv"),
	VALUE("set", 0, "NAME", option_text, dump, set,
	      "name of the set of ipset or nft (baleen), with a 6 behind it for IPv6"),
	FLAG("json", 'j', dump, json, "an array of strings"),
	{ 0 },
};

const struct command dump_command = {
	.name = "dump",
	.synopsis = "[--format text|ipset|nft|csv] [--set NAME] [-j] IMAGE",
	.help = "Prints the keys of an exact image, one a line, in ascending order. Where there are\n"
		"prefixes, IPv4 addresses side by side are printed as the fewest of them, and IPv6\n"
		"exceptions as !PREFIX. 'baleen build' of it, with the same --key, gives the same set.\n"
		"Of an image with copies a key is printed as often as it is in it.\n",
	.options = options,
	.asks = { 1, 1, "one IMAGE is asked for" },
	.run = run,
};
