// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tables of comma or tab separated values as lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "list/csv_table.h"
#include "lists.h"
#include "random.h"

#define SEED 0x63737620726f7773ull

/* @where: conditions with a bar between; @list: what comes out, or the error */
struct read {
	const char *name;
	const char *table;
	const char *column;
	const char *where;
	const char *delimiter;
	const char *list;
};

static void set_options(struct baleen_csv_options *options, const struct read *read, char *where)
{
	char *rest = where, *one;

	*options = (struct baleen_csv_options){ 0 };
	if (read->column)
		assert_int_equal(baleen_csv_parse_column(options, read->column, NULL), 0);
	if (read->delimiter)
		assert_int_equal(baleen_csv_parse_delimiter(options, read->delimiter, NULL), 0);
	strcpy(where, read->where ?: "");
	while ((one = strsep(&rest, "|")) && *one)
		assert_int_equal(baleen_csv_parse_where(options, one, NULL), 0);
}

static void read_text(int fd, char *text, size_t bytes)
{
	ssize_t n = read(fd, text, bytes - 1);

	assert_in_range(n, 0, bytes - 2);
	text[n] = '\0';
}

static void check_read(const struct read *r, int want)
{
	int fd = open_bytes(r->table, strlen(r->table)), out = -7, err;
	struct baleen_csv_counts counts = { 77, 77 };
	struct baleen_csv_options options;
	struct baleen_error error = { "" };
	char where[256], list[4096];

	set_options(&options, r, where);
	err = baleen_csv_read(fd, r->name, &options, &counts, &out, &error);
	close(fd);
	if (err)
		snprintf(list, sizeof(list), "%s", error.text);
	else
		read_text(out, list, sizeof(list));
	if (err != want || strcmp(list, r->list))
		fail_msg("'%s': %d\n%s", r->table, err, list);
	if (err) {
		assert_int_equal(out, -7);
		assert_int_equal(counts.n_rows, 77);
	} else {
		close(out);
	}
}

/* --- tables as they are published --- */

#define DB_IP_COUNTRY                                                       \
	"1.0.0.0,1.0.0.255,AU\n1.0.1.0,1.0.3.255,CN\n"                      \
	"8.8.8.8,8.8.8.8,US\n2001:200::,2001:200:ffff:ffff:ffff:ffff:ffff:" \
	"ffff,JP\n"
#define DB_IP_ASN                                        \
	"1.0.0.0,1.0.0.255,13335,\"Cloudflare, Inc.\"\n" \
	"1.0.4.0,1.0.7.255,38803,\"Wirefreebroadband \"\"Pty\"\" Ltd\"\n"
#define DB_IP_CITY                                                                 \
	"1.0.0.0,1.0.0.255,OC,AU,Queensland,\"South Brisbane\",-27.4767,153.017\n" \
	"1.0.1.0,1.0.3.255,AS,CN,Fujian,Fuzhou,26.0998,119.297\n"
#define IPTOASN                                          \
	"1.0.0.0\t1.0.0.255\t13335\tUS\tCLOUDFLARENET\n" \
	"1.0.1.0\t1.0.3.255\t0\tNone\tNot routed\n"      \
	"1.0.4.0\t1.0.7.255\t38803\tAU\tGTELECOM \"Wirefree\", Pty\tLtd\n"
#define GEOLITE_COUNTRY                                                               \
	"network,geoname_id,registered_country_geoname_id,"                           \
	"represented_country_geoname_id,is_anonymous_proxy,is_satellite_provider\r\n" \
	"1.0.0.0/24,2077456,2077456,,0,0\r\n"                                         \
	"1.0.1.0/24,1814991,1814991,,0,0\r\n"                                         \
	"2a02:ffc0::/29,3469034,3469034,,0,1\r\n"
#define GEOLITE_ASN                                                         \
	"network,autonomous_system_number,autonomous_system_organization\n" \
	"1.0.0.0/24,13335,CLOUDFLARENET\n1.0.4.0/22,38803,\"Gtelecom, \"\"Pty\"\"\"\n"
#define FEODO                                                             \
	"################\n# \"Feodo Tracker\" C2 list, IP's\n#\n"        \
	"\"first_seen_utc\",\"dst_ip\",\"dst_port\",\"c2_status\"\n"      \
	"\"2021-01-17 07:30:05\",\"67.213.75.205\",\"443\",\"offline\"\n" \
	"\"2022-06-04 21:24:53\",\"162.243.103.246\",\"8080\",\"online\"\n# 2 entries\n"

