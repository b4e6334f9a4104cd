// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The addresses of a name, as the resolver of the system knows them. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fetch/resolver.h"
#include "util/write_file.h"

/**
 * struct answer - the addresses of a name
 * @text: each, both families in one order
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

static int write_all(const struct answer *answer, int fd)
{
	char line[INET6_ADDRSTRLEN + 1];
	int err = 0;

	for (u32 i = 0; i < answer->n && !err; i++)
		err = baleen_write_all(fd, line, sprintf(line, "%s\n", answer->text[i]));
	return err;
}

static void refuse(struct baleen_fetch_report *report, int err, const char *why)
{
	report->err = err;
	snprintf(report->text, sizeof(report->text), "%s", why);
}

void resolve_name(const struct baleen_fetch_order *order, int fd,
		  struct baleen_fetch_report *report)
{
	struct answer answer = { .n = 0 };
	int err = ask(order->url, AF_INET, &answer);

	*report = (struct baleen_fetch_report){ .is_last = true, .n_attempts = 1 };
	if (!err)
		err = ask(order->url, AF_INET6, &answer);
	if (err == -E2BIG) {
		refuse(report, err, "more addresses than a name may have here");
	} else if (err) {
		refuse(report, -EAGAIN, gai_strerror(err));
	} else if (!answer.n) {
		refuse(report, -ENOENT, "no such name, or no address of it");
	} else {
		qsort(answer.text, answer.n, sizeof(answer.text[0]), compare);
		err = write_all(&answer, fd);
		if (err)
			refuse(report, err, strerror(-err));
	}
}
