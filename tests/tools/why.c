// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What `baleen why` has to say, by looking at every entry of every rule.
 *
 *      why DIR SEED N drop|pass [dry-run]
 *
 * Writes into DIR, which is there: DIR/conf with this default and all that it
 * needs (DIR/image.list is for `baleen build`, DIR/packed for gzip), DIR/never.list,
 * DIR/singles.RULE for `baleen feed`; then questions in groups: DIR/options.N of a
 * group, DIR/asked.N its addresses, DIR/want.N the answers, a line each; DIR/frames
 * the same packets in HEX from the EtherType on, DIR/fates what becomes of them, P
 * or D. N of the packets would be dropped, N would pass.
 *
 *      an answer:  ADDRESS VERDICT would|not RULE|default RULE=HMD[ENTRY ...]WITHHELD ...
 *      H M D       the rule holds, matches, differs: 1 or 0
 *      ENTRY       TEXT@FEED:LINE or TEXT=ORIGIN/REASON/TTL_MS, as they decide
 *      WITHHELD    never:ENTRY, special:PREFIX or nothing
 */
#include <arpa/inet.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/random.h"

#define MAX_ENTRIES 1024
#define MAX_TOLD 16
#define MAX_EACH 1000
#define N_GROUPS 8
#define NONE (-1)

typedef unsigned __int128 u128;

struct address {
	bool is_ip6;
	u128 bits;
};

/* Of one feed, or of none when it is a single entry. */
struct entry {
	int feed;
	u32 line;
	bool is_ip6, is_exception;
	u128 first, last;
	u32 proto, dport; /* of keys that have them */
	char text[128], key[128];
	const char *origin;
	u64 ttl_s;
};

struct rule {
	const char *name, *action, *qualifiers, *words;
	const char *feed[6];
	u32 n_single_entries;
	u32 proto, dport_first, dport_last, dport_alone, vlan;
	bool tcp_syn, is_any, has_fields, has_hosts_only;
	struct entry entry[MAX_ENTRIES];
	u32 n;
};

static struct rule rules[] = {
	{ .name = "office",
	  .action = "allow",
	  .qualifiers = "proto tcp dport 22,100-200",
	  .feed = { "office" },
	  .n_single_entries = 10,
	  .proto = 6,
	  .dport_alone = 22,
	  .dport_first = 100,
	  .dport_last = 200 },
	{ .name = "seen", .action = "count", .feed = { "seen" } },
	{ .name = "bad",
	  .action = "drop",
	  .n_single_entries = 60,
	  .feed = { "list", "table.csv", "packed.gz", "image", "dir/one", "dir/two" } },
	{ .name = "syn",
	  .action = "drop",
	  .qualifiers = "tcp-syn",
	  .feed = { "syn" },
	  .tcp_syn = true },
	{ .name = "tagged",
	  .action = "drop",
	  .qualifiers = "vlan 7",
	  .feed = { "tagged" },
	  .vlan = 7 },
	{ .name = "pairs",
	  .action = "drop",
	  .words = "key proto,src,dport",
	  .feed = { "pairs" },
	  .n_single_entries = 20,
	  .has_fields = true },
	{ .name = "bloom",
	  .action = "drop",
	  .qualifiers = "proto udp",
	  .proto = 17,
	  .words = "kind bloom\nfpp 1e-6\ncapacity 100k",
	  .feed = { "bloom" },
	  .has_hosts_only = true },
	{ .name = "bans",
	  .action = "drop",
	  .qualifiers = "proto tcp",
	  .proto = 6,
	  .n_single_entries = 40 },
	{ .name = "dns",
	  .action = "drop",
	  .qualifiers = "proto udp dport 53",
	  .words = "any",
	  .proto = 17,
	  .dport_alone = 53,
	  .is_any = true },
};

static struct rule never = { .name = "never", .feed = { "never.list" } };

#define N_RULES (sizeof(rules) / sizeof(rules[0]))

struct group {
	const char *options;
	u32 proto, dport, vlan;
	bool is_established;
};