static void test_published(void **state)
{
	static const struct read reads[] = {
		{ "dbip-country.csv", DB_IP_COUNTRY, NULL, "country=au", NULL,
		  "1.0.0.0-1.0.0.255\n\n\n\n" },
		{ "dbip-country.csv", DB_IP_COUNTRY, "1-2", "3=US", NULL, "\n\n8.8.8.8\n\n" },
		{ "dbip-country.csv", DB_IP_COUNTRY, "start-end", "3=JP", NULL,
		  "\n\n\n2001:200::-2001:200:ffff:ffff:ffff:ffff:ffff:ffff\n" },
		{ "dbip-asn.csv", DB_IP_ASN, NULL, "asn=AS13335", NULL, "1.0.0.0-1.0.0.255\n\n" },
		{ "dbip-asn.csv", DB_IP_ASN, NULL, "as_name=wirefreebroadband \"pty\" ltd", NULL,
		  "\n1.0.4.0-1.0.7.255\n" },
		{ "dbip-city.csv", DB_IP_CITY, NULL, "country=CN|city=FUZHOU", NULL,
		  "\n1.0.1.0-1.0.3.255\n" },
		{ "ip2asn-v4.tsv", IPTOASN, NULL, "3=13335", NULL, "1.0.0.0-1.0.0.255\n\n\n" },
		{ "GeoLite2-Country-Blocks-IPv4.csv", GEOLITE_COUNTRY, "network",
		  "geoname_id=1814991", NULL, "\n\n1.0.1.0/24\n\n" },
		{ "GeoLite2-Country-Blocks-IPv6.csv", GEOLITE_COUNTRY, NULL,
		  "geoname_id=3469034|is_satellite_provider=1", NULL, "\n\n\n2a02:ffc0::/29\n" },
		{ "GeoLite2-Country-Blocks-IPv6.csv", GEOLITE_COUNTRY, NULL,
		  "geoname_id=3469034|is_satellite_provider=0", NULL, "\n\n\n\n" },
		{ "GeoLite2-ASN-Blocks-IPv4.csv", GEOLITE_ASN, "network", "asn=38803", NULL,
		  "\n\n1.0.4.0/22\n" },
		{ "feodo.csv", FEODO, "dst_ip", "c2_status=online", NULL,
		  "\n\n\n\n\n162.243.103.246\n\n" },
		{ "feodo.csv", FEODO, "2", NULL, NULL,
		  "\n\n\n\n67.213.75.205\n162.243.103.246\n\n" },
		{ "ip;score", "# x,y\nip;score\n192.0.2.1;9,5\n", "ip", NULL, NULL,
		  "\n\n192.0.2.1\n" },
		{ "rir", "network|cc\n192.0.2.0/24|BR\n", NULL, "cc=br", NULL, "\n192.0.2.0/24\n" },
		{ "quoted", "\"a;b|c\",192.0.2.1\n", "2", NULL, NULL, "192.0.2.1\n" },
	};

	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++)
		check_read(&reads[i], 0);
}

/* The shapes of iptoasn, one of which has a tab too much above. */
static void test_iptoasn(void **state)
{
	static const struct read reads[] = {
		{ "ip2asn-v4.tsv", "1.0.0.0\t1.0.0.255\t13335\tUS\tCLOUDFLARENET\n", NULL,
		  "asn=13335|country=us", NULL, "1.0.0.0-1.0.0.255\n" },
		{ "ip2asn", "1.0.1.0\t1.0.3.255\t0\tNone\tNot routed\n", NULL, "country=None", NULL,
		  "1.0.1.0-1.0.3.255\n" },
		{ "ip2asn-v6", "2001:200::\t2001:200:1::\t2500\tJP\tWIDE-BB \"Project\"\n", NULL,
		  "as_name=wide-bb \"project\"", NULL, "2001:200::-2001:200:1::\n" },
		{ "ip2country-v4.tsv", "1.0.0.0\t1.0.0.255\tAU\n", NULL, "country=AU", NULL,
		  "1.0.0.0-1.0.0.255\n" },
	};

	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++)
		check_read(&reads[i], 0);
}

/* --- lines and cells --- */

