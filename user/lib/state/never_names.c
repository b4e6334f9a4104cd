// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names of hosts whose addresses no rule drops. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "list/list_algebra.h"
#include "state/entries.h"
#include "state/never_names.h"
#include "state/sql.h"
#include "util/array.h"
#include "util/resolve.h"

/* A name is the text of the state that is called so. Its value is "ASKED ANSWERED FAILURE" and
 * the addresses, a line each.
 */
#define ROW "never-name "
#define ROW_BYTES (sizeof(ROW) - 1 + BALEEN_HOST_NAME_BYTES)

static u32 count_lines(const char *text)
{
	u32 n = 0;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n;
}

/* --- rows -------------------------------------------------------------------- */

static bool read_value(const char *value, struct baleen_never_name *name)
{
	unsigned long long asked_ms, answered_ms;
	int at = 0;
	size_t length;

	if (sscanf(value, "%llu %llu%n", &asked_ms, &answered_ms, &at) != 2 || value[at] != ' ')
		return false;
	name->asked_ms = asked_ms;
	name->answered_ms = answered_ms;
	length = strcspn(value + ++at, "\n");
	if (!value[at + length])
		return false;
	snprintf(name->failure, sizeof(name->failure), "%.*s", (int)length, value + at);
	name->addresses = value + at + length + 1;
	name->n = count_lines(name->addresses);
	return true;
}

int baleen_never_names_each(const struct baleen_rule_store *state,
			    int (*each)(const struct baleen_never_name *name, void *data),
			    void *data, struct baleen_error *error)
{
	static const char sql[] = "SELECT name, value FROM text WHERE name GLOB '" ROW "*'"
				  " ORDER BY name";
	struct baleen_sql_rows rows = baleen_sql_ask(state, sql, error, NULL, 0);
	int ret = 0, err;

	while (!ret && baleen_sql_next(&rows)) {
		const char *value = (const char *)sqlite3_column_text(rows.row, 1);
		struct baleen_never_name name;
		char row[ROW_BYTES];

		if (!baleen_sql_column(rows.row, 0, row, sizeof(row)) || !value ||
		    !read_value(value, &name)) {
			rows.ret = baleen_sql_damaged(state, "a name that cannot be", error);
			continue;
		}
		snprintf(name.name, sizeof(name.name), "%s", row + sizeof(ROW) - 1);
		ret = each(&name, data);
	}
	err = baleen_sql_end(&rows);
	return err ? err : ret;
}

static int put_lines(const struct baleen_never_name *name, void *data)
{
	const char *line = name->addresses;

	for (u32 i = 0; i < name->n; i++) {
		size_t length = strcspn(line, "\n");

		fprintf(data, "%.*s %s\n", (int)length, line, name->name);
		line += length + 1;
	}
	return 0;
}

int baleen_never_names_text(const struct baleen_rule_store *state, char **text,
			    struct baleen_error *error)
{
	char *made = NULL;
	size_t n_bytes = 0;
	FILE *out = open_memstream(&made, &n_bytes);
	int err;

	if (!out)
		return baleen_no_memory(error);
	err = baleen_never_names_each(state, put_lines, out, error);
	if (fclose(out) && !err)
		err = baleen_no_memory(error);
	if (err || !n_bytes) {
		free(made);
		made = NULL;
	}
	if (!err)
		*text = made;
	return err;
}

u64 baleen_never_name_due_ms(const struct baleen_never_name *name, u64 now_ms)
{
	/* The clock was set back. */
	if (name->asked_ms > now_ms)
		return now_ms;
	return name->asked_ms + BALEEN_NEVER_NAME_EVERY_S * 1000ull;
}

/* --- asking ------------------------------------------------------------------- */

/**
 * struct known - what a state has of a name
 * @name: the name
 * @addresses: its last answer; NULL for none
 * @due_ms: when it is due
 */
struct known {
	const char *name;
	char *addresses;
	u64 due_ms;
};

static int find_known(const struct baleen_never_name *name, void *data)
{
	struct known *known = data;

	if (strcmp(name->name, known->name))
		return 0;
	known->due_ms = baleen_never_name_due_ms(name, baleen_now_ms());
	if (name->answered_ms && !(known->addresses = strdup(name->addresses)))
		return -ENOMEM;
	return 1;
}