static const struct group groups[N_GROUPS] = {
	{ "", 6, 0, 0, false },
	{ "--dport 22", 6, 22, 0, false },
	{ "--dport 150 --established", 6, 150, 0, true },
	{ "--proto udp --dport 53", 17, 53, 0, false },
	{ "--proto icmp --vlan 7", 1, 0, 7, false },
	{ "--dport 443 --established", 6, 443, 0, true },
	{ "--proto udp --dport 443 --vlan 8", 17, 443, 8, false },
	{ "--established --vlan 7", 6, 0, 7, true },
};

static const char *directory;
static bool default_drop, dry_run;
static u32 n_each;
static struct random seed;

static u64 below(u64 n)
{
	return random_below(&seed, n);
}

static FILE *create(const char *name, int number)
{
	char path[512];
	FILE *file;

	if (number == NONE)
		snprintf(path, sizeof(path), "%s/%s", directory, name);
	else
		snprintf(path, sizeof(path), "%s/%s.%d", directory, name, number);
	file = fopen(path, "w");
	if (!file)
		err(1, "%s", path);
	return file;
}

/* --- addresses ------------------------------------------------------------- */

static const char *address_text(bool is_ip6, u128 bits, char *text)
{
	u8 bytes[16];
	u32 n_bytes = is_ip6 ? 16 : 4;

	for (u32 i = 0; i < n_bytes; i++)
		bytes[i] = bits >> 8 * (n_bytes - 1 - i);
	return inet_ntop(is_ip6 ? AF_INET6 : AF_INET, bytes, text, INET6_ADDRSTRLEN);
}

/* Few bits, so that entries meet; one in sixteen is of a special-purpose range. */
static struct address any_address(void)
{
	bool is_special = !below(16);
	u128 high, low;

	if (below(2)) {
		high = is_special ? 10u << 24 | 1 << 16 : 20u << 24 | below(8) << 16;
		return (struct address){ false, high | below(16) << 8 | below(256) };
	}
	high = (is_special ? 0xfe80ull : 0x2a00ull) << 48 | below(16);
	low = (u128)below(4) << 62 | below(256);
	return (struct address){ true, high << 64 | low };
}

static u128 host_bits(bool is_ip6, u32 length)
{
	u32 n_bits = (is_ip6 ? 128 : 32) - length;

	return n_bits == 128 ? ~(u128)0 : ((u128)1 << n_bits) - 1;
}

/* Length of the largest prefix around an address that an entry has, or NONE. */
static int covering_length(const struct entry *entry, struct address address)
{
	int n_bits = address.is_ip6 ? 128 : 32;

	if (entry->is_ip6 != address.is_ip6)
		return NONE;
	for (int length = 0; length <= n_bits; length++) {
		u128 host = host_bits(address.is_ip6, length);

		if ((address.bits & ~host) >= entry->first && (address.bits | host) <= entry->last)
			return length;
	}
	return NONE;
}

/* --- entries --------------------------------------------------------------- */

static void entry_span(struct entry *entry, struct address at, u32 length)
{
	u128 host = host_bits(at.is_ip6, length);

	entry->is_ip6 = at.is_ip6;
	entry->first = at.bits & ~host;
	entry->last = at.bits | host;
}

/* Shortest form, as single entries have it. */
static void entry_key(struct entry *entry)
{
	char first[INET6_ADDRSTRLEN], last[INET6_ADDRSTRLEN];
	u32 n_bits = entry->is_ip6 ? 128 : 32;

	address_text(entry->is_ip6, entry->first, first);
	address_text(entry->is_ip6, entry->last, last);
	snprintf(entry->key, sizeof(entry->key), "%s-%s", first, last);
	if (entry->first == entry->last)
		strcpy(entry->key, first);
	for (u32 length = 0; length < n_bits; length++) {
		u128 host = host_bits(entry->is_ip6, length);

		if (!(entry->first & host) && (entry->first | host) == entry->last)
			snprintf(entry->key, sizeof(entry->key), "%s/%u", first, length);
	}
}