static void test_lines(void **state)
{
	static const struct read reads[] = {
		{ "t", "", "1", NULL, NULL, "" },
		{ "t", "\n\n", "1", NULL, NULL, "\n\n" },
		{ "t", "1.1.1.1", "1", NULL, NULL, "1.1.1.1\n" },
		{ "t", "\xef\xbb\xbfip\n1.1.1.1\n", "ip", NULL, NULL, "\n1.1.1.1\n" },
		{ "t",
		  "\xef\xbb\xbf"
		  "1.1.1.1\n",
		  "1", NULL, NULL, "1.1.1.1\n" },
		{ "t", "IP,x\r\n1.1.1.1,y\r\n\r\n1.1.1.2,y", "ip", NULL, NULL,
		  "\n1.1.1.1\n\n1.1.1.2\n" },
		/* a quoted newline: the row stands in its first line */
		{ "t", "note,ip\n\"a\nb\nc\",1.1.1.1\nd,1.1.1.2\n", "ip", NULL, NULL,
		  "\n1.1.1.1\n\n\n1.1.1.2\n" },
		{ "t", "note,ip\n\"a\n# \"\"b\"\"\n\",1.1.1.1\n", "ip", NULL, NULL,
		  "\n1.1.1.1\n\n\n" },
		/* spaces around cells are none of theirs */
		{ "t", "ip , cc\n1.1.1.1 , BR \n", "ip", "cc=br", NULL, "\n1.1.1.1\n" },
		{ "t", "1.1.1.1;BR\n1.1.1.2;AR\n", "1", "2=AR", ";", "\n1.1.1.2\n" },
		{ "t", "1.1.1.1|BR\n", NULL, NULL, "|", "1.1.1.1\n" },
		{ "t", "1.1.1.1,a\tb\n", "1", NULL, ",", "1.1.1.1\n" },
		{ "t.TSV", "1.1.1.1\n1.1.1.2\tx\n", "1", NULL, NULL, "1.1.1.1\n1.1.1.2\n" },
		{ "t.tsv", "1.1.1.1,x\n", "1", NULL, ",", "1.1.1.1\n" },
		/* names with dashes */
		{ "t", "ip-start,ip-end\n1.1.1.1,1.1.1.3\n", "ip-start-ip-end", NULL, NULL,
		  "\n1.1.1.1-1.1.1.3\n" },
		{ "t", "src-ip,x\n1.1.1.1,2.2.2.2\n", "src-ip", NULL, NULL, "\n1.1.1.1\n" },
		{ "t", "x,a,b\n0,1.1.1.1,1.1.1.3\n", "2-b", NULL, NULL, "\n1.1.1.1-1.1.1.3\n" },
		/* rows without names: the first is a key, even a bad one */
		{ "t", "10.0.0.300,x\n1.1.1.1,x\n", "1", NULL, NULL, "10.0.0.300\n1.1.1.1\n" },
		{ "t", "1.1.1.1,x\n1.1.1.2,y\n", NULL, "2=y", NULL, "\n1.1.1.2\n" },
		{ "t", "as,country_code\n9.9.9.9,BR\n", NULL, "country=BR", NULL, "\n9.9.9.9\n" },
		{ "t", "ip,note\n1.1.1.1,a=b\n", "ip", "note=a=b", NULL, "\n1.1.1.1\n" },
		{ "t", "ip,note\n1.1.1.1,\n1.1.1.2,x\n", "ip", "note=", NULL, "\n1.1.1.1\n\n" },
		{ "t", "!1.1.1.1,x\n", "1", NULL, NULL, "!1.1.1.1\n" },
	};

	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++)
		check_read(&reads[i], 0);
}

/* What is no key is a bad line, not a blank one, a comment or another's syntax. */
static void test_bad_keys(void **state)
{
	static const char *const keys[] = {
		"",	     "\"\"",	  "# 1.1.1.1", "\"#1.1.1.1\"",	    ";1.1.1.1",
		"1.1.1.1 x", "create",	  "1.1.1.1#x", "\"1.1.1.1\n\"",	    "caf\xc3\xa9",
		"add",	     "-exist",	  "\x01",      "1.1.1.1 - 1.1.1.3", "\"\"\"1.1.1.1\"\"\"",
		"x",	     "1.1.1.1\v",
	};
	struct baleen_csv_options options = { .column = "2" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct baleen_list list = { 0 };
		char table[128];
		int n = snprintf(table, sizeof(table), "x,9.9.9.9\nx,%s,x\n", keys[i]);
		int fd = open_bytes(table, n), out;

		assert_int_equal(baleen_csv_read(fd, "t", &options, NULL, &out, NULL), 0);
		close(fd);
		assert_int_equal(baleen_list_read(&list, out, "t", NULL, NULL), 0);
		close(out);
		if (list.n_bad != 1 || list.n_listed != 1)
			fail_msg("'%s': %llu bad", keys[i], (unsigned long long)list.n_bad);
		baleen_list_free(&list);
	}
}

