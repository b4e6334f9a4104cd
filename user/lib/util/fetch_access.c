// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Headers and a user that a server asks for before it serves, from a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fetch_access.h"
#include "util/input.h"

/* Size of a file; all of its values have room. */
#define MAX_BYTES (BALEEN_FETCH_HEADERS + BALEEN_FETCH_USER)

/* RFC 9110, 5.6.2. */
#define TOKEN                                                              \
	"!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklm" \
	"nopqrstuvwxyz"

/* By whom it is read and changed is asked of what was opened. */
static int check_owner(int fd, const char *path, struct baleen_error *error)
{
	struct stat file;

	if (fstat(fd, &file))
		return baleen_fail(error, errno, "%s: %m", path);
	if (file.st_uid && file.st_uid != geteuid())
		return baleen_fail(error, EACCES, "%s: is not root's: 'chown root %s' first", path,
				   path);
	if (file.st_mode & 077)
		return baleen_fail(error, EACCES,
				   "%s: others may read or change it: 'chmod 600 %s' first", path,
				   path);
	return 0;
}

static int read_text(const char *path, char *text, size_t *n, struct baleen_error *error)
{
	int fd = baleen_input_open(path, BALEEN_INPUT_NAMED, error), err;
	ssize_t n_read;

	if (fd < 0)
		return fd;
	err = check_owner(fd, path, error);
	n_read = err ? 0 : read(fd, text, MAX_BYTES + 1);
	if (n_read < 0)
		err = baleen_fail(error, errno, "%s: %m", path);
	else if (n_read > MAX_BYTES)
		err = baleen_fail(error, E2BIG, "%s: more than %d bytes", path, MAX_BYTES);
	else
		*n = n_read;
	close(fd);
	return err;
}

/* A line end within a header would be the start of another one. */
static bool is_plain(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((u8)text[i] < ' ' || text[i] == 0x7f)
			return false;
	return true;
}

static bool is_header(const char *value)
{
	size_t n = strspn(value, TOKEN);

	return n && value[n] == ':' && value[n + 1 + strspn(value + n + 1, " ")];
}

/* The value behind the first word, without its quotes. */
static char *value_of(char *line, const char *word)
{
	size_t n = strlen(word), length;

	if (strncmp(line, word, n) || line[n] != ' ')
		return NULL;
	line += n;
	line += strspn(line, " ");
	length = strlen(line);
	if (length > 1 && *line == '"' && line[length - 1] == '"') {
		line[length - 1] = '\0';
		line++;
	}
	return line;
}

/* Return: NULL, or what is wrong. */
static const char *parse_line(struct baleen_fetch_access *access, char *line)
{
	char *value = value_of(line, "header");
	size_t n = strlen(access->headers);

	if (value) {
		if (!is_header(value))
			return "not 'header NAME: VALUE'";
		if (n + strlen(value) + 2 > sizeof(access->headers))
			return "too many headers";
		sprintf(access->headers + n, "%s%s", n ? "\n" : "", value);
		return NULL;
	}
	value = value_of(line, "user");
	if (!value)
		return "neither 'header NAME: VALUE' nor 'user NAME:PASSWORD'";
	if (*access->user)
		return "a second user";
	if (!strchr(value, ':') || *value == ':' || strlen(value) >= sizeof(access->user))
		return "not 'user NAME:PASSWORD'";
	strcpy(access->user, value);
	return NULL;
}

static int parse_lines(struct baleen_fetch_access *access, const char *path, char *text, size_t n,
		       struct baleen_error *error)
{
	char *line = text, *end;

	text[n] = '\0';
	for (u32 number = 1; line < text + n; line = end + 1, number++) {
		const char *fault;

		end = memchr(line, '\n', text + n - line) ?: text + n;
		fault = is_plain(line, end - line) ? NULL : "a control character";
		*end = '\0';
		line += strspn(line, " ");
		for (char *last = end; last > line && last[-1] == ' ';)
			*--last = '\0';
		if (!fault && *line && *line != '#')
			fault = parse_line(access, line);
		if (fault)
			return baleen_fail(error, EINVAL, "%s:%u: %s", path, number, fault);
	}
	if (!*access->headers && !*access->user)
		return baleen_fail(error, EINVAL, "%s: neither a header nor a user", path);
	return 0;
}

int baleen_fetch_access_read(const char *path, struct baleen_fetch_access *access,
			     struct baleen_error *error)
{
	char text[MAX_BYTES + 2];
	size_t n = 0;
	int err = read_text(path, text, &n, error);

	memset(access, 0, sizeof(*access));
	if (!err)
		err = parse_lines(access, path, text, n, error);
	if (err)
		explicit_bzero(access, sizeof(*access));
	explicit_bzero(text, sizeof(text));
	return err;
}