static u32 any_length(bool is_ip6)
{
	static const u8 lengths6[] = { 64, 66, 112, 120, 124, 126, 127, 128, 128, 128 };

	if (is_ip6)
		return below(16) ? lengths6[below(sizeof(lengths6))] : 60 + below(4);
	return below(8) ? 22 + below(11) : 17 + below(5);
}

/* An address, a prefix with any bits behind it, or a range. */
static void make_entry(struct entry *entry, bool is_host, bool is_range)
{
	struct address at = any_address();
	u32 n_bits = at.is_ip6 ? 128 : 32, length = is_host ? n_bits : any_length(at.is_ip6);
	char first[INET6_ADDRSTRLEN], last[INET6_ADDRSTRLEN];

	address_text(at.is_ip6, at.bits, first);
	entry_span(entry, at, length);
	if (is_range) {
		entry->first = at.bits;
		entry->last = at.bits + below(300);
		address_text(at.is_ip6, entry->last, last);
		snprintf(entry->text, sizeof(entry->text), "%s-%s", first, last);
	} else if (length == n_bits) {
		strcpy(entry->text, first);
	} else {
		snprintf(entry->text, sizeof(entry->text), "%s/%u", first, length);
	}
	entry_key(entry);
}

static void make_fields(struct entry *entry)
{
	static const u32 protos[] = { 6, 6, 17, 1 }, ports[] = { 0, 22, 150, 53, 443 };
	struct address at = any_address();
	char address[INET6_ADDRSTRLEN];

	entry_span(entry, at, at.is_ip6 ? 128 : 32);
	entry->proto = protos[below(4)];
	entry->dport = entry->proto == 1 ? 0 : ports[below(5)];
	snprintf(entry->text, sizeof(entry->text), "%s,%s,%u",
		 entry->proto == 6  ? "tcp" :
		 entry->proto == 17 ? "udp" :
				      "icmp",
		 address_text(at.is_ip6, at.bits, address), entry->dport);
	strcpy(entry->key, entry->text);
}

static struct entry *add_entry(struct rule *rule, int feed, u32 line)
{
	struct entry *entry = &rule->entry[rule->n++];

	if (rule->n > MAX_ENTRIES)
		errx(1, "too many entries");
	*entry = (struct entry){ .feed = feed, .line = line };
	return entry;
}

static void mark_exception(struct entry *entry)
{
	char text[sizeof(entry->text)];

	entry->is_exception = true;
	strcpy(text, entry->text);
	snprintf(entry->text, sizeof(entry->text), "!%.126s", text);
}

/* --- feeds ----------------------------------------------------------------- */

static void make_list(struct rule *rule, int feed, const char *name, u32 n)
{
	FILE *file = create(name, NONE);

	for (u32 line = 1; line <= n; line++) {
		struct entry *entry;
		bool is_ipset = below(8) == 0;

		if (below(6) == 0) {
			fputs(line & 1 ? "# nothing\n" : "\n", file);
			continue;
		}
		entry = add_entry(rule, feed, line);
		if (rule->has_fields)
			make_fields(entry);
		else
			make_entry(entry, rule->has_hosts_only, !rule->has_hosts_only && !below(4));
		if (!rule->has_fields && !rule->has_hosts_only && !below(4))
			mark_exception(entry);
		if (is_ipset && !rule->has_fields)
			fprintf(file, "add set %s timeout 9%s\n", entry->text + entry->is_exception,
				entry->is_exception ? " nomatch" : "");
		else
			fprintf(file, "%s%s\n", entry->text, below(2) ? "" : " 17 # a comment");
	}
	fclose(file);
}

static void make_table(struct rule *rule, int feed, const char *name, u32 n)
{
	FILE *file = create(name, NONE);

	fputs("note,start,end,country\n", file);
	for (u32 line = 2; line <= n; line++) {
		bool is_wanted = below(2);
		struct entry unwanted = { 0 }, *entry = &unwanted;

		if (is_wanted)
			entry = add_entry(rule, feed, line);
		make_entry(entry, false, true);
		*strchr(entry->text, '-') = ',';
		fprintf(file, "\"a, b\",%s,%s\n", entry->text, is_wanted ? "XX" : "YY");
		*strchr(entry->text, ',') = '-';
	}
	fclose(file);
}

