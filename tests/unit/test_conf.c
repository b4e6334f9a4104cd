// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Configurations: what is refused, where and why, and what is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "deploy/conf.h"
#include "net/device.h"

#define R "rule a drop\n"
#define LONG_256                                                           \
	"0123456789012345678901234567890123456789012345678901234567890123" \
	"0123456789012345678901234567890123456789012345678901234567890123" \
	"0123456789012345678901234567890123456789012345678901234567890123" \
	"0123456789012345678901234567890123456789012345678901234567890123"
#define LONG_512 LONG_256 LONG_256
#define LONG_1024 LONG_512 LONG_512

static int parse(const char *text, struct baleen_conf *conf, struct baleen_error *error)
{
	return baleen_conf_parse(text, strlen(text), "c", conf, error);
}

/* --- what is refused ------------------------------------------------------- */

static const struct {
	const char *text;
	const char *reason;
} refused[] = {
	{ "", "c: has no rule" },
	{ "# nothing\n\n", "c: has no rule" },
	{ "default drop\n", "c: has no rule" },
	{ "rules a drop\n", "c:1: 'rules': no statement begins so (did you mean 'rule'?)" },
	{ "\n\nRule a drop\n", "c:3: 'Rule': no statement begins so (did you mean 'rule'?)" },
	/* words */
	{ "rule \"a drop\n",
	  "c:1: a quoted word is \"...\" with blanks around it, and \\\" or \\\\ "
	  "inside" },
	{ "rule a\"b\" drop\n", "c:1: a quoted word is \"...\" with blanks around it, and \\\" or "
				"\\\\ inside" },
	{ "rule \"a\"b drop\n", "c:1: a quoted word is \"...\" with blanks around it, and \\\" or "
				"\\\\ inside" },
	{ "rule \"a\\n\" drop\n",
	  "c:1: a quoted word is \"...\" with blanks around it, and \\\" or "
	  "\\\\ inside" },
	{ "rule \"\\", "c:1: a quoted word is \"...\" with blanks around it, and \\\" or \\\\ "
		       "inside" },
	{ "\"\"\n", "c:1: '': no statement begins so" },
	/* of the device */
	{ "default\n", "c:1: default: pass or drop is missing" },
	{ "default deny\n", "c:1: default 'deny': not pass or drop" },
	{ "default drop drop\n", "c:1: default: 'drop' is a word too many" },
	{ "default drop\ndefault drop\n", "c:2: default is given twice" },
	{ "dry-run yes\n", "c:1: dry-run: 'yes' is a word too many" },
	{ "dry-run\ndry-run\n", "c:2: dry-run is given twice" },
	{ "mode fast\n", "c:1: mode 'fast': not auto, native or generic" },
	{ "no-link\nchain\n", "c:2: no-link and chain exclude each other" },
	{ "sample 100\n", "c:1: sample '100': not a rate such as 100/s, 6/m or 1/h" },
	{ "sample 0/s\n", "c:1: sample '0/s': not a rate such as 100/s, 6/m or 1/h" },
	{ "sample 1000001/s\n", "c:1: sample '1000001/s': not a rate such as 100/s, 6/m or 1/h" },
	{ "sample -1/s\n", "c:1: sample '-1/s': not a rate such as 100/s, 6/m or 1/h" },
	{ "never never.list\n", "c:1: never 'never.list': not a whole path, from / on" },
	{ "never /" LONG_512 "\n", "c:1: never: a path of 512 bytes or more" },
	{ "egress out\n", "c:1: egress: 'out' is a word too many" },
	{ R "egress\n", "c:2: egress is of the device: it stands before the first rule" },
	{ R "default drop\n", "c:2: default is of the device: it stands before the first rule" },
	{ R "sample 1/s\n", "c:2: sample is of the device: it stands before the first rule" },
	/* rules */
	{ "rule a\n", "c:1: rule: a name, then drop, allow or count is missing" },
	{ "rule drop\n", "c:1: rule: a name, then drop, allow or count is missing" },
	{ "rule a deny\n", "c:1: rule 'deny': not drop, allow or count" },
	{ "rule a:b drop\n",
	  "c:1: rule 'a:b': a rule's name is made of letters, digits, '.', '_' and '-'" },
	{ R "rule b drop\nrule a allow\n", "c:3: rule 'a' is in line 1 already" },
	{ "rule a drop proto\n", "c:1: rule a: proto: its value is missing" },
	{ "rule a drop feed /x\n",
	  "c:1: rule a: 'feed': not a qualifier: proto, dport, tcp-syn, vlan, established, "
	  "conntrack or limit" },
	{ "rule a drop proto icmp dport 1\n",
	  "c:1: rule a: dport and a protocol without ports: no packet has both" },
	{ "rule a drop vlan 7 vlan 7\n", "c:1: rule a: vlan is given twice" },
	{ "rule a drop established established\n", "c:1: rule a: established is given twice" },
	{ "rule a drop conntrack established conntrack\n",
	  "c:1: rule a: conntrack is given twice" },
	{ "rule a drop limit 50\n",
	  "c:1: rule a: limit '50': not packets a second, minute or hour, such as 50/s, 10/m or "
	  "5/h, 1000000 at most" },
	{ "rule a drop limit 50/s\n",
	  "c:1: rule a: limit: how long it bans is missing, such as ban 10m" },
	{ "rule a drop limit 50/s ban 10m cap\n", "c:1: rule a: cap: its value is missing" },
	{ "rule a allow limit 50/s ban 10m\nany\n",
	  "c:1: rule a: limit: only of a rule that drops or counts" },
	{ "rule jail drop\nrule a count limit 50/s ban 10m\nany\n",
	  "c:2: rule a: a limit bans, and no rule takes bans: one that drops has to be marked "
	  "with 'bans'" },
	{ "any\n", "c:1: any is of a rule: it stands behind one" },
	{ "feed /x\n" R, "c:1: feed is of a rule: it stands behind one" },
	{ R "key\n", "c:2: key: fields such as src,dport is missing" },
	{ R "key source\n",
	  "c:2: key: 'source' is none of proto, src, dst, sport, dport, flow, string, squid, fingerprint" },
	{ R "key src\nkey src\n", "c:3: key is given twice" },
	{ R "kind vacuum\n",
	  "c:2: kind 'vacuum': not cuckoo, bloom, classic, counting or quotient" },
	{ R "kind prefixes\nfpp 0.1\n",
	  "c:2: kind 'prefixes': not cuckoo, bloom, classic, counting or quotient" },
	{ R "kind chained\n",
	  "c:2: kind 'chained': not cuckoo, bloom, classic, counting or quotient" },
	{ R "key string\n", "c:2: key: a string is no field of a packet" },
	{ R "key squid\n", "c:2: key: a key of Squid is no field of a packet" },
	{ R "kind counting\n", "c:1: rule a: kind counting needs a rate: fpp" },
	{ R "kind classic\n", "c:1: rule a: kind classic needs a rate: fpp" },
	{ R "kind bloom\n", "c:1: rule a: kind bloom needs a rate: fpp" },
	{ R "kind bloom\nfpp 0\n", "c:1: rule a: kind bloom needs a rate: fpp" },
	{ R "fpp 1\n", "c:2: fpp '1': not a rate from 0 to below 1" },
	{ R "fpp nan\n", "c:2: fpp 'nan': not a rate from 0 to below 1" },
	{ R "capacity 0\n", "c:2: capacity '0': not a count from 1 to 2^40" },
	{ R "capacity 2000G\n", "c:2: capacity '2000G': not a count from 1 to 2^40" },
	{ R "min-entries -1\n", "c:2: min-entries '-1': not a count" },
	{ R "max-shrink 0.5\n", "c:2: max-shrink '0.5': not a share from 0% to 100%" },
	{ R "max-shrink 101%\n", "c:2: max-shrink '101%': not a share from 0% to 100%" },
	{ R "max-coverage -5%\n", "c:2: max-coverage '-5%': not a share from 0% to 100%" },
	{ R "max-entries 0\n", "c:2: max-entries '0': not a count from 1 to 2^40" },
	{ R "max-coverage 5%%\n", "c:2: max-coverage '5%%': not a share from 0% to 100%" },
	{ R "max-growth 5\n", "c:2: max-growth '5': not a share from 0% to 100%" },
	{ R "special\n", "c:2: special: keep or remove is missing" },
	{ R "special yes\n", "c:2: special 'yes': not remove or keep" },
	{ R "any\nfeed /x\n", "c:1: rule a: any and feeds exclude each other" },
	{ R "any\nbans\n", "c:1: rule a: any and bans exclude each other" },
	{ "rule a allow\nbans\n", "c:1: rule a: bans are for a rule that drops" },
	{ R "bans\nkey dst\n", "c:1: rule a: bans are for a rule whose key is the source address" },
	{ R "bans\nkey src,dport\n",
	  "c:1: rule a: bans are for a rule whose key is the source address" },
	{ R "bans yes\n", "c:2: bans: 'yes' is a word too many" },
	{ R "any\nkey src,dport\n", "c:1: rule a: any is for keys of one address" },
	/* feeds */
	{ R "feed\n", "c:2: feed: a path or a URL is missing" },
	{ R "feed list.txt\n", "c:2: feed 'list.txt': not a whole path, from / on" },
	{ R "feed -\n", "c:2: feed '-': not a whole path, from / on" },
	{ R "feed file://host/x\n",
	  "c:2: feed 'file://host/x': a file of this host is written file:///PATH or as its path" },
	{ R "feed file:/x\n",
	  "c:2: feed 'file:/x': a file of this host is written file:///PATH or as its path" },
	{ R "feed /x\nfeed file:///x\n", "c:3: feed '/x' is in line 2 already" },
	{ R "feed file:///x timeout 30s\n", "c:2: timeout is for what is fetched from a URL" },
	{ R "feed ftp://h/x\n", "c:2: feed 'ftp://h/x': only http:// and https:// are fetched" },
	{ R "feed \"/a\tb\"\n", "c:2: feed: a tab in its name" },
	{ R "feed /a\x1b[0m\n", "c:2: a control character" },
	{ R "feed /a\rb\n", "c:2: a control character" },
	{ R "feed /" LONG_1024 "\n", "c:2: feed: a path of 1024 bytes or more" },
	{ R "feed http://h/" LONG_1024 "\n", "c:2: feed: a URL of 1024 bytes or more" },
	{ R "feed /x evry 1h\n",
	  "c:2: 'evry': not an option of a feed: column, json, format, where, "
	  "delimiter, skip-bad, every, timeout, access, private, hold, key or ring" },
	{ R "feed /x every\n", "c:2: every: its value is missing" },
	{ R "feed /x every 1\n", "c:2: every '1': not a time from 1s to 365d such as 30s, 5m" },
	{ R "feed /x every 10ms\n",
	  "c:2: every '10ms': not a time from 1s to 365d such as 30s, 5m" },
	{ R "feed /x every 366d\n",
	  "c:2: every '366d': not a time from 1s to 365d such as 30s, 5m" },
	{ R "feed http://h/x timeout 61m\n",
	  "c:2: timeout '61m': not a time from 1s to 1h such as 30s, 5m" },
	{ R "feed /x every 1h every 1h\n", "c:2: every is given twice" },
	{ R "feed /x timeout 1s\n", "c:2: timeout is for what is fetched from a URL" },
	{ R "feed /x access /etc/baleen/x.access\n",
	  "c:2: access is for what is fetched from a URL" },
	{ R "feed /x private\n", "c:2: private is for what is fetched from a URL" },
	{ R "feed route:1 private\n", "c:2: feed route:1: only hold and every are for routes" },
	{ R "feed http://h/x private private\n", "c:2: private is given twice" },
	{ R "feed http://h/x access\n", "c:2: access: its value is missing" },
	{ R "feed copy:\n", "c:2: feed copy:: its name is empty, or too long" },
	{ R "feed copy:x every 1h\n",
	  "c:2: feed copy:x: only column, json, format, where, delimiter and skip-bad are for copies" },
	{ R "protect all\n", "c:2: protect 'all': not none or host" },
	{ R "accept-fpp 1\n", "c:2: accept-fpp '1': not a rate from 0 to below 1" },
	{ R "feed set+https://h/x\n",
	  "c:2: feed set+https://h/x: key FILE is missing: the public key of its publisher" },
	{ R "feed set+https://u:secret@h/x key k\n", "c:2: feed 'k': not a whole path, from / on" },
	{ R "feed set+https://u:secret@h/?x key /k\n",
	  "c:2: feed 'set+https://h/': a set has a URL without '?', '#' and blanks" },
	{ R "feed set+/x key /k\n",
	  "c:2: feed 'set+/x': behind set+ stands https://, http:// or file:///" },
	{ R "feed set+file:///x/.y key /k\n",
	  "c:2: feed 'set+file:///x/.y': its last part is no name of a set: letters, digits, '.', "
	  "'-' and '_'" },
	{ R "feed set+https://h/x key /k skip-bad\n",
	  "c:2: feed set+https://h/x: only key, ring, every, timeout, access and private are for sets" },
	{ R "feed set+https://h/x key /k ring 0\n", "c:2: ring '0': not a number from 1 to 8" },
	{ R "feed set+https://h/x key /k ring 12\n", "c:2: ring '12': not a number from 1 to 8" },
	{ R "feed http://h/x ring 1\n", "c:2: ring is for signed sets: feed set+https://..." },
	{ "health\n" R, "c:1: health: the path of a command is missing" },
	{ "health true\n" R, "c:1: health 'true': not a whole path, from / on" },
	{ "health /x \"\"\n" R, "c:1: health: an empty word" },
	{ R "feed http://h/x key /k\n", "c:2: key is for signed sets: feed set+https://..." },
	{ R "feed http://h/x access x.access\n",
	  "c:2: feed 'x.access': not a whole path, from / on" },
	{ R "feed fleet:\n", "c:2: feed 'fleet:': not the name of a set" },
	{ R "feed fleet:Bans\n", "c:2: feed 'fleet:Bans': not the name of a set" },
	{ R "feed fleet:a1234567890123456789012345678901\n",
	  "c:2: feed 'fleet:a1234567890123456789012345678901': not the name of a set" },
	{ R "feed fleet:bans every 1h\n", "c:2: feed fleet:bans: only max-ttl is for a fleet" },
	{ R "feed fleet:bans max-ttl\n", "c:2: max-ttl: its value is missing" },
	{ R "feed fleet:bans max-ttl 31d\n",
	  "c:2: max-ttl '31d': not a time from 1s to 30d such as 30s, 5m" },
	{ R "feed fleet:bans max-ttl 1h 2h\n", "c:2: feed: '2h' is a word too many" },
	{ R "feed fleet:bans\nfeed fleet:scans\n",
	  "c:3: a rule takes one set of a fleet: fleet:bans" },
	{ R "any\nfeed fleet:bans\n", "c:1: rule a: any and feeds exclude each other" },
	{ R "feed fleet:bans\nkey src,dport\n",
	  "c:1: rule a: bans of a fleet are for keys of one address" },
	{ "rule a allow\nfeed fleet:bans\n",
	  "c:1: rule a: bans of a fleet are for a rule that drops or counts" },
	{ R "feed /x hold 1h\n", "c:2: hold is for routes: feed route:TABLE" },
	{ R "feed route:\n", "c:2: feed 'route:': not the number or name of a routing table" },
	{ R "feed route:/x\n", "c:2: feed 'route:/x': not the number or name of a routing table" },
	{ R "feed route:1 skip-bad\n", "c:2: feed route:1: only hold and every are for routes" },
	{ R "feed route:1 hold 0s\n",
	  "c:2: hold '0s': not a time from 1s to 365d such as 30s, 5m" },
	{ R "feed route:1\nkey src,dport\n",
	  "c:2: feed route:1: routes, names and sets are for keys of one address" },
	{ R "feed name:mail.example.net\n",
	  "c:2: feed name:mail.example.net: names are for rules that allow: whoever answers for "
	  "one could have others dropped" },
	{ "rule a allow\nfeed name:\n", "c:2: feed 'name:': not the name of a host" },
	{ "rule a allow\nfeed name:192.0.2.1\n",
	  "c:2: feed 'name:192.0.2.1': not the name of a host" },
	{ "rule a allow\nfeed name:a..b\n", "c:2: feed 'name:a..b': not the name of a host" },
	{ "rule a allow\nfeed name:a/b\n", "c:2: feed 'name:a/b': not the name of a host" },
	{ "rule a allow\nfeed name:a.b skip-bad\n",
	  "c:2: feed name:a.b: only every and timeout are for names" },
	{ R "feed /x column 1 column 2\n", "c:2: column is given twice" },
	{ R "feed /x json .a json .b\n", "c:2: json is given twice" },
	{ R "feed /x json .a format aws\n",
	  "c:2: format: one of column, json and format is enough" },
	{ R "feed /x json\n", "c:2: json: its value is missing" },
	{ R "feed /x json ip\n", "c:2: json 'ip': not a path such as .[].ip" },
	{ R "feed /x json ." LONG_256 "\n", "c:2: json: 256 bytes or more" },
	{ R "feed /x format @aws\n",
	  "c:2: no format '@aws': there are abuseipdb, atlassian, aws, azure, cloudflare, crowdsec, "
	  "cscli, dshield, fastly, geofeed, github-actions, github-hooks, google, misp, oracle, "
	  "spamhaus" },
	{ R "feed route:1 format aws\n", "c:2: feed route:1: only hold and every are for routes" },
	{ R "feed /x\nfeed /y\nfeed /x every 1h\n", "c:4: feed '/x' is in line 2 already" },
	{ R "feed /x where a=" LONG_256 "\n", "c:2: where: more than 254 bytes" },
};

