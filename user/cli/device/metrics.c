// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen metrics: what monitoring wants to know, as text. */
#include <stdlib.h>

#include "cli/common/options.h"
#include "net/device.h"
#include "ops/image_file.h"
#include "report/metrics_source.h"

struct options {
	const char *out;
	u32 format; /* enum baleen_metrics_format */
};

/* A slip of the finger shall not replace a list by metrics. */
static bool may_replace(const char *path)
{
	static const char *const starts[] = { "# HELP baleen_", "# TYPE baleen_", "# EOF" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (baleen_file_may_replace(path, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static int put_file(const struct baleen_metrics_source *source, const struct options *options)
{
	struct baleen_error error;

	if (!may_replace(options->out))
		return complain("%s: exists and holds no metrics: not overwritten", options->out);
	if (baleen_metrics_write(source, options->format, options->out, BALEEN_OUTPUT_TYPED,
				 &error))
		return complain("%s", error.text);
	return EXIT_DONE;
}

static int put_stdout(const struct baleen_metrics_source *source, const struct options *options)
{
	struct baleen_error error;
	size_t n_bytes;
	char *text;

	if (baleen_metrics_format(source, options->format, &text, &n_bytes, &error))
		return complain("%s", error.text);
	fwrite(text, 1, n_bytes, stdout);
	free(text);
	return finish_output(EXIT_DONE);
}

static int put(char **devices, int n_devices, const struct options *options)
{
	struct baleen_metrics_source source = { 0 };
	struct baleen_error error;
	int err;

	if (baleen_metrics_collect(&source, devices, n_devices, NULL, &error)) {
		err = complain("%s", error.text);
	} else if (options->out) {
		err = put_file(&source, options);
	} else {
		err = put_stdout(&source, options);
	}
	baleen_metrics_free(&source);
	return err;
}

static int parse_openmetrics(const struct option_use *use)
{
	*(u32 *)use->to = BALEEN_METRICS_OPENMETRICS;
	return 0;
}

static int run(int argc, char **argv)
{
	struct options options = { .format = BALEEN_METRICS_PROMETHEUS };
	struct baleen_error error;
	int err = options_parse(&metrics_command, &options, &argc, &argv);

	if (err)
		return err;
	if (baleen_device_privileges(&error))
		return complain("%s", error.text);
	return put(argv, argc, &options);
}

static const struct option_spec table[] = {
	VALUE("openmetrics", 0, NULL, parse_openmetrics, options, format,
	      "OpenMetrics 1.0; otherwise the Prometheus text format 0.0.4, which node_exporter's "
	      "textfile collector reads"),
	VALUE("output", 'o', "FILE", option_text, options, out,
	      "replace FILE, whole or not at all, readable for everybody; another file that is "
	      "there is not overwritten, unless it holds metrics"),
	{ 0 },
};

const struct command metrics_command = {
	.name = "metrics",
	.synopsis = "[--openmetrics] [-o FILE] [DEV...]",
	.help = "Prints the metrics of these devices, or of all that have a filter or rules that are\n"
		"kept, for Prometheus and its kin. What is not known is left out; a device that\n"
		"cannot be read, or has no filter, is one with baleen_device_attached 0, and no\n"
		"failure. Times are seconds since 1970. Of a feed's URL the name, the password and\n"
		"the query are left out.\n",
	.options = table,
	.run = run,
};
