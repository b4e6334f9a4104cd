// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints the addresses that must not be dropped on a device: host DEV
 *
 * One `ROLE ADDRESS` a line. Formats with the C library, so that a test does
 * not compare the library with itself.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>

#include <net/host.h>

static void print(const struct baleen_host_address *address)
{
	const struct baleen_key *key = &address->key;
	u64 half_be[2] = { baleen_be64(key->hi), baleen_be64(key->lo) };
	u32 ip4_be = baleen_be32(key->ip4);
	char text[INET6_ADDRSTRLEN];

	if (key->domain == BALEEN_IP4)
		inet_ntop(AF_INET, &ip4_be, text, sizeof(text));
	else
		inet_ntop(AF_INET6, half_be, text, sizeof(text));
	printf("%s %s\n", baleen_host_role_text(address->role), text);
}

int main(int argc, char **argv)
{
	struct baleen_host host = { 0 };
	struct baleen_error error;

	if (argc != 2 || !if_nametoindex(argv[1])) {
		fprintf(stderr, "usage: host DEV\n");
		return 2;
	}
	if (baleen_host_survey(&host, if_nametoindex(argv[1]), &error)) {
		fprintf(stderr, "host: %s\n", error.text);
		return 1;
	}
	for (size_t i = 0; i < host.n; i++)
		print(&host.address[i]);
	baleen_host_free(&host);
	return 0;
}