static void test_refused(void **state)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct baleen_conf conf;
		struct baleen_error error = { "" };

		memset(&conf, 0x5a, sizeof(conf));
		if (!parse(refused[i].text, &conf, &error))
			fail_msg("taken: %s", refused[i].text);
		assert_string_equal(error.text, refused[i].reason);
		for (size_t byte = 0; byte < sizeof(conf); byte++)
			assert_int_equal(((unsigned char *)&conf)[byte], 0x5a);
		assert_true(parse(refused[i].text, &conf, NULL) < 0);
	}
}

static void refuses_bytes(const char *text, size_t n, const char *reason)
{
	struct baleen_conf conf;
	struct baleen_error error = { "" };

	assert_int_equal(baleen_conf_parse(text, n, "c", &conf, &error), -EINVAL);
	assert_string_equal(error.text, reason);
}

static void test_refused_bytes(void **state)
{
	static const char nul[] = "rule a drop\n\0any\n";
	char *line = malloc(9000);

	refuses_bytes(nul, sizeof(nul) - 1, "c:2: a control character");
	assert_non_null(line);
	memset(line, ' ', 9000);
	refuses_bytes(line, 9000, "c:1: a line of more than 8192 bytes");
	memset(line, 'x', 9000);
	for (int i = 1; i < 9000; i += 2)
		line[i] = ' ';
	refuses_bytes(line, 8000, "c:1: more than 64 words");
	free(line);
}