static bool has_line(const char *text, const char *line, size_t length)
{
	for (; *text; text += strcspn(text, "\n") + 1)
		if (strcspn(text, "\n") == length && !memcmp(text, line, length))
			return true;
	return false;
}

/* Number of lines of @a that @b has not. */
static u32 count_others(const char *a, const char *b)
{
	u32 n = 0;

	for (; *a; a += strcspn(a, "\n") + 1)
		n += !has_line(b, a, strcspn(a, "\n"));
	return n;
}

const char *baleen_never_answer_fault(const char *text)
{
	struct baleen_list list = { 0 };
	size_t length = strlen(text);
	bool is_bad = !length || text[length - 1] != '\n' || text[0] == '\n' ||
		      strstr(text, "\n\n") || text[strspn(text, "0123456789abcdef:.\n")] ||
		      baleen_list_from_text(text, "answer", BALEEN_KEY_SRC, &list, NULL);

	baleen_list_free(&list);
	return is_bad ? "the answer is no list of addresses" : NULL;
}

static int read_answer(int fd, char **text)
{
	off_t n = lseek(fd, 0, SEEK_END);
	char *bytes = n < 0 ? NULL : calloc(1, n + 1);

	if (!bytes || pread(fd, bytes, n, 0) != n) {
		free(bytes);
		return -EIO;
	}
	*text = bytes;
	return 0;
}

void baleen_never_answer_fail(struct baleen_never_answer *answer, const char *why)
{
	free(answer->addresses);
	answer->addresses = NULL;
	answer->n = answer->n_added = answer->n_removed = 0;
	snprintf(answer->failure, sizeof(answer->failure), "%s", why);
	answer->failure[strcspn(answer->failure, "\n")] = '\0';
}

static void put_family(FILE *out, const char *text, bool is_ip6)
{
	for (; *text; text += strcspn(text, "\n") + 1) {
		size_t length = strcspn(text, "\n");

		if (!memchr(text, ':', length) != is_ip6)
			fprintf(out, "%.*s\n", (int)length, text);
	}
}

/* The family that did not answer keeps what it had. */
static int complete(struct baleen_never_answer *answer, const char *before, const char *why)
{
	bool has_ip6 = strchr(answer->addresses, ':');
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	if (!out)
		return -ENOMEM;
	put_family(out, has_ip6 ? before : answer->addresses, false);
	put_family(out, has_ip6 ? answer->addresses : before, true);
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	free(answer->addresses);
	answer->addresses = text;
	snprintf(answer->failure, sizeof(answer->failure), "%.*s", (int)strcspn(why, "\n"), why);
	return 0;
}

static bool may_be_half(int err)
{
	return err == -EAGAIN || err == -ETIMEDOUT;
}

static int resolve(struct baleen_never_answer *answer, const char *before,
		   struct baleen_error *error)
{
	int fd = memfd_create("baleen-name", MFD_CLOEXEC), err;
	struct baleen_error why = { "" };
	const char *fault = why.text;

	if (fd < 0)
		return baleen_fail(error, errno, "memfd: %m");
	err = baleen_resolve(answer->name, BALEEN_RESOLVE_TIMEOUT_S, fd, &why);
	if ((!err || may_be_half(err)) && read_answer(fd, &answer->addresses))
		err = baleen_fail(&why, EIO, "its answer cannot be read");
	close(fd);
	if (err == -EINTR || err == -ENOMEM)
		return baleen_fail(error, -err, "%s", why.text);
	if (!err || (may_be_half(err) && *answer->addresses))
		fault = baleen_never_answer_fault(answer->addresses);
	if (fault)
		baleen_never_answer_fail(answer, fault);
	else if (err && complete(answer, before, why.text))
		return baleen_no_memory(error);
	return 0;
}

static int ask_name(const struct known *known, struct baleen_never_answers *answers,
		    struct baleen_error *error)
{
	const char *before = known->addresses ? known->addresses : "";
	struct baleen_never_answer *answer;
	int err;