static void test_counts(void **state)
{
	struct baleen_csv_options options = { .where = { "cc=BR" }, .n_where = 1 };
	const char table[] = "ip,cc\n1.1.1.1,BR\n\n# x\n1.1.1.2,AR\n1.1.1.3,br\n";
	struct baleen_csv_counts counts;
	int fd = open_bytes(table, strlen(table)), out;

	assert_int_equal(baleen_csv_read(fd, "t", &options, &counts, &out, NULL), 0);
	assert_int_equal(counts.n_rows, 3);
	assert_int_equal(counts.n_wanted, 2);
	close(out);
	close(fd);
}

/* --- refused --- */

static void test_refused(void **state)
{
	static const struct read reads[] = {
		{ "t.csv", "ip,cc\n1.1.1.1,BR\n", "addr", NULL, NULL,
		  "t.csv:1: no column 'addr': there are ip, cc" },
		{ "t.csv", "# x\n\nip,cc\n1.1.1.1,BR\n", "ip", "country=BR", NULL,
		  "t.csv:3: no column 'country': there are ip, cc" },
		{ "t.csv", "1.1.1.1,BR\n", "1", "country=BR", NULL,
		  "t.csv:1: no names here: 'country' needs the column's number" },
		{ "t.csv", "ip,cc\n1.1.1.1,BR\n1.1.1.2\n", "ip", "cc=BR", NULL,
		  "t.csv:3: 1 column, column 2 is asked for" },
		{ "t.csv", "1.1.1.1,BR\n", "3", NULL, NULL,
		  "t.csv:1: 2 columns, column 3 is asked for" },
		{ "t.csv", "1.1.1.1,x\n", "1-9", NULL, NULL,
		  "t.csv:1: 2 columns, column 9 is asked for" },
		{ "t.csv", "1.1.1.1,x\n1.1.1.2,a \"b\" c\n", "1", NULL, NULL,
		  "t.csv:2: column 2: a quote that neither begins nor ends it" },
		{ "t.csv", "1.1.1.1,x\n1.1.1.2,\"a\" b\n", "1", NULL, NULL,
		  "t.csv:2: column 2: a quote that neither begins nor ends it" },
		{ "t.csv", "1.1.1.1,x\n1.1.1.2,\"a\n1.1.1.3,b\n", "1", NULL, NULL,
		  "t.csv:2: a quote is not closed" },
		{ "t.csv", "1.1.1.1,x\r1.1.1.2,y\n", "1", NULL, NULL,
		  "t.csv:1: carriage return in the line" },
		{ "t.csv", "ip,mask\n1.1.1.0/24,255.255.255.0\n1.1.2.0,255.255.255.0\n", "ip", NULL,
		  NULL,
		  "t.csv:3: a netmask in the column behind the address; baleen-lists(5) has the "
		  "command for it" },
		{ "t.csv", "a\x01,b\n1.1.1.1,b\n", "c", NULL, NULL,
		  "t.csv:1: no column 'c': there are a\\x01, b" },
	};

	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++)
		check_read(&reads[i], -EINVAL);
}

static void refuse_bytes(const char *bytes, size_t n_bytes, const char *message)
{
	struct baleen_csv_options options = { .column = "1" };
	struct baleen_error error = { "" };
	int fd = open_bytes(bytes, n_bytes), out = -7;

	assert_int_equal(baleen_csv_read(fd, "t", &options, NULL, &out, &error), -EINVAL);
	assert_string_equal(error.text, message);
	assert_int_equal(out, -7);
	close(fd);
}

