// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleend: maintains what the kernel enforces; started by systemd, or by hand. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/icp/icp_serve.h"
#include "daemon.h"
#include "daemon/digest_server.h"
#include "net/device.h"
#include "release.h"
#include "util/number.h"
#include "util/signals.h"

#define DEFAULT_LISTEN "127.0.0.1:9733"
#define DEFAULT_COMMAND "/usr/sbin/baleen"
/* Some 20,000 changes of a route. */
#define DEFAULT_ROUTE_BUFFER 4000000
#define MAX_ROUTE_BUFFER 1000000000

static const char usage[] =
	"usage: baleend [OPTION...]\n\n"
	"Maintains the filters that baleen puts on devices: removes expired entries, updates\n"
	"feeds, restores the filters of devices that come back, writes sampled drops to the\n"
	"journal, bans who goes over a limit, serves metrics. The kernel filters packets whether baleend runs or not.\n\n"
	"  --listen ADDRESS:PORT  metrics over HTTP (127.0.0.1:9733), or off\n"
	"  --textfile FILE        metrics for node_exporter, every 15 s\n"
	"  --command FILE         the command that updates feeds (/usr/sbin/baleen)\n"
	"  --no-drops             do not read the sampled drops\n"
	"  --route-buffer BYTES   what the kernel may keep of changes of routes (4M)\n"
	"  --serve-digest ...     serve a cache digest instead: see 'baleen help icp serve'\n"
	"  -V, --version          the release\n"
	"  -h, --help             this text\n";

static int parse_route_buffer(struct daemon_options *options)
{
	u64 bytes;

	if (baleen_count_parse(optarg, &bytes) || bytes > MAX_ROUTE_BUFFER) {
		fprintf(stderr, "baleend: --route-buffer '%s': not a count from 1 to 1G\n", optarg);
		return -EINVAL;
	}
	options->route_buffer = bytes;
	return 0;
}

/* 0 to go on, else the exit status + 1. */
static int parse(struct daemon_options *options, int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "listen", required_argument, NULL, 'l' },
		{ "textfile", required_argument, NULL, 't' },
		{ "command", required_argument, NULL, 'c' },
		{ "no-drops", no_argument, NULL, 'n' },
		{ "route-buffer", required_argument, NULL, 'r' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "Vh", long_options, NULL)) != -1) {
		switch (option) {
		case 'l': options->listen = strcmp(optarg, "off") ? optarg : NULL; break;
		case 't': options->textfile = optarg; break;
		case 'c': options->command = optarg; break;
		case 'n': options->no_drops = true; break;
		case 'r':
			if (parse_route_buffer(options))
				return 3;
			break;
		case 'V': puts("baleend " BALEEN_RELEASE); return 1;
		case 'h': fputs(usage, stdout); return 1;
		default: fputs("baleend: see 'baleend --help'\n", stderr); return 3;
		}
	}
	if (optind == argc)
		return 0;
	fprintf(stderr, "baleend: '%s': takes no arguments\n", argv[optind]);
	return 3;
}

int main(int argc, char **argv)
{
	struct daemon daemon = { .link_fd = -1,
				 .options = { .listen = DEFAULT_LISTEN,
					      .command = DEFAULT_COMMAND,
					      .route_buffer = DEFAULT_ROUTE_BUFFER },
				 .clock = -1,
				 .lock = -1 };
	struct baleen_error error;
	int err;

	baleen_signals_to_errors();
	if (argc > 1 && !strcmp(argv[1], ICP_SERVE_OPTION)) {
		/* getopt_long() starts its messages with it. */
		argv[1] = "baleen";
		return serve_digest(argc - 1, argv + 1);
	}
	err = parse(&daemon.options, argc, argv);
	if (err)
		return err - 1;
	if (baleen_device_privileges(&error)) {
		fprintf(stderr, "baleend: %s\n", error.text);
		return EXIT_FAILURE;
	}
	daemon.me.started_s = time(NULL);
	return daemon_loop(&daemon) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
