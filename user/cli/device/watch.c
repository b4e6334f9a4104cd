// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen watch: the sampled events of a device, as they come. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/options.h"
#include "key/key_text.h"
#include "net/capture.h"
#include "util/protocol.h"
#include "xdp/events.h"

/* How long a signal or the end of a filter may go unnoticed. */
#define LOOK_MS 250

/* Events that are shown after the signal to stop: more than a ring buffer holds. */
#define MAX_LEFT 10000

struct options {
	const char *device;
	const char *capture;
	u64 max_events;
	bool json;
};

struct watch {
	struct baleen_events events;
	struct baleen_capture capture;
	u64 n_shown;
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = signal;
}

/* The second signal ends us as if there were no handler: the first may have come
 * while nobody read what we write.
 */
static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = stop, .sa_flags = SA_RESTART | SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* --- an event as text ------------------------------------------------------ */

#define ADDRESS_TEXT (BALEEN_KEY_TEXT + 10)

static const char *verdict_text(const struct baleen_event *event)
{
	if (event->action == BALEEN_ACTION_COUNT)
		return "count";
	return event->dry_run ? "would-drop" : "drop";
}

static const char *rule_text(const struct baleen_sighting *seen)
{
	if (seen->event->slot == BALEEN_EVENT_DEFAULT)
		return "(default)";
	if (seen->event->slot == BALEEN_EVENT_UNPARSED)
		return "(unparsed)";
	return seen->rule ? seen->rule->image.name : "(removed)";
}

static bool is_ip(const struct baleen_sighting *seen)
{
	return seen->parse == BALEEN_PARSE_IP4 || seen->parse == BALEEN_PARSE_IP6;
}

static bool has_ports(const struct baleen_sighting *seen)
{
	return seen->transport.has_ports && baleen_proto_has_ports(seen->transport.proto);
}

/* Names the protocol above IP, another protocol, or the reason why it is neither. */
static const char *protocol_text(const struct baleen_sighting *seen, char *text)
{
	switch (seen->parse) {
	case BALEEN_PARSE_IP4:
	case BALEEN_PARSE_IP6:
		return seen->transport.has_proto ?
			       baleen_protocol_text(seen->transport.proto, text) :
			       "-";
	case BALEEN_PARSE_NOT_IP:
		snprintf(text, BALEEN_PROTOCOL_TEXT, "0x%04x",
			 baleen_be16((u16)seen->packet.type_be));
		return text;
	case BALEEN_PARSE_MPLS: return "mpls";
	case BALEEN_PARSE_TAGS: return "tags";
	case BALEEN_PARSE_VERSION: return "version";
	case BALEEN_PARSE_SHORT: return "short";
	}
	return "-";
}

static const char *key_text(const struct baleen_sighting *seen, char *text)
{
	if (!seen->has_key)
		return "-";
	baleen_key_format(&seen->key, seen->rule->image.key_spec, text);
	return text;
}

/* @spec: BALEEN_KEY_SRC or BALEEN_KEY_DST */
static const char *address_text(const struct baleen_sighting *seen, u32 spec, char *text)
{
	struct baleen_key key = baleen_key_fields(spec, &seen->fields);

	baleen_key_format(&key, spec, text);
	return text;
}

/* An address with its port, as in a URL. */
static const char *end_text(const struct baleen_sighting *seen, u32 spec, char *text)
{
	u16 port = spec == BALEEN_KEY_SRC ? seen->fields.sport : seen->fields.dport;
	char address[BALEEN_KEY_TEXT];

	if (!is_ip(seen))
		return "-";
	address_text(seen, spec, address);
	if (!has_ports(seen))
		snprintf(text, ADDRESS_TEXT, "%s", address);
	else if (seen->fields.is_ip6)
		snprintf(text, ADDRESS_TEXT, "[%s]:%u", address, port);
	else
		snprintf(text, ADDRESS_TEXT, "%s:%u", address, port);
	return text;
}

static void format_time(const struct timespec *time, const struct tm *parts, const char *format,
			char *text, size_t bytes)
{
	size_t n = strftime(text, bytes, format, parts);

	snprintf(text + n, bytes - n, ".%03ld", time->tv_nsec / 1000000);
}

