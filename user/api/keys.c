// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keys that a set is to be made of, or changed by. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api.h"
#include "key/key_spec.h"
#include "list/list_entry.h"
#include "util/input.h"

int baleen_keys_new(const char *key, struct baleen_keys **keys)
{
	u32 spec = BALEEN_KEY_SRC;
	struct baleen_keys *made;
	int err;

	err = key ? baleen_key_spec_parse(key, &spec, api_error()) : 0;
	if (err)
		return err;
	made = calloc(1, sizeof(*made));
	if (!made)
		return baleen_no_memory(api_error());
	made->list.key_spec = spec;
	*keys = made;
	return 0;
}

void baleen_keys_free(struct baleen_keys *keys)
{
	if (!keys)
		return;
	baleen_list_free(&keys->list);
	free(keys);
}

static int check_open(const struct baleen_keys *keys)
{
	return keys->is_final ? baleen_fail(api_error(), EBUSY, "the keys are in use by now") : 0;
}

int baleen_keys_add(struct baleen_keys *keys, const char *entry)
{
	bool is_long = strlen(entry) >= BALEEN_ENTRY_ROOM || strchr(entry, '\n');
	const char *reason = "not a key";
	int err = check_open(keys);

	if (err)
		return err;
	if (is_long && keys->list.key_spec != BALEEN_KEY_STRING)
		return baleen_fail(api_error(), EINVAL, "'%.40s...': %s", entry, reason);
	err = baleen_list_add(&keys->list, entry, &reason);
	if (err == -EINVAL)
		return baleen_fail(api_error(), EINVAL, "'%s': %s", entry, reason);
	return err ? baleen_no_memory(api_error()) : 0;
}

int baleen_keys_add_address(struct baleen_keys *keys, int family, const void *address,
			    unsigned int length)
{
	unsigned int bits = family == AF_INET ? 32 : 128;
	char entry[INET6_ADDRSTRLEN + sizeof("/128")];

	if (!baleen_spec_is_address(keys->list.key_spec))
		return baleen_fail(api_error(), EINVAL, "the keys are not addresses");
	if ((family != AF_INET && family != AF_INET6) || length > bits)
		return baleen_fail(api_error(), EINVAL, "not an address and a prefix length");
	inet_ntop(family, address, entry, sizeof(entry));
	if (length < bits)
		sprintf(entry + strlen(entry), "/%u", length);
	return baleen_keys_add(keys, entry);
}

static void keep_first(void *data, const struct baleen_list_problem *problem)
{
	bool *is_bad = data;

	if (!*is_bad)
		baleen_list_problem_fail(problem, api_error());
	*is_bad = true;
}

int baleen_keys_read(struct baleen_keys *keys, const char *path)
{
	bool is_bad = false;
	const struct baleen_list_reader reader = { .on_bad = keep_first, .data = &is_bad };
	int fd, err = check_open(keys);

	if (err)
		return err;
	fd = baleen_input_open(path, BALEEN_INPUT_TYPED, api_error());
	if (fd < 0)
		return fd;
	err = baleen_list_read(&keys->list, fd, path, &reader, api_error());
	close(fd);
	return !err && is_bad ? -EINVAL : err;
}

int api_keys_finish(struct baleen_keys *keys)
{
	if (keys->is_final)
		return 0;
	keys->has_exceptions = baleen_list_has_exceptions(&keys->list);
	if (baleen_list_finish(&keys->list))
		return baleen_no_memory(api_error());
	keys->is_final = true;
	return 0;
}