static void test_too_many(void **state)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	for (int i = 0; i <= BALEEN_MAX_RULES; i++)
		fprintf(out, "rule r%d count\n", i);
	fclose(out);
	refuses_bytes(text, n, "c:17: more than 16 rules");
	free(text);
	out = open_memstream(&text, &n);
	fputs(R, out);
	for (int i = 0; i <= BALEEN_CONF_MAX_FEEDS; i++)
		fprintf(out, "feed /%d\n", i);
	fclose(out);
	refuses_bytes(text, n, "c:1026: more than 1024 feeds");
	free(text);
}

/* --- what is read ---------------------------------------------------------- */

static const char all[] =
	"# everything\r\n"
	"default drop   # of packets\n"
	"dry-run\n"
	"mode generic\n"
	"chain\n"
	"sample 6/m\n"
	"max-memory 500M\n"
	"never \"/etc/my \\\"never\\\\\"\n"
	"rule good allow\n"
	"\tfeed /x/good.list\n"
	"rule bad drop proto tcp dport ssh,80-90 tcp-syn vlan 7 established conntrack\n"
	" feed https://example.org/drop.txt#part every 1h timeout 30s access \"/x/a b\" private\n"
	" feed /x/geo.csv column 1-2 where country=BR where \"name=Korea, Republic of\" "
	"delimiter ; skip-bad every 1d\n"
	" key src\n kind cuckoo\n fpp 1e-6\n capacity 2k\n min-entries 0\n max-shrink 100%\n"
	" max-coverage 0.5%\n max-growth 3%\n max-entries 3k\n special keep\n"
	" feed set+https://example.org/lists/bad key /x/bad.pub private every 1d ring 2\n"
	"rule rest count\n"
	"\tany\n"
	"rule jail drop\n"
	"\tbans\n"
	"rule mine drop\n"
	"key flow\nkind bloom\nfpp 1e-3";

