// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The addresses of a name, as the resolver of the system knows them. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fetch/resolver.h"
#include "util/write_file.h"

/**
 * struct answer - the addresses of a name
 * @text: each, IPv4 first
 * @n: how many
 */
struct answer {
	char text[BALEEN_RESOLVE_MAX][INET6_ADDRSTRLEN];
	u32 n;
};

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Return: 0; -E2BIG for more than there is room for. */
static int add(struct answer *answer, const struct sockaddr *address)
{
	const struct sockaddr_in6 *ip6 = (const void *)address;
	const struct sockaddr_in *ip4 = (const void *)address;
	char text[INET6_ADDRSTRLEN];

	if (address->sa_family == AF_INET)
		inet_ntop(AF_INET, &ip4->sin_addr, text, sizeof(text));
	else
		inet_ntop(AF_INET6, &ip6->sin6_addr, text, sizeof(text));
	for (u32 i = 0; i < answer->n; i++)
		if (!strcmp(answer->text[i], text))
			return 0;
	if (answer->n == BALEEN_RESOLVE_MAX)
		return -E2BIG;
	strcpy(answer->text[answer->n++], text);
	return 0;
}

/* Return: 0, also when the name has no address of the family; -E2BIG; else an EAI_ code. */
static int ask(const char *name, int family, struct answer *answer)
{
	const struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM };
	struct addrinfo *all = NULL;
	int code = getaddrinfo(name, NULL, &hints, &all), err = 0;

	if (code == EAI_NONAME || code == EAI_NODATA)
		return 0;
	if (code)
		return code;
	for (const struct addrinfo *one = all; one && !err; one = one->ai_next)
		err = add(answer, one->ai_addr);
	freeaddrinfo(all);
	return err;
}

/* All of one family, in one order and one write: who ends this helper meanwhile has all of it
 * or none.
 */
static int write_from(struct answer *answer, u32 first, int fd)
{
	char text[BALEEN_RESOLVE_MAX * (INET6_ADDRSTRLEN + 1)];
	size_t n = 0;

	qsort(answer->text + first, answer->n - first, sizeof(answer->text[0]), compare);
	for (u32 i = first; i < answer->n; i++)
		n += sprintf(text + n, "%s\n", answer->text[i]);
	return n ? baleen_write_all(fd, text, n) : 0;
}

static void refuse(struct baleen_fetch_report *report, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void refuse(struct baleen_fetch_report *report, int err, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	report->err = err;
	vsnprintf(report->text, sizeof(report->text), format, arguments);
	va_end(arguments);
}

void resolve_name(const struct baleen_fetch_order *order, int fd,
		  struct baleen_fetch_report *report)
{
	static const int family[] = { AF_INET, AF_INET6 };
	static const char *const family_name[] = { "IPv4", "IPv6" };
	struct answer answer = { .n = 0 };
	int failure[2] = { 0 }, err = 0;

	*report = (struct baleen_fetch_report){ .is_last = true, .n_attempts = 1 };
	for (u32 i = 0; i < 2 && !err; i++) {
		u32 first = answer.n;

		failure[i] = ask(order->url, family[i], &answer);
		if (failure[i] == -E2BIG)
			err = -E2BIG;
		else if (!failure[i])
			err = write_from(&answer, first, fd);
	}
	if (err == -E2BIG)
		refuse(report, err, "more addresses than a name may have here");
	else if (err)
		refuse(report, err, "%s", strerror(-err));
	else if (failure[0] && failure[1])
		refuse(report, -EAGAIN, "%s", gai_strerror(failure[0]));
	else if (failure[0] || failure[1])
		refuse(report, -EAGAIN, "no answer for %s: %s", family_name[!failure[0]],
		       gai_strerror(failure[0] ?: failure[1]));
	else if (!answer.n)
		refuse(report, -ENOENT, "no such name, or no address of it");
}