/* --- one event out --------------------------------------------------------- */

/* Columns grow to what they have had to hold: aligned from then on. */
static void print_column(const char *text, int *width)
{
	int length = strlen(text);

	if (length > *width)
		*width = length;
	say("  %-*s", *width, text);
}

static void print_line(const struct baleen_sighting *seen)
{
	static int width[] = { 4, 8, 15, 4, 15, 15 };
	char time[40], key[BALEEN_KEY_TEXT], protocol[BALEEN_PROTOCOL_TEXT];
	char src[ADDRESS_TEXT], dst[ADDRESS_TEXT];
	struct tm parts;

	localtime_r(&seen->time.tv_sec, &parts);
	format_time(&seen->time, &parts, "%F %T", time, sizeof(time));
	say("%s", time);
	print_column(verdict_text(seen->event), &width[0]);
	print_column(rule_text(seen), &width[1]);
	print_column(key_text(seen, key), &width[2]);
	print_column(protocol_text(seen, protocol), &width[3]);
	print_column(end_text(seen, BALEEN_KEY_SRC, src), &width[4]);
	print_column(end_text(seen, BALEEN_KEY_DST, dst), &width[5]);
	say("  %5u", seen->event->frame_bytes);
	if (seen->packet.vlan != BALEEN_VLAN_NONE)
		say("  vlan %u", seen->packet.vlan);
	putchar('\n');
}

static void set_ip(json_t *json, const struct baleen_sighting *seen)
{
	char text[BALEEN_KEY_TEXT];

	json_object_set_new(json, "src", json_string(address_text(seen, BALEEN_KEY_SRC, text)));
	json_object_set_new(json, "dst", json_string(address_text(seen, BALEEN_KEY_DST, text)));
	if (!has_ports(seen))
		return;
	json_object_set_new(json, "sport", json_integer(seen->fields.sport));
	json_object_set_new(json, "dport", json_integer(seen->fields.dport));
}

/* Leaves out members that the frame does not have. */
static void print_object(const struct baleen_sighting *seen)
{
	char text[BALEEN_KEY_TEXT];
	json_t *json = json_object();
	struct tm parts;

	gmtime_r(&seen->time.tv_sec, &parts);
	format_time(&seen->time, &parts, "%FT%T", text, sizeof(text) - 1);
	strcat(text, "Z");
	json_object_set_new(json, "time", json_string(text));
	json_object_set_new(json, "verdict", json_string(verdict_text(seen->event)));
	json_object_set_new(json, "rule", json_string(rule_text(seen)));
	if (seen->has_key)
		json_object_set_new(json, "key", json_string(key_text(seen, text)));
	json_object_set_new(json, "proto", json_string(protocol_text(seen, text)));
	if (is_ip(seen))
		set_ip(json, seen);
	if (seen->packet.vlan != BALEEN_VLAN_NONE)
		json_object_set_new(json, "vlan", json_integer(seen->packet.vlan));
	json_object_set_new(json, "bytes", json_integer(seen->event->frame_bytes));
	json_object_set_new(json, "captured", json_integer(seen->event->n_captured));
	print_json_line(json, JSON_COMPACT);
	putchar('\n');
}

static int put(struct watch *watch, const struct options *options,
	       const struct baleen_sighting *seen)
{
	struct baleen_error error;

	if (options->capture) {
		if (!baleen_capture_add(&watch->capture, &seen->time, seen->event->frame,
					seen->event->n_captured, seen->event->frame_bytes, &error))
			return EXIT_DONE;
		if (errno != EPIPE)
			complain("%s", error.text);
		return EXIT_FAILED;
	}
	if (options->json)
		print_object(seen);
	else
		print_line(seen);
	return finish_output(EXIT_DONE);
}

/* --- the command ----------------------------------------------------------- */