static void test_all(void **state)
{
	const struct baleen_stored_rule *bad;
	const struct baleen_feed_source *table;
	struct baleen_conf conf;

	assert_int_equal(parse(all, &conf, NULL), 0);
	assert_string_equal(conf.text, all);
	assert_true(conf.rules.default_drop && conf.rules.dry_run);
	assert_int_equal(conf.rules.mode, BALEEN_MODE_GENERIC);
	assert_int_equal(conf.rules.attach_type, BALEEN_ATTACH_TYPE_CHAIN);
	assert_int_equal(conf.rules.sample_interval_ns, 10000000000ull);
	assert_string_equal(conf.rules.never_path, "/etc/my \"never\\");
	assert_int_equal(conf.rules.n_rules, 5);
	assert_string_equal(conf.rules.rule[0].name, "good");
	assert_int_equal(conf.rules.rule[0].action, BALEEN_ACTION_ALLOW);
	bad = &conf.rules.rule[1];
	assert_int_equal(bad->action, BALEEN_ACTION_DROP);
	assert_true(bad->qualifiers.tcp_syn && bad->qualifiers.has_vlan && bad->guards_feeds);
	assert_int_equal(bad->qualifiers.dport[1].last, 90);
	assert_true(bad->fpp == 1e-6 && bad->capacity == 2000 && bad->limits.keep_special);
	assert_true(!bad->limits.min_entries && bad->limits.max_shrink == 1 &&
		    bad->limits.max_coverage == 0.005 && bad->limits.max_growth == 0.03 &&
		    bad->limits.max_entries == 3000);
	assert_int_equal(conf.rules.max_bytes, 500000000);
	assert_true(conf.rules.rule[2].is_any);
	assert_int_equal(conf.rules.rule[2].action, BALEEN_ACTION_COUNT);
	assert_true(conf.rules.rule[3].takes_bans && !bad->takes_bans);
	assert_int_equal(conf.rules.rule[4].key_spec, BALEEN_KEY_FLOW);
	assert_int_equal(conf.rules.rule[4].kind, BALEEN_KIND_BLOOM);
	assert_int_equal(conf.n_feeds, 4);
	assert_string_equal(conf.feed[3].wanted.key, "/x/bad.pub");
	assert_int_equal(conf.feed[1].rule, 1);
	assert_int_equal(conf.feed[1].line, 12);
	assert_string_equal(conf.feed[1].wanted.source, "https://example.org/drop.txt#part");
	assert_int_equal(conf.feed[1].wanted.every_s, 3600);
	assert_int_equal(conf.feed[1].wanted.timeout_s, 30);
	assert_string_equal(conf.feed[1].wanted.access, "/x/a b");
	table = &conf.feed[2].wanted;
	assert_string_equal(table->column, "1-2");
	assert_string_equal(table->where, "country=BR\nname=Korea, Republic of");
	assert_true(table->delimiter == ';' && table->skip_bad && table->every_s == 86400);
	baleen_conf_free(&conf);
	assert_null(conf.feed);
}