/* IPv4 alone: an image cannot list IPv6 hosts. Which entry holds a key is not in it. */
static void make_image(struct rule *rule, int feed, const char *name, u32 n)
{
	FILE *file = create(name, NONE);

	for (u32 i = 0; i < n; i++) {
		struct entry *entry = add_entry(rule, feed, 0);

		do
			make_entry(entry, i & 1, false);
		while (entry->is_ip6);
		fprintf(file, "%s\n", entry->text);
	}
	fclose(file);
}

static void make_feeds(struct rule *rule)
{
	for (int i = 0; i < 6 && rule->feed[i]; i++) {
		if (!strcmp(rule->feed[i], "table.csv"))
			make_table(rule, i, "table.csv", 60);
		else if (!strcmp(rule->feed[i], "image"))
			make_image(rule, i, "image.list", 30);
		else if (!strcmp(rule->feed[i], "packed.gz"))
			make_list(rule, i, "packed", 60);
		else
			make_list(rule, i, rule->feed[i], rule == &never ? 12 : 60);
	}
}

/* --- single entries -------------------------------------------------------- */

static bool is_known(const struct rule *rule, const struct entry *entry)
{
	for (u32 i = 0; i < rule->n; i++)
		if (&rule->entry[i] != entry && rule->entry[i].feed == NONE &&
		    rule->entry[i].origin == entry->origin &&
		    !strcmp(rule->entry[i].key, entry->key))
			return true;
	return false;
}

/* A lone IPv6 address stands for its /64 in a rule that drops, unless it is an exception. */
static void widen(const struct rule *rule, struct entry *entry)
{
	if (strcmp(rule->action, "drop") || !entry->is_ip6 || entry->is_exception ||
	    strpbrk(entry->text, "/-"))
		return;
	entry_span(entry, (struct address){ true, entry->first }, 64);
	entry_key(entry);
}

/* A ban of what is never dropped is refused whole. */
static bool is_refused(const struct rule *rule, const struct entry *entry)
{
	if (strcmp(rule->action, "drop") || rule->has_fields)
		return false;
	for (u32 i = 0; i < never.n; i++)
		if (never.entry[i].is_ip6 == entry->is_ip6 && never.entry[i].first <= entry->last &&
		    never.entry[i].last >= entry->first)
			return true;
	return false;
}

static void make_single(struct rule *rule, FILE *file)
{
	static const char *const origins[] = { "fail2ban", "manual", "soc" };
	struct entry *entry = add_entry(rule, NONE, 0);
	char key[128];

	do {
		if (rule->has_fields)
			make_fields(entry);
		else
			make_entry(entry, false, !below(4));
		entry->origin = origins[below(3)];
		entry->is_exception = !rule->has_fields && !below(4);
		if (!rule->has_fields)
			widen(rule, entry);
	} while (is_known(rule, entry) || is_refused(rule, entry));
	entry->ttl_s = below(2) ? 3600 + below(100000) : 0;
	if (entry->is_exception)
		mark_exception(entry);
	fprintf(file, "add %s origin=%s", entry->text, entry->origin);
	if (entry->ttl_s)
		fprintf(file, " ttl=%llus", (unsigned long long)entry->ttl_s);
	fprintf(file, " reason=case %u of %s\n", rule->n, rule->name);
	entry->line = rule->n;
	snprintf(key, sizeof(key), "%s%.120s", entry->is_exception ? "!" : "", entry->key);
	strcpy(entry->text, key);
}

static void make_singles(struct rule *rule)
{
	char name[64];
	FILE *file;

	if (!rule->n_single_entries)
		return;
	snprintf(name, sizeof(name), "singles.%s", rule->name);
	file = create(name, NONE);
	for (u32 i = 0; i < rule->n_single_entries; i++)
		make_single(rule, file);
	fclose(file);
}

