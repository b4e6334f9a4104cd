// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen icp detach: nobody is answered for any more. */
#include <errno.h>
#include <getopt.h>

#include "icp_gone.h"
#include "icp_verbs.h"

enum {
	OPTION_GONE = 256,
};

static int report(const char *what, bool json)
{
	if (json)
		return print_json(json_pack("{s:o}", "detached", json_text(what)));
	printf("%s: detached\n", what);
	return finish_output(EXIT_DONE);
}

static int detach(const char *device, bool json)
{
	struct baleen_error error;

	if (baleen_device_privileges(&error) || baleen_icp_detach(device, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	return report(device, json);
}

/* @data: the JSON array, or NULL to print. */
static void tell(const struct baleen_gone *gone, void *data)
{
	const char *device = gone->device[0] ? gone->device : "?";

	if (data)
		json_array_append_new(data, json_pack("{s:o, s:i, s:I}", "device",
						      json_text(device), "ifindex", gone->ifindex,
						      "namespace", (json_int_t)gone->netns_cookie));
	else
		printf("%s: forgotten (namespace %llu)\n", device,
		       (unsigned long long)gone->netns_cookie);
}

static int forget_gone(bool json)
{
	json_t *all = json ? json_array() : NULL;
	struct baleen_error error;
	int result = EXIT_DONE;

	if (baleen_device_privileges(&error) || baleen_icp_forget_gone(tell, all, &error)) {
		complain("%s", error.text);
		result = EXIT_FAILED;
	}
	if (!all)
		return finish_output(result);
	return print_json(all) || result ? EXIT_FAILED : EXIT_DONE;
}

static int run(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "gone", no_argument, NULL, OPTION_GONE },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	bool json = false, gone = false;
	int option;

	while ((option = getopt_long(argc, argv, "j", long_options, NULL)) != -1) {
		switch (option) {
		case 'j': json = true; break;
		case OPTION_GONE: gone = true; break;
		default:
			fprintf(stderr, "baleen: see 'baleen help icp detach'\n");
			return EXIT_USAGE;
		}
	}
	if (gone && optind < argc)
		return complain_usage(&icp_detach_command, "--gone takes no device");
	if (gone)
		return forget_gone(json);
	if (argc - optind != 1)
		return complain_usage(&icp_detach_command, "one device is asked for");
	return detach(argv[optind], json);
}

const struct command icp_detach_command = {
	.name = "icp detach",
	.synopsis = "[-j] DEV | --gone",
	.help = "Takes the programs off, with all that they knew and counted; the caches are asked\n"
		"themselves again.\n\n"
		"  --gone           forget what is left of devices that no longer exist, in all network\n"
		"                   namespaces; a namespace is told by its cookie\n"
		"  -j, --json       say so as JSON; with --gone, an array\n",
	.run = run,
};