#define H16 "0123456789abcdef"
#define LONG_NAME H16 H16 H16 ".a." H16 H16 H16 ".b." H16 H16 H16 ".c." H16 H16 H16 ".example.net"

/* All names, until there are too many of them, or too many bytes. */
static void test_never_names(void **state)
{
	char text[BALEEN_NEVER_NAMES_BYTES + BALEEN_NEVER_NAMES * 64] = "", *formatted;
	struct baleen_conf conf, again;
	size_t at = 0;

	assert_int_equal(parse("never-name mail.example.net\nnever-name b\n" R, &conf, NULL), 0);
	assert_string_equal(conf.rules.never_names, "mail.example.net b");
	formatted = baleen_conf_format(&conf, true);
	assert_non_null(strstr(formatted, "\nnever-name mail.example.net\nnever-name b\n"));
	assert_int_equal(parse(formatted, &again, NULL), 0);
	assert_string_equal(again.rules.never_names, conf.rules.never_names);
	free(formatted);
	baleen_conf_free(&again);
	baleen_conf_free(&conf);
	assert_int_equal(parse("never-name b\nnever-name B\n" R, &conf, NULL), -EINVAL);
	assert_int_equal(parse("never-name 192.0.2.1\n" R, &conf, NULL), -EINVAL);
	assert_int_equal(parse("never-name a/b\n" R, &conf, NULL), -EINVAL);
	assert_int_equal(parse("never-name\n" R, &conf, NULL), -EINVAL);
	assert_int_equal(parse("never-name a b\n" R, &conf, NULL), -EINVAL);
	assert_int_equal(parse(R "\nnever-name a\n", &conf, NULL), -EINVAL);
	for (u32 i = 0; i < BALEEN_NEVER_NAMES; i++)
		at += sprintf(text + at, "never-name host-%u.example.net\n", i);
	strcpy(text + at, R);
	assert_int_equal(parse(text, &conf, NULL), 0);
	baleen_conf_free(&conf);
	strcpy(text + at, "never-name one-more\n" R);
	assert_int_equal(parse(text, &conf, NULL), -EINVAL);
	at = 0;
	for (u32 i = 0; i < 18; i++)
		at += sprintf(text + at, "never-name h%02u." LONG_NAME "\n", i);
	strcpy(text + at, R);
	assert_int_equal(parse(text, &conf, NULL), 0);
	baleen_conf_free(&conf);
	strcpy(text + at, "never-name h18." LONG_NAME "\n" R);
	assert_int_equal(parse(text, &conf, NULL), -EINVAL);
}