/* --- configuration --------------------------------------------------------- */

static void write_feed(FILE *file, const char *name)
{
	if (!strcmp(name, "dir/two"))
		return;
	fprintf(file, "feed %s/%s%s\n", directory, strcmp(name, "dir/one") ? name : "dir",
		strcmp(name, "table.csv") ? "" : " column 2-3 where country=XX");
}

static void write_conf(void)
{
	FILE *file = create("conf", NONE);

	fprintf(file, "default %s\n%snever %s/never.list\n", default_drop ? "drop" : "pass",
		dry_run ? "dry-run\n" : "", directory);
	for (u32 i = 0; i < N_RULES; i++) {
		const struct rule *rule = &rules[i];

		fprintf(file, "rule %s %s %s\n%s\n", rule->name, rule->action,
			rule->qualifiers ? rule->qualifiers : "", rule->words ? rule->words : "");
		for (u32 j = 0; j < 6 && rule->feed[j]; j++)
			write_feed(file, rule->feed[j]);
	}
	fclose(file);
}

/* --- answers --------------------------------------------------------------- */

struct question {
	struct address address;
	const struct group *group;
};

struct answer {
	const struct rule *rule; /* that decides */
	bool would_drop;
};

static int length_of(const struct rule *rule, const struct entry *entry,
		     const struct question *question)
{
	if (rule->has_fields &&
	    (entry->proto != question->group->proto || entry->dport != question->group->dport))
		return NONE;
	return covering_length(entry, question->address);
}

/* Does @a decide before @b, of one feed or both single? */
static bool is_before(const struct rule *rule, const struct entry *a, const struct entry *b,
		      const struct question *question)
{
	int length_a = length_of(rule, a, question), length_b = length_of(rule, b, question);

	if (length_a != length_b)
		return length_a > length_b;
	if (a->is_exception != b->is_exception)
		return a->is_exception;
	if (a->feed != NONE)
		return a->line < b->line;
	return strcmp(a->origin, b->origin) ? strcmp(a->origin, b->origin) < 0 :
					      strcmp(a->key, b->key) < 0;
}

/* The entry of a feed, or of the single ones, that decides; NULL for none. */
static const struct entry *decides(const struct rule *rule, int feed,
				   const struct question *question)
{
	const struct entry *first = NULL;

	for (u32 i = 0; i < rule->n; i++) {
		const struct entry *entry = &rule->entry[i];

		if (entry->feed == feed && length_of(rule, entry, question) != NONE &&
		    (!first || is_before(rule, entry, first, question)))
			first = entry;
	}
	return first;
}

static bool feed_holds(const struct rule *rule, int feed, const struct question *question)
{
	const struct entry *entry = decides(rule, feed, question);

	return entry && !entry->is_exception;
}

static const char *special_range(struct address address)
{
	if (!address.is_ip6 && address.bits >> 24 == 10)
		return "10.0.0.0/8";
	return address.is_ip6 && address.bits >> 118 == 0xfe80 >> 6 ? "fe80::/10" : NULL;
}

/* What keeps the address out of the rule: never, special or nothing. */
static void find_protected(const struct rule *rule, const struct question *question, char *text)
{
	const struct entry *entry = decides(&never, 0, question);

	*text = '\0';
	if (strcmp(rule->action, "drop") || rule->has_fields)
		return;
	if (entry && !entry->is_exception)
		sprintf(text, "never:%s", entry->text);
	else if (!rule->is_any && !decides(rule, NONE, question) &&
		 special_range(question->address))
		sprintf(text, "special:%s", special_range(question->address));
}

static bool holds(const struct rule *rule, const struct question *question)
{
	const struct entry *entry = decides(rule, NONE, question);
	char protected[256];

	find_protected(rule, question, protected);
	if (*protected || rule->is_any || entry)
		return !*protected && (rule->is_any || !entry->is_exception);
	for (int feed = 0; feed < 6; feed++)
		if (feed_holds(rule, feed, question))
			return true;
	return false;
}

