// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen set publish: lists become the next generation of a set. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/open/list_file.h"
#include "cli/set/set_verbs.h"
#include "fleet/fleet_site.h"
#include "set/set_publish.h"
#include "util/duration.h"
#include "util/number.h"

#define DEFAULT_DELTAS 7
#define DEFAULT_CANARIES 1
#define MOST_HOSTS 1000000

struct publish {
	struct baleen_set_publish how;
	struct list_options lists;
	u64 expires_ms;
	bool shows_source;
	char *source;
	u32 n_hosts;
	bool json;
};

static int parse_name(const struct option_use *use)
{
	const char **name = use->to;

	*name = use->argument;
	return baleen_set_name_is(*name) ?
		       0 :
		       option_refuse(use,
				     "not a name of letters, digits, '.', '-' and '_', or it ends "
				     "in a dash and a number as its files do");
}

static int parse_expires(const struct option_use *use)
{
	u64 *ms = use->to;

	if (!baleen_duration_parse(use->argument, ms) && *ms >= 1000)
		return 0;
	return option_refuse(use, "not a span of time such as 7d");
}

static int parse_up_to(const struct option_use *use, u32 most)
{
	u32 *n = use->to;
	char *end;
	unsigned long got = strtoul(use->argument, &end, 10);

	if (*end || end == use->argument || *use->argument == '-' || got > most)
		return option_refuse(use, "not a number from 0 to %u", most);
	*n = got;
	return 0;
}

static int parse_deltas(const struct option_use *use)
{
	return parse_up_to(use, BALEEN_SET_DELTAS);
}

/* Below 2^62: there are always later ones. */
static int parse_generation(const struct option_use *use)
{
	u64 *n = use->to;
	char *end;
	unsigned long long got = strtoull(use->argument, &end, 10);

	if (*end || end == use->argument || *use->argument == '-' || !got || got >= 1ull << 62)
		return option_refuse(use, "not a number of a generation");
	*n = got;
	return 0;
}

static int parse_rings(const struct option_use *use)
{
	const char *why = baleen_set_rollout_parse(use->argument, use->to);

	return why ? option_refuse(use, "%s", why) : 0;
}

static int parse_canaries(const struct option_use *use)
{
	return parse_up_to(use, BALEEN_SET_CANARIES_MAX);
}

static int parse_hosts(const struct option_use *use)
{
	return parse_up_to(use, MOST_HOSTS);
}

/* --- what came out ------------------------------------------------------------- */

static json_t *describe_part(const struct baleen_set_manifest *manifest,
			     const struct baleen_set_part *part)
{
	char name[BALEEN_SET_FILE_NAME];

	baleen_set_part_name(manifest->name, manifest->head.generation, part->from, name);
	return json_pack("{s:s, s:I, s:I}", "file", name, "from", (json_int_t)part->from, "bytes",
			 (json_int_t)part->n_bytes);
}

static int report_json(const struct baleen_set_published *published)
{
	const struct baleen_set_manifest *manifest = &published->manifest;
	json_t *json = describe_generation(manifest->name, &manifest->head);
	json_t *files = json_array();

	json_array_append_new(files, describe_part(manifest, &manifest->full));
	for (u32 i = 0; i < manifest->n_deltas; i++)
		json_array_append_new(files, describe_part(manifest, &manifest->delta[i]));
	json_object_set_new(json, "previous", json_integer(manifest->previous));
	json_object_set_new(json, "files", files);
	json_object_set_new(json, "rings", describe_rings(&manifest->rollout));
	json_object_set_new(json, "unchanged", json_boolean(published->is_unchanged));
	return print_json(json);
}

/* --- who is in which ring --------------------------------------------------------- */

/**
 * struct ring_hosts - hosts of each ring
 * @n: of each; without names, as many as there should be
 * @of: of how many
 * @fleet: whose; empty when only their number is known
 */
struct ring_hosts {
	double n[BALEEN_SET_RINGS];
	u64 of;
	char fleet[BALEEN_FLEET_NAME_BYTES];
};

/* By name, where this host is in a fleet whose policy knows them. */
static bool count_fleet(const struct baleen_set_manifest *manifest, struct ring_hosts *hosts)
{
	struct baleen_fleet_policy policy = { 0 };
	struct baleen_fleet_conf conf;

	if (baleen_fleet_conf_read(&conf, NULL) ||
	    baleen_fleet_site_policy(&conf, &policy, NULL, NULL))
		return false;
	for (size_t i = 0; i < policy.n_hosts; i++)
		hosts->n[baleen_set_ring_of(&manifest->rollout, manifest->name, policy.host[i].name,
					    0) -
			 1]++;
	hosts->of = policy.n_hosts;
	strcpy(hosts->fleet, policy.fleet);
	baleen_fleet_policy_free(&policy);
	return true;
}