/* What is not said. */
static void test_defaults(void **state)
{
	const struct baleen_feed_limits usual = baleen_feed_limits_default();
	const struct baleen_stored_rule *rule;
	struct baleen_conf conf;
	char *formatted;

	assert_int_equal(unsetenv("BALEEN_CONF_DIR"), 0);
	assert_int_equal(parse(R, &conf, NULL), 0);
	assert_false(conf.rules.default_drop || conf.rules.dry_run);
	assert_int_equal(conf.rules.mode, BALEEN_MODE_AUTO);
	assert_int_equal(conf.rules.attach_type, BALEEN_ATTACH_TYPE_LINK);
	assert_int_equal(conf.rules.sample_interval_ns, 0);
	assert_string_equal(conf.rules.never_path, "/etc/baleen/never.list");
	rule = &conf.rules.rule[0];
	assert_int_equal(rule->key_spec, BALEEN_KEY_SRC);
	assert_int_equal(rule->kind, BALEEN_KIND_CUCKOO);
	assert_int_equal(conf.rules.guard_sessions, BALEEN_GUARD_OUTGOING);
	assert_int_equal(baleen_rule_ban_width(rule), 64);
	assert_true(rule->fpp == 0 && !rule->capacity && !rule->is_any && rule->guards_feeds);
	assert_true(rule->limits.min_entries == usual.min_entries &&
		    rule->limits.max_shrink == usual.max_shrink &&
		    rule->limits.max_coverage == usual.max_coverage &&
		    rule->limits.max_growth == usual.max_growth && !rule->limits.keep_special);
	assert_int_equal(conf.n_feeds, 0);
	baleen_conf_free(&conf);
	assert_int_equal(parse("health /x/y \"a b\" -c\n" R, &conf, NULL), 0);
	assert_string_equal(conf.rules.health, "/x/y\na b\n-c");
	formatted = baleen_conf_format(&conf, true);
	assert_non_null(strstr(formatted, "\nhealth /x/y \"a b\" -c\n"));
	free(formatted);
	baleen_conf_free(&conf);
	assert_int_equal(parse("guard-sessions all\n" R "\nban-width 48\n", &conf, NULL), 0);
	assert_int_equal(conf.rules.guard_sessions, BALEEN_GUARD_ALL);
	assert_int_equal(conf.rules.rule[0].ban_width, 48);
	assert_int_equal(baleen_rule_ban_width(&conf.rules.rule[0]), 48);
	baleen_conf_free(&conf);
	assert_int_equal(parse(R "\nwiden 2 in /48, 200 in /24\n", &conf, NULL), 0);
	rule = &conf.rules.rule[0];
	assert_true(rule->widen[0].n == 200 && rule->widen[0].length == 24);
	assert_true(rule->widen[1].n == 2 && rule->widen[1].length == 48);
	baleen_conf_free(&conf);
	assert_int_equal(parse(R "\nwiden 8 in /24,8 in /48\n", &conf, NULL), -EINVAL);
	assert_int_equal(parse(R "\nwiden 8 in /24, 8 in /48,\n", &conf, NULL), -EINVAL);
	assert_int_equal(parse(R "\nwiden 8 in /128\n", &conf, NULL), -EINVAL);
	assert_int_equal(parse(R "\nwiden -8 in /24\n", &conf, NULL), -EINVAL);
	assert_int_equal(parse("guard-sessions none\n" R, &conf, NULL), 0);
	assert_int_equal(conf.rules.guard_sessions, BALEEN_GUARD_NONE);
	baleen_conf_free(&conf);
	assert_int_equal(parse("guard-sessions some\n" R, &conf, NULL), -EINVAL);
	assert_int_equal(parse(R "\nban-width 31\n", &conf, NULL), -EINVAL);
	assert_int_equal(parse(R "\nban-width 129\n", &conf, NULL), -EINVAL);
	assert_int_equal(setenv("BALEEN_CONF_DIR", "/elsewhere", 1), 0);
	assert_int_equal(parse("never none\n" R, &conf, NULL), 0);
	assert_string_equal(conf.rules.never_path, "");
	baleen_conf_free(&conf);
	assert_int_equal(parse(R, &conf, NULL), 0);
	assert_string_equal(conf.rules.never_path, "/elsewhere/never.list");
	baleen_conf_free(&conf);
	assert_int_equal(unsetenv("BALEEN_CONF_DIR"), 0);
}