static bool is_qualified(const struct rule *rule, const struct group *group)
{
	bool is_open = group->proto == 6 && !group->is_established;
	bool has_port = group->dport == rule->dport_alone ||
			(group->dport >= rule->dport_first && group->dport <= rule->dport_last);

	return (!rule->proto || rule->proto == group->proto) && (!rule->tcp_syn || is_open) &&
	       (!rule->vlan || rule->vlan == group->vlan) && (!rule->dport_alone || has_port);
}

static struct answer judge(const struct question *question)
{
	for (u32 i = 0; i < N_RULES; i++)
		if (strcmp(rules[i].action, "count") && is_qualified(&rules[i], question->group) &&
		    holds(&rules[i], question))
			return (struct answer){ &rules[i], !strcmp(rules[i].action, "drop") };
	return (struct answer){ NULL, default_drop };
}

/* --- as text --------------------------------------------------------------- */

static void print_entry(FILE *file, const struct rule *rule, const struct entry *entry)
{
	if (entry->feed == NONE)
		fprintf(file, "%s=%s/case %u of %s/%llu ", entry->text, entry->origin, entry->line,
			rule->name, (unsigned long long)entry->ttl_s * 1000);
	else if (entry->line)
		fprintf(file, "%s@%s:%u ", entry->text, rule->feed[entry->feed], entry->line);
	else
		fprintf(file, "null@%s:null ", rule->feed[entry->feed]);
}

/* One feed, or the single entries, in the order they decide. */
static void print_entries(FILE *file, const struct rule *rule, int feed,
			  const struct question *question, u32 *n)
{
	const struct entry *last = NULL, *next;

	do {
		next = NULL;
		for (u32 i = 0; i < rule->n; i++) {
			const struct entry *entry = &rule->entry[i];

			if (entry->feed == feed && length_of(rule, entry, question) != NONE &&
			    (!last || is_before(rule, last, entry, question)) &&
			    (!next || is_before(rule, entry, next, question)))
				next = entry;
		}
		if (next && (*n)++ < MAX_TOLD)
			print_entry(file, rule, next);
		last = next;
	} while (next && next->line | (feed == NONE));
}

static void print_rule(FILE *file, const struct rule *rule, const struct question *question)
{
	bool is_held = holds(rule, question);
	char protected[256];
	u32 n = 0;

	fprintf(file, " %s=%d%d0[", rule->name, is_held,
		is_held && is_qualified(rule, question->group));
	if (!rule->is_any)
		print_entries(file, rule, NONE, question, &n);
	for (int pass = 1; pass >= 0; pass--)
		for (int feed = 0; feed < 6; feed++)
			if (feed_holds(rule, feed, question) == pass)
				print_entries(file, rule, feed, question, &n);
	find_protected(rule, question, protected);
	fprintf(file, "%u]%s", n, protected);
}

static void print_answer(FILE *file, const struct question *question)
{
	struct answer answer = judge(question);
	char text[INET6_ADDRSTRLEN];

	fprintf(file, "%s %s %s %s",
		address_text(question->address.is_ip6, question->address.bits, text),
		answer.would_drop && !dry_run ? "drop" : "pass",
		answer.would_drop ? "would" : "not", answer.rule ? answer.rule->name : "default");
	for (u32 i = 0; i < N_RULES; i++)
		print_rule(file, &rules[i], question);
	putc('\n', file);
}

/* The frame that it is, to 198.51.100.1 or 2001:db8::1, from port 50000. */
static void print_frame(FILE *file, const struct question *question)
{
	const struct group *group = question->group;
	u32 n_bytes = group->proto == 6 ? 20 : 8;
	u64 hi = question->address.bits >> 64, lo = question->address.bits;

	if (group->vlan)
		fprintf(file, "8100%04x", group->vlan);
	if (question->address.is_ip6)
		fprintf(file, "86dd60000000%04x%02x40%016llx%016llx20010db8%024d", n_bytes,
			group->proto, (unsigned long long)hi, (unsigned long long)lo, 1);
	else
		fprintf(file, "08004500%04x0000400040%02x0000%08llxc6336401", 20 + n_bytes,
			group->proto, (unsigned long long)lo);
	if (group->proto == 1)
		fprintf(file, "0800%012d\n", 0);
	else if (group->proto == 17)
		fprintf(file, "c350%04x00080000\n", group->dport);
	else
		fprintf(file, "c350%04x%016d50%02x%012d\n", group->dport, 0,
			group->is_established ? 0x10 : 0x02, 0);
}