static void count_share(const struct baleen_set_rollout *rollout, u32 n, struct ring_hosts *hosts)
{
	hosts->of = n;
	for (u32 i = 0; i < rollout->n_rings; i++)
		hosts->n[i] = n / 100.0 *
			      (rollout->ring[i].percent - (i ? rollout->ring[i - 1].percent : 0));
}

static bool count_hosts(const struct publish *publish, const struct baleen_set_manifest *manifest,
			struct ring_hosts *hosts)
{
	if (!manifest->rollout.n_rings)
		return false;
	if (publish->n_hosts)
		count_share(&manifest->rollout, publish->n_hosts, hosts);
	return publish->n_hosts || count_fleet(manifest, hosts);
}

/* Canaries that nobody is never say that it is good. */
static void tell_rings(const struct publish *publish, const struct baleen_set_manifest *manifest)
{
	struct ring_hosts hosts = { .of = 0 };

	if (!count_hosts(publish, manifest, &hosts))
		return;
	for (u32 i = 0; i < manifest->rollout.n_rings; i++) {
		if (!publish->json)
			say("  ring %u, up to %u %%: %s%.*f of %llu hosts\n", i + 1,
			    manifest->rollout.ring[i].percent, *hosts.fleet ? "" : "about ",
			    *hosts.fleet ? 0 : 1, hosts.n[i], (unsigned long long)hosts.of);
		if (hosts.n[i] < 1)
			complain("warning: ring %u has %s: %s", i + 1,
				 *hosts.fleet ? "no host" :
						"less than one host, so it may have none",
				 i ? "the next one goes on after its soak" :
				     "nobody tries it before the others");
	}
}

static void warn_overtaken(const struct baleen_set_published *published)
{
	if (published->overtaken_until_s)
		complain("warning: generation %llu was on its way to all hosts until %s: hosts "
			 "that do not have it wait for generation %llu instead",
			 (unsigned long long)published->overtaken,
			 baleen_set_time(published->overtaken_until_s).text,
			 (unsigned long long)published->manifest.head.generation);
}

static int report(const struct publish *publish, const struct baleen_set_published *published)
{
	const struct baleen_set_manifest *manifest = &published->manifest;
	char entries[NUMBER_TEXT], full[NUMBER_TEXT], delta[NUMBER_TEXT];
	u64 n = manifest->head.n_entries;

	say("%s: generation %llu, %s %s, %s", manifest->name,
	    (unsigned long long)manifest->head.generation, format_count(n, entries),
	    baleen_plural(n, "entry", "entries"), format_bytes(manifest->full.n_bytes, full));
	if (manifest->n_deltas)
		say("; from generation %llu %s", (unsigned long long)manifest->delta[0].from,
		    format_bytes(manifest->delta[0].n_bytes, delta));
	if (published->is_unchanged)
		fputs("; unchanged, no new generation", stdout);
	else if (manifest->rollout.n_rings)
		say("; %u %s until %s", manifest->rollout.n_rings,
		    baleen_plural(manifest->rollout.n_rings, "ring", "rings"),
		    baleen_set_time(baleen_set_ring_due_s(&manifest->rollout,
							  manifest->head.created_s,
							  manifest->rollout.n_rings))
			    .text);
	putchar('\n');
	tell_rings(publish, manifest);
	return finish_output(EXIT_DONE);
}

/* --- the lists ----------------------------------------------------------------- */

/* Appends what is read of the list anew, as it was before the next one. */
static int append_source(struct publish *publish, int fd, const char *path)
{
	size_t n = publish->how.n_source;
	struct stat stat;
	char *source;

	if (fstat(fd, &stat))
		return complain("%s: %m", path);
	source = realloc(publish->source, n + stat.st_size + 1);
	if (!source)
		return complain("%s", strerror(ENOMEM));
	publish->source = source;
	if (pread(fd, source + n, stat.st_size, 0) != stat.st_size)
		return complain("%s: %s", path, strerror(EIO));
	n += stat.st_size;
	if (n && source[n - 1] != '\n')
		source[n++] = '\n';
	publish->how.n_source = n;
	return 0;
}

static int read_list(struct publish *publish, const char *path, struct baleen_list *list)
{
	int fd, err;

	if (!publish->shows_source)
		return list_file_read(list, path, &publish->lists);
	fd = list_file_open(path, BALEEN_INPUT_TYPED);
	if (fd < 0)
		return EXIT_FAILED;
	err = append_source(publish, fd, path);
	if (!err)
		err = list_file_read_lines(list, fd, path, &publish->lists);
	close(fd);
	return err;
}