/* --- back to text ---------------------------------------------------------- */

static const char formatted[] =
	"default drop\ndry-run\nmode generic\nchain\nsample 6/m\nnever \"/etc/my \\\"never\\\\\"\n"
	"max-memory 500000000\n"
	"rule good allow\n"
	"\tfeed /x/good.list\n"
	"rule bad drop proto tcp dport 22,80-90 tcp-syn vlan 7 established conntrack\n"
	"\tfeed https://example.org/drop.txt#part every 1h timeout 30s access \"/x/a b\" private\n"
	"\tfeed /x/geo.csv column 1-2 where country=BR where \"name=Korea, Republic of\" "
	"delimiter ; skip-bad every 1d\n"
	"\tfeed set+https://example.org/lists/bad every 1d private key /x/bad.pub ring 2\n"
	"\tfpp 1e-06\n"
	"\tcapacity 2000\n\tmin-entries 0\n\tmax-entries 3000\n\tmax-shrink 100%\n\tmax-coverage 0.5%\n"
	"\tmax-growth 3%\n\tspecial keep\n"
	"rule rest count\n\tany\n"
	"rule jail drop\n\tbans\n"
	"rule mine drop\n\tkey flow\n\tkind bloom\n\tfpp 0.001\n";

/* What is typed has words, too. */
static void test_typed(void **state)
{
	static const char text[] = "default pass\nnever none\nrule typed drop\n"
				   "\tfeed copy:stdin column 2 skip-bad\n\tfeed \"copy:a b-2\"\n"
				   "\taccept-fpp 0.01\n\tspecial keep\n\tprotect none\n";
	struct baleen_conf conf;
	char *same;

	assert_int_equal(parse(text, &conf, NULL), 0);
	assert_false(conf.rules.rule[0].guards_feeds);
	assert_true(conf.rules.rule[0].accept_fpp == 0.01 && conf.rules.rule[0].fpp == 0);
	assert_string_equal(conf.feed[1].wanted.source, "copy:a b-2");
	same = baleen_conf_format(&conf, true);
	assert_string_equal(same, text);
	free(same);
	baleen_conf_free(&conf);
	assert_int_equal(parse(R "\nprotect host\n", &conf, NULL), 0);
	assert_true(conf.rules.rule[0].guards_feeds);
	baleen_conf_free(&conf);
}

/* Paths of JSON and formats are columns, by which word ever they came. */
static void test_json(void **state)
{
	static const char text[] = R "\nfeed /a column .x[].ip\nfeed /a json .y where z=1\n"
				     "feed /a column @aws\nfeed /a format google where a=b\n";
	struct baleen_conf conf;
	char *same;

	assert_int_equal(parse(text, &conf, NULL), 0);
	assert_string_equal(conf.feed[0].wanted.column, ".x[].ip");
	assert_string_equal(conf.feed[1].wanted.column, ".y");
	assert_string_equal(conf.feed[1].wanted.where, "z=1");
	assert_string_equal(conf.feed[2].wanted.column, "@aws");
	assert_string_equal(conf.feed[3].wanted.column, "@google");
	same = baleen_conf_format(&conf, true);
	assert_non_null(same);
	assert_non_null(strstr(same, "\tfeed /a json .x[].ip\n\tfeed /a json .y where z=1\n"
				     "\tfeed /a format aws\n"
				     "\tfeed /a format google where a=b\n"));
	free(same);
	baleen_conf_free(&conf);
}

