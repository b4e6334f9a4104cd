// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleend --serve-digest: the server behind `baleen icp serve`, in the foreground. */
#include <stdio.h>

#include "cli/icp/icp_serve.h"
#include "daemon/digest_server.h"
#include "net/listen_address.h"
#include "util/input.h"
#include "util/number.h"
#include "util/signals.h"

/**
 * struct service - a run of the server
 * @server: how to serve
 * @maker: maker of the digest
 * @json: say what is served as JSON
 */
struct service {
	struct digest_server server;
	struct digest_maker maker;
	bool json;
};

static json_t *describe(const char *url, const struct digest_document *document)
{
	const struct baleen_digest *digest = &document->digest;

	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:f}", "url", url, "bits",
			 (json_int_t)digest->mask_bytes * 8, "entries", (json_int_t)digest->count,
			 "capacity", (json_int_t)digest->capacity, "bits_per_entry",
			 (json_int_t)digest->bits_per_entry, "share", document->share);
}

/* Prints one line when it listens: port 0 means any port, and the line has the real one. */
static void on_ready(const struct digest_server *server, u32 port)
{
	const struct service *service = (const struct service *)server;
	const struct digest_document *document = service->maker.now;
	const struct baleen_digest *digest = &document->digest;
	char url[128], bits[NUMBER_TEXT], count[NUMBER_TEXT], capacity[NUMBER_TEXT];
	char address[BALEEN_LISTEN_TEXT];

	snprintf(url, sizeof(url), "http://%s" DIGEST_PATH,
		 baleen_listen_format(&server->address, port, address));
	if (service->json) {
		json_t *json = describe(url, document);

		json_dumpf(json, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
		putchar('\n');
		json_decref(json);
	} else {
		printf("%s: %s %s in %s bits, %.1f %% of them set; its head says room for %s with "
		       "%u bits each\n",
		       url, format_count(digest->count, count),
		       baleen_plural(digest->count, "entry", "entries"),
		       format_count(digest->mask_bytes * 8ull, bits), 100 * document->share,
		       format_count(digest->capacity, capacity), digest->bits_per_entry);
	}
	fflush(stdout);
}

static struct service service_of(const struct icp_serve *serve)
{
	return (struct service){
		.server = {
			.address = serve->address,
			.pause_ms = serve->pause_ms,
			.max_age_s = serve->max_age_s,
		},
		.maker = {
			.options = serve->lists,
			.paths = serve->paths,
			.n_paths = serve->n_paths,
		},
		.json = serve->json,
	};
}

int serve_digest(int argc, char **argv)
{
	struct service service;
	struct icp_serve serve;
	int err = icp_serve_parse(&serve, argc, argv);

	if (err)
		return err;
	service = service_of(&serve);
	service.server.maker = &service.maker;
	/* It reads them again when nobody is there any more. */
	service.maker.options.input = BALEEN_INPUT_NAMED;
	err = digest_maker_start(&service.maker);
	if (!err) {
		/* Never released: a signal that came would end the process before its cleanup. */
		baleen_signals_hold(NULL);
		err = digest_serve(&service.server, on_ready);
	}
	digest_maker_stop(&service.maker);
	return err;
}