static int watch_on(struct watch *watch, const struct options *options)
{
	struct baleen_sighting seen;
	struct baleen_error error;
	u32 n_left = MAX_LEFT;
	bool last;
	int n, err;

	while (!options->max_events || watch->n_shown < options->max_events) {
		/* The signal interrupts the wait: what is there is still to be read. */
		last = stopped;
		n = baleen_events_next(&watch->events, last ? 0 : LOOK_MS, &seen, &error);
		if (n < 0)
			return complain("%s", error.text);
		if (last && (!n || !n_left--))
			break;
		if (!n)
			continue;
		err = put(watch, options, &seen);
		if (err)
			return err;
		watch->n_shown++;
	}
	return EXIT_DONE;
}

static void print_summary(const struct watch *watch)
{
	char shown[NUMBER_TEXT], lost[NUMBER_TEXT], not_sampled[NUMBER_TEXT];
	struct baleen_error error;
	u64 n_lost, n_not_sampled;

	if (baleen_events_missed(&watch->events, &n_lost, &n_not_sampled, &error)) {
		complain("%s", error.text);
		return;
	}
	complain("%s: %s event%s shown, %s lost, %s not sampled", watch->events.xdp.device,
		 format_count(watch->n_shown, shown), watch->n_shown == 1 ? "" : "s",
		 format_count(n_lost, lost), format_count(n_not_sampled, not_sampled));
}

static int watch_device(const struct options *options)
{
	struct watch watch = { .n_shown = 0 };
	struct baleen_error error;
	int result;

	if (baleen_events_open(&watch.events, options->device, &error))
		return complain("%s", error.text);
	if (options->capture &&
	    baleen_capture_open(&watch.capture, options->capture, BALEEN_EVENT_BYTES, &error)) {
		complain("%s", error.text);
		baleen_events_close(&watch.events);
		return EXIT_FAILED;
	}
	catch_signals();
	complain("watching %s", watch.events.xdp.device);
	result = watch_on(&watch, options);
	print_summary(&watch);
	if (options->capture)
		baleen_capture_close(&watch.capture);
	baleen_events_close(&watch.events);
	return result;
}

static int parse_max_events(const struct option_use *use)
{
	return parse_count(use->argument, use->to) ?
		       complain_usage(use->command, "'%s': no number of events", use->argument) :
		       0;
}

static int run(int argc, char **argv)
{
	struct options options = { .max_events = 0 };
	int err = options_parse(&watch_command, &options, &argc, &argv);

	if (err)
		return err;
	if (options.json && options.capture)
		return complain_usage(&watch_command, "-j and -w exclude each other");
	options.device = *argv;
	return watch_device(&options);
}

static const struct option_spec table[] = {
	VALUE("count", 'c', "N", parse_max_events, options, max_events, "end after N events"),
	FLAG("json", 'j', options, json,
	     "one object per line; what a frame does not have is left out"),
	VALUE("write", 'w', "FILE", option_text, options, capture,
	      "write the frames, cut after 192 bytes, as pcap and print nothing; '-' is stdout. "
	      "Another file that is there is not overwritten, unless it is a capture"),
	{ 0 },
};

const struct command watch_command = {
	.name = "watch",
	.synopsis = "[-j | -w FILE] [-c N] DEV",
	.help = "Prints the sampled events of a device as they come: frames that are dropped, or would\n"
		"be if this were no dry run, and frames that a rule counts. 'baleen policy DEV --sample\n"
		"100/s' starts the sampling. One line each: time, verdict, rule, key of the rule,\n"
		"protocol, source, destination, length in bytes, VLAN. '(default)' is the default\n"
		"policy, '(unparsed)' the same for frames that are not IP or damaged; what a frame\n"
		"does not have is '-'. Only the first 192 bytes of a frame are looked at, and times\n"
		"are as coarse as the kernel's tick.\n\n"
		"Ends with Ctrl-C, and tells on stderr how many events were shown, how many lost\n"
		"because nobody took them in time, and how many frames the rate left out. One watcher\n"
		"per device. Exit: 1 also when the filter is taken off, or sampling stopped, meanwhile.\n",
	.options = table,
	.asks = { 1, 1, "one device is asked for" },
	.run = run,
};