/* What goes out is looked up by its destination, unless a rule says otherwise. */
static void test_egress(void **state)
{
	static const char text[] = "egress\ndefault pass\nnever none\nrule out drop\n"
				   "rule own drop\n\tkey src\n";
	struct baleen_error error;
	struct baleen_conf conf;
	char *same;

	assert_int_equal(parse(text, &conf, NULL), 0);
	assert_true(conf.is_egress);
	assert_int_equal(conf.rules.rule[0].key_spec, BALEEN_KEY_DST);
	assert_int_equal(conf.rules.rule[1].key_spec, BALEEN_KEY_SRC);
	same = baleen_conf_format(&conf, true);
	assert_non_null(same);
	assert_string_equal(same, text);
	assert_int_equal(baleen_conf_is_of(&conf, "eth0", "c", &error), -EINVAL);
	assert_string_equal(error.text, "c: 'egress', and eth0 is what comes in: its file is "
					"eth0@egress.conf");
	assert_int_equal(baleen_conf_is_of(&conf, "eth0@egress", "c", &error), 0);
	free(same);
	baleen_conf_free(&conf);
}

static void test_format(void **state)
{
	struct baleen_conf conf, again;
	char *text, *same;

	assert_int_equal(parse(all, &conf, NULL), 0);
	text = baleen_conf_format(&conf, true);
	assert_non_null(text);
	assert_string_equal(text, formatted);
	assert_int_equal(parse(text, &again, NULL), 0);
	assert_int_equal(again.rules.n_rules, conf.rules.n_rules);
	same = baleen_conf_format(&again, true);
	assert_non_null(same);
	assert_string_equal(same, text);
	free(text);
	free(same);
	baleen_conf_free(&again);
	baleen_conf_free(&conf);
}

static void test_routes(void **state)
{
	static const char text[] = "rule a drop\nfeed route:100\nfeed route:rt-bh.4 hold 90s\n"
				   "feed route:7 hold none every 1h\n"
				   "feed route:8 hold 3600s\n";
	static const char formatted[] = "rule a drop\n\tfeed route:100\n"
					"\tfeed route:rt-bh.4 hold 1m30s\n"
					"\tfeed route:7 every 1h hold none\n\tfeed route:8\n";
	static const u32 holds[] = { 3600, 90, 0, 3600 };
	struct baleen_conf conf;
	char *out;

	assert_int_equal(parse(text, &conf, NULL), 0);
	assert_int_equal(conf.n_feeds, 4);
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(conf.feed[i].wanted.hold_s, holds[i]);
	out = baleen_conf_format(&conf, true);
	assert_string_equal(strstr(out, "rule a"), formatted);
	free(out);
	baleen_conf_free(&conf);
}

static void test_fleet(void **state)
{
	static const char text[] = "rule a drop\nfeed fleet:bans max-ttl 36h\nfeed /x\n"
				   "rule b count\nfeed fleet:s.1\n";
	static const char formatted[] = "rule a drop\n\tfeed /x\n\tfeed fleet:bans max-ttl 1d12h\n"
					"rule b count\n\tfeed fleet:s.1\n";
	struct baleen_conf conf, again;
	char *out;

	assert_int_equal(parse(text, &conf, NULL), 0);
	assert_int_equal(conf.n_feeds, 1);
	assert_string_equal(conf.rules.rule[0].fleet.set, "bans");
	assert_int_equal(conf.rules.rule[0].fleet.max_ttl_s, 129600);
	assert_string_equal(conf.rules.rule[1].fleet.set, "s.1");
	assert_int_equal(conf.rules.rule[1].fleet.max_ttl_s, 0);
	out = baleen_conf_format(&conf, true);
	assert_string_equal(strstr(out, "rule a"), formatted);
	assert_int_equal(parse(out, &again, NULL), 0);
	assert_memory_equal(&again.rules.rule[0].fleet, &conf.rules.rule[0].fleet,
			    sizeof(again.rules.rule[0].fleet));
	free(out);
	baleen_conf_free(&again);
	baleen_conf_free(&conf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),	 cmocka_unit_test(test_refused_bytes),
		cmocka_unit_test(test_too_many), cmocka_unit_test(test_all),
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_typed),
		cmocka_unit_test(test_format),	 cmocka_unit_test(test_routes),
		cmocka_unit_test(test_fleet),	 cmocka_unit_test(test_json),
		cmocka_unit_test(test_egress),	 cmocka_unit_test(test_never_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