/* --- questions ------------------------------------------------------------- */

/* Inside an entry, at its edges or beside it. */
static u128 near_entry(const struct entry *entry)
{
	u64 n = entry->last - entry->first + 1;

	switch (below(5)) {
	case 0: return entry->first;
	case 1: return entry->last;
	case 2: return entry->first - 1;
	case 3: return entry->last + 1;
	default: return entry->first + (n ? below(n) : random_next(&seed));
	}
}

static const struct group *group_of(const struct entry *entry)
{
	for (u32 i = 0; i < N_GROUPS; i++)
		if (groups[i].proto == entry->proto && groups[i].dport == entry->dport)
			return &groups[i];
	return &groups[below(N_GROUPS)];
}

/* Mostly near an entry of some rule. */
static struct question any_question(void)
{
	const struct rule *rule = below(16) ? &rules[below(N_RULES)] : &never;
	struct question question = { any_address(), &groups[below(N_GROUPS)] };
	const struct entry *entry;

	if (!rule->n || !below(4))
		return question;
	entry = &rule->entry[below(rule->n)];
	question.address.is_ip6 = entry->is_ip6;
	question.address.bits = near_entry(entry);
	if (rule->has_fields && below(2))
		question.group = group_of(entry);
	return question;
}

static u32 choose(struct question *question)
{
	u32 n_drops = 0, n_passes = 0;

	while (n_drops < n_each || n_passes < n_each) {
		struct question *one = &question[n_drops + n_passes];
		u32 *n;

		*one = any_question();
		n = judge(one).would_drop ? &n_drops : &n_passes;
		if (*n < n_each)
			(*n)++;
	}
	return n_drops + n_passes;
}

static void print_group(u32 index, const struct question *question, u32 n, FILE *frames,
			FILE *fates)
{
	FILE *asked = create("asked", index), *want = create("want", index);
	FILE *options = create("options", index);
	char text[INET6_ADDRSTRLEN];

	fprintf(options, "%s\n", groups[index].options);
	for (u32 i = 0; i < n; i++) {
		if (question[i].group != &groups[index])
			continue;
		fprintf(asked, "%s\n",
			address_text(question[i].address.is_ip6, question[i].address.bits, text));
		print_answer(want, &question[i]);
		print_frame(frames, &question[i]);
		putc(judge(&question[i]).would_drop && !dry_run ? 'D' : 'P', fates);
	}
	fclose(asked);
	fclose(want);
	fclose(options);
}

static void ask(void)
{
	static struct question question[2 * MAX_EACH];
	FILE *frames = create("frames", NONE), *fates = create("fates", NONE);
	u32 n = choose(question);

	for (u32 i = 0; i < N_GROUPS; i++)
		print_group(i, question, n, frames, fates);
	putc('\n', fates);
	fclose(frames);
	fclose(fates);
}

int main(int argc, char **argv)
{
	if (argc < 5 || argc > 6)
		errx(2, "usage: why DIR SEED N drop|pass [dry-run]");
	directory = argv[1];
	seed = random_from(strtoull(argv[2], NULL, 0));
	n_each = strtoul(argv[3], NULL, 10);
	if (n_each > MAX_EACH)
		errx(2, "at most %u of each", MAX_EACH);
	default_drop = !strcmp(argv[4], "drop");
	dry_run = argc == 6;
	make_feeds(&never);
	for (u32 i = 0; i < N_RULES; i++) {
		make_feeds(&rules[i]);
		make_singles(&rules[i]);
	}
	write_conf();
	ask();
	return 0;
}