	if (baleen_array_add(&answers->answer, answers->n))
		return baleen_no_memory(error);
	answer = &answers->answer[answers->n++];
	*answer = (struct baleen_never_answer){ .is_first = !known->addresses };
	snprintf(answer->name, sizeof(answer->name), "%s", known->name);
	err = resolve(answer, before, error);
	answer->asked_ms = baleen_now_ms();
	if (err || !answer->addresses)
		return err;
	answer->n = count_lines(answer->addresses);
	answer->n_added = count_others(answer->addresses, before);
	answer->n_removed = count_others(before, answer->addresses);
	return 0;
}

int baleen_never_names_ask(const char *names, const struct baleen_rule_store *state, bool only_due,
			   struct baleen_never_answers *answers, struct baleen_error *error)
{
	int err = 0;

	while (*names && !err) {
		size_t length = strcspn(names, " ");
		char name[BALEEN_HOST_NAME_BYTES];
		struct known known = { .name = name };

		snprintf(name, sizeof(name), "%.*s", (int)length, names);
		names += length + (names[length] == ' ');
		if (state)
			err = baleen_never_names_each(state, find_known, &known, error);
		err = err < 0 ? err : 0;
		if (!err && (!only_due || known.due_ms <= baleen_now_ms()))
			err = ask_name(&known, answers, error);
		free(known.addresses);
	}
	if (err)
		baleen_never_answers_free(answers);
	return err;
}

void baleen_never_answers_free(struct baleen_never_answers *answers)
{
	for (size_t i = 0; i < answers->n; i++)
		free(answers->answer[i].addresses);
	free(answers->answer);
	*answers = (struct baleen_never_answers){ 0 };
}

/* --- taking --------------------------------------------------------------------- */

static int forget_others(struct baleen_rule_store *state, const char *names,
			 struct baleen_error *error)
{
	static const char sql[] =
		"DELETE FROM text WHERE name GLOB '" ROW "*' AND"
		" instr(' ' || ? || ' ', ' ' || substr(name, length('" ROW "') + 1) || ' ') = 0";

	return baleen_sql_do(state, sql, NULL, error, BALEEN_SQL_VALUES(baleen_sql_text(names)));
}

static int add_new(struct baleen_rule_store *state, const char *names, struct baleen_error *error)
{
	static const char sql[] = "INSERT OR IGNORE INTO text VALUES (?, '0 0 ' || char(10))";
	int err = 0;

	while (*names && !err) {
		size_t length = strcspn(names, " ");
		char row[ROW_BYTES];

		snprintf(row, sizeof(row), ROW "%.*s", (int)length, names);
		names += length + (names[length] == ' ');
		err = baleen_sql_do(state, sql, NULL, error,
				    BALEEN_SQL_VALUES(baleen_sql_text(row)));
	}
	return err;
}

/* Finds the answer for a name, and writes the value that the name has from now on. */
struct taking {
	const struct baleen_never_answer *answer;
	char *value;
};

static int write_value(const struct baleen_never_name *name, void *data)
{
	struct taking *taking = data;
	const struct baleen_never_answer *answer = taking->answer;
	bool has_answer = answer->addresses;

	if (strcmp(name->name, answer->name))
		return 0;
	if (asprintf(&taking->value, "%llu %llu %s\n%s", (unsigned long long)answer->asked_ms,
		     (unsigned long long)(has_answer ? answer->asked_ms : name->answered_ms),
		     answer->failure, has_answer ? answer->addresses : name->addresses) < 0) {
		taking->value = NULL;
		return -ENOMEM;
	}
	return 1;
}

static int store_answer(struct baleen_rule_store *state, const struct baleen_never_answer *answer,
			struct baleen_error *error)
{
	struct taking taking = { .answer = answer };
	char row[ROW_BYTES];
	int ret = baleen_never_names_each(state, write_value, &taking, error);

	if (ret == -ENOMEM)
		baleen_no_memory(error);
	snprintf(row, sizeof(row), ROW "%s", answer->name);
	/* Another writer may have taken the name away meanwhile. */
	if (ret > 0)
		ret = baleen_rule_store_set_text(state, row, taking.value, error);
	free(taking.value);
	return ret;
}

int baleen_never_names_update(struct baleen_rule_store *state, const char *names,
			      const struct baleen_never_answers *answers,
			      struct baleen_error *error)
{
	int err = forget_others(state, names, error);

	if (!err)
		err = add_new(state, names, error);
	for (size_t i = 0; answers && i < answers->n && !err; i++)
		err = store_answer(state, &answers->answer[i], error);
	return err;
}