static int read_lists(struct publish *publish, char **paths, int n, struct baleen_canon *canon)
{
	struct baleen_list list = { .key_spec = BALEEN_KEY_SRC };
	struct baleen_error error;
	int err = 0;

	for (int i = 0; i < n && !err; i++)
		err = read_list(publish, paths[i], &list);
	if (!err && baleen_canon_of_list(&list, canon, &error))
		err = complain("%s", error.text);
	baleen_list_free(&list);
	return err;
}

static int run(int argc, char **argv)
{
	struct publish publish = { .how.n_deltas = DEFAULT_DELTAS };
	struct baleen_set_rollout *rollout = &publish.how.rollout;
	struct baleen_set_published published;
	struct baleen_canon canon;
	struct baleen_error error;
	int err;

	rollout->n_canaries = DEFAULT_CANARIES;
	list_options_init(&publish.lists);
	err = options_parse(&set_publish_command, &publish, &argc, &argv);
	if (err)
		return err;
	if (!publish.how.directory || !publish.how.name || !publish.how.key)
		return complain_usage(&set_publish_command,
				      "-o DIR, --name NAME and --key FILE are asked for");
	if (!rollout->n_rings)
		rollout->n_canaries = 0;
	if (read_lists(&publish, argv, argc, &canon)) {
		free(publish.source);
		return EXIT_FAILED;
	}
	publish.how.source = publish.source;
	publish.how.now_s = time(NULL);
	if (publish.expires_ms)
		publish.how.expires_s = publish.how.now_s + publish.expires_ms / 1000;
	err = baleen_set_publish(&publish.how, &canon, &published, &error);
	baleen_canon_free(&canon);
	free(publish.source);
	if (err)
		return complain("%s", error.text);
	warn_overtaken(&published);
	if (publish.json)
		tell_rings(&publish, &published.manifest);
	return publish.json ? report_json(&published) : report(&publish, &published);
}

static const struct option_spec table[] = {
	VALUE("output", 'o', "DIR", option_text, publish, how.directory,
	      "the directory that the web server shows"),
	VALUE("name", 0, "NAME", parse_name, publish, how.name, "the name of the set"),
	VALUE("key", 0, "FILE", option_text, publish, how.key,
	      "the secret key, as 'baleen set keygen' or 'minisign -G -W' makes it"),
	VALUE("expires", 0, "TIME", parse_expires, publish, expires_ms,
	      "hosts refuse this generation when so long has passed, such as 7d; by default never"),
	VALUE("deltas", 0, "N", parse_deltas, publish, how.n_deltas,
	      "differences from so many earlier generations, 0 to 64 (7)"),
	VALUE("generation", 0, "N", parse_generation, publish, how.generation,
	      "its number, when the directory was lost: hosts refuse what is not above theirs; "
	      "by default the next one"),
	VALUE("rings", 0, "RINGS", parse_rings, publish, how.rollout,
	      "percents of hosts that take it one after the other, and how long the next ring waits, "
	      "such as 1:1h,10:4h,50:12h,100:1h, which is 'default'; by default all hosts at once"),
	VALUE("canaries", 0, "N", parse_canaries, publish, how.rollout.n_canaries,
	      "in a fleet so many hosts of the first ring have to say that it is good (1)"),
	VALUE("hosts", 0, "N", parse_hosts, publish, n_hosts,
	      "say how many of N hosts each ring has; those of the fleet by default, by name"),
	FLAG("source", 0, publish, shows_source,
	     "show the lists beside the set, for 'baleen why --source' to name the line of an entry"),
	FLAG("skip-bad", 0, publish, lists.skip_bad,
	     "pass over bad lines; otherwise they refuse a list"),
	FLAG("allow-empty", 0, publish, lists.allow_empty, "take a list without a key"),
	FLAG("json", 'j', publish, json, "an object"),
	{ 0 },
};

const struct command set_publish_command = {
	.name = "set publish",
	.synopsis = "[OPTION...] -o DIR --name NAME --key FILE LIST...",
	.help = "Makes the next generation of a set from lists of addresses, prefixes and ranges:\n"
		"the full set, the differences from earlier generations, and a signed manifest, which\n"
		"is written last. What fails or is killed leaves the earlier generation as it was.\n"
		"A list that has not changed makes no generation, unless --expires renews its end.\n",
	.options = table,
	.asks = { 1, INT_MAX, "what is published? LIST is missing" },
	.run = run,
};