static void test_too_much(void **state)
{
	size_t n = 200000;
	char *bytes = malloc(n);

	assert_non_null(bytes);
	refuse_bytes("1.1.1.1\n1.1\0.1.2\n", 17, "t:2: NUL byte");
	memset(bytes, 'x', n);
	refuse_bytes(bytes, n, "t:1: more than 65536 bytes");
	memset(bytes, ',', n);
	bytes[300] = '\n';
	refuse_bytes(bytes, 301, "t:1: more than 256 columns");
	/* Lines of 100 bytes in a quote that nobody closes. */
	memset(bytes, 'x', n);
	for (size_t i = 99; i < n; i += 100)
		bytes[i] = '\n';
	memcpy(bytes, "1.1.1.1,\"", 9);
	refuse_bytes(bytes, n, "t:1: a row of more than 65536 bytes: is a quote not closed?");
	free(bytes);
}

static void test_options(void **state)
{
	struct baleen_csv_options options = { 0 };
	struct baleen_error error;

	assert_false(baleen_csv_is_wanted(&options));
	assert_int_equal(baleen_csv_parse_column(&options, "", &error), -EINVAL);
	assert_string_equal(error.text, "the name of the column is missing");
	assert_int_equal(baleen_csv_parse_column(&options, "0", &error), -EINVAL);
	assert_string_equal(error.text, "columns have the numbers 1 to 256");
	assert_int_equal(baleen_csv_parse_column(&options, "257", &error), -EINVAL);
	assert_int_equal(baleen_csv_parse_column(&options, "99999999999999999999", &error),
			 -EINVAL);
	assert_int_equal(baleen_csv_parse_where(&options, "cc", &error), -EINVAL);
	assert_string_equal(error.text, "not COLUMN=VALUE");
	assert_int_equal(baleen_csv_parse_where(&options, "=BR", &error), -EINVAL);
	assert_int_equal(baleen_csv_parse_where(&options, "0=BR", &error), -EINVAL);
	for (const char *const *text = (const char *const[]){ "", "x", ",,", "TAB", "\"", NULL };
	     *text; text++)
		assert_int_equal(baleen_csv_parse_delimiter(&options, *text, &error), -EINVAL);
	assert_string_equal(error.text, "neither tab nor one of , ; |");
	assert_false(baleen_csv_is_wanted(&options));
	for (u32 i = 0; i < BALEEN_CSV_MAX_WHERE; i++)
		assert_int_equal(baleen_csv_parse_where(&options, "cc=BR", &error), 0);
	assert_int_equal(baleen_csv_parse_where(&options, "cc=BR", &error), -EINVAL);
	assert_string_equal(error.text, "more than 8 conditions");
	assert_true(baleen_csv_is_wanted(&options));
}

/* --- random tables: line N of the list is of line N of the table --- */

static size_t put_random_row(struct random *random, char *text, u32 n, u32 *n_lines)
{
	u32 n_newlines = random_below(random, 4) ? 0 : random_below(random, 5);
	size_t used = sprintf(text, "\"say \"\"%u\"\"", n);

	for (u32 i = 0; i < n_newlines; i++)
		used += sprintf(text + used, "\n#,\"\"");
	used += sprintf(text + used, "\",9.0.%u.%u,%s\n", n >> 8, n & 255, n % 3 ? "no" : "Yes");
	*n_lines = 1 + n_newlines;
	return used;
}

static void test_random(void **state)
{
	static char table[1 << 18], want[1 << 18], got[1 << 18];
	struct random random = random_from(SEED);
	struct baleen_csv_options options = { .column = "ip", .where = { "ok=yes" }, .n_where = 1 };
	size_t n_table = sprintf(table, "note,ip,ok\n"), n_want = sprintf(want, "\n");
	int fd, out;

	for (u32 n = 0; n < 2000; n++) {
		u32 n_lines;

		n_table += put_random_row(&random, table + n_table, n, &n_lines);
		if (n % 3 == 0)
			n_want += sprintf(want + n_want, "9.0.%u.%u", n >> 8, n & 255);
		memset(want + n_want, '\n', n_lines);
		n_want += n_lines;
	}
	want[n_want] = '\0';
	fd = open_bytes(table, n_table);
	assert_int_equal(baleen_csv_read(fd, "t", &options, NULL, &out, NULL), 0);
	read_text(out, got, sizeof(got));
	assert_string_equal(got, want);
	close(out);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),	 cmocka_unit_test(test_too_much),
		cmocka_unit_test(test_options),	 cmocka_unit_test(test_published),
		cmocka_unit_test(test_iptoasn),	 cmocka_unit_test(test_lines),
		cmocka_unit_test(test_bad_keys), cmocka_unit_test(test_counts),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
