// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen why: what becomes of a packet, and because of which entry. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ban/why.h"
#include "cli/ban/why_source.h"
#include "cli/ban/why_url.h"
#include "cli/common/options.h"
#include "cli/open/devices.h"
#include "key/key_text.h"
#include "net/device.h"
#include "util/protocol.h"
#include "util/service.h"

/* A port of the range that hosts open connections from (RFC 6056). */
#define ANY_CLIENT_PORT 50000

/* --- arguments ------------------------------------------------------------- */

static int parse_number(const char *text, unsigned long max, unsigned long *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	*number = strtoul(text, &end, 10);
	return *end || *number > max ? -EINVAL : 0;
}

static int parse_port(const struct option_use *use)
{
	struct why *why = use->to;
	bool is_dport = use->spec->value;
	u16 port;

	if (baleen_service_parse(use->argument, &port))
		return option_refuse(use, "neither a port nor a service of /etc/services");
	*(is_dport ? &why->has_dport : &why->has_sport) = true;
	*(is_dport ? &why->question.fields.dport : &why->question.fields.sport) = port;
	return 0;
}

static int parse_vlan(const struct option_use *use)
{
	struct why *why = use->to;
	unsigned long number;

	if (parse_number(use->argument, 4094, &number) || !number)
		return option_refuse(use, "not 1 to 4094");
	why->question.vlan = number;
	return 0;
}

static int parse_protocol(const struct option_use *use)
{
	return baleen_protocol_parse(use->argument, use->to) ? option_refuse(use, "no protocol") :
							       0;
}

static int parse_shape(const struct option_use *use)
{
	static const char *const words[] = {
		[BALEEN_FRAME_CUT] = "cut",
		[BALEEN_FRAME_DEEP] = "deep",
		[BALEEN_FRAME_FRAGMENT] = "fragment",
	};
	struct why *why = use->to;

	for (u32 i = BALEEN_FRAME_CUT; i <= BALEEN_FRAME_FRAGMENT; i++) {
		if (!strcmp(use->argument, words[i])) {
			why->question.shape = i;
			return 0;
		}
	}
	return option_refuse(use, "not cut, deep or fragment");
}

/* @option: by which the other end was given, of another family than that; NULL: none */
static int parse_address(const char *text, bool is_src, const char *option,
			 struct baleen_question *question)
{
	struct baleen_fields *fields = &question->fields;
	struct baleen_key key;
	const char *reason;
	u64 *hi = is_src ? &fields->src_hi : &fields->dst_hi;
	u64 *lo = is_src ? &fields->src_lo : &fields->dst_lo;

	if (baleen_address_parse(text, &key, &reason))
		return complain_usage(&why_command, "'%s': %s", text, reason);
	if (option && fields->is_ip6 != (key.domain == BALEEN_IP6))
		return complain_usage(&why_command, "--%s %s: is of another family than the %s",
				      option, text, is_src ? "destination" : "source");
	if (question->shape == BALEEN_FRAME_DEEP && key.domain != BALEEN_IP6)
		return complain_usage(&why_command, "--shape deep: is of IPv6, and %s is not",
				      text);
	fields->is_ip6 = key.domain == BALEEN_IP6;
	*hi = fields->is_ip6 ? key.hi : 0;
	*lo = fields->is_ip6 ? key.lo : key.ip4;
	return 0;
}

/* The packet has only the fields of its protocol. */
static int fit_protocol(struct why *why)
{
	struct baleen_fields *fields = &why->question.fields;
	char protocol[BALEEN_PROTOCOL_TEXT];

	if (why->question.is_established && fields->proto != BALEEN_PROTO_TCP)
		return complain_usage(&why_command, "--established: is of tcp");
	if (why->question.shape == BALEEN_FRAME_CUT && !baleen_proto_has_ports(fields->proto))
		return complain_usage(&why_command, "--shape cut: %s has no ports to cut off",
				      baleen_protocol_text(fields->proto, protocol));
	if (baleen_proto_has_ports(fields->proto))
		return 0;
	if (why->has_dport || why->has_sport)
		return complain_usage(&why_command, "--%s: %s has no ports",
				      why->has_dport ? "dport" : "sport",
				      baleen_protocol_text(fields->proto, protocol));
	fields->sport = 0;
	return 0;
}

static int parse_addresses(struct why *why, const char *address)
{
	const char *other = why->is_egress ? why->src : why->dst;
	int err = parse_address(address, !why->is_egress, NULL, &why->question);

	if (!err && other)
		err = parse_address(other, why->is_egress, why->is_egress ? "src" : "dst",
				    &why->question);
	return err;
}

static int parse(struct why *why, int argc, char **argv)
{
	int err = options_parse(&why_command, why, &argc, &argv);
	struct baleen_key ignored;
	const char *reason;
	bool has_device;

	if (err)
		return err;
	why->is_of_urls = why_is_url(argv[argc > 1 && !why_is_url(*argv)]);
	has_device = why->is_of_urls ? !why_is_url(*argv) :
				       baleen_address_parse(*argv, &ignored, &reason);
	if (has_device && argc < 2)
		return complain_usage(&why_command, "%s: an address is asked for", *argv);
	why->device = has_device ? *argv : NULL;
	why->address = argv + has_device;
	why->n_addresses = argc - has_device;
	if (why->is_of_urls)
		return 0;
	why->is_egress = has_device && baleen_device_is_egress(why->device);
	if (why->is_egress ? why->dst : why->src)
		return complain_usage(&why_command, "--%s: ADDR is the %s of what %s",
				      why->is_egress ? "dst" : "src",
				      why->is_egress ? "destination" : "source",
				      why->is_egress ? "goes out" : "comes in");
	err = fit_protocol(why);
	for (u32 i = 0; i < why->n_addresses && !err; i++)
		err = parse_addresses(why, why->address[i]);
	return err;
}

/* --- command --------------------------------------------------------------- */

/* @source: NULL not to ask publishers; @all: descriptions, appended to; NULL for text */
static int explain_one(struct why *why, const char *address, struct baleen_explainer *explainer,
		       struct baleen_explanation *explanation, struct why_source *source,
		       json_t *all)
{
	const struct baleen_xdp *xdp = explainer->xdp;
	struct baleen_error error;

	/* Has been parsed before. */
	parse_addresses(why, address);
	if (baleen_explain(explainer, &why->question, explanation, &error))
		return complain("%s", error.text);
	if (source)
		why_source_find(source, xdp, &why->question, explanation);
	if (all)
		json_array_append_new(all, describe_why(why, address, xdp, explanation));
	else
		print_why(why, address, xdp, explanation);
	return why_differs(xdp, explanation) ? EXIT_FAILED : EXIT_DONE;
}

static int explain_all(struct why *why, struct baleen_explainer *explainer, json_t *all)
{
	struct baleen_explanation *explanation = malloc(sizeof(*explanation));
	struct why_source source = { .fd = -1 };
	int result = EXIT_DONE;

	if (!explanation)
		result = complain("%s", strerror(ENOMEM));
	for (u32 i = 0; i < why->n_addresses && explanation; i++)
		if (explain_one(why, why->address[i], explainer, explanation,
				why->source ? &source : NULL, all))
			result = EXIT_FAILED;
	why_source_close(&source);
	free(explanation);
	return result;
}

static int explain(struct why *why, const struct baleen_xdp *xdp, json_t *all)
{
	struct baleen_explainer explainer;
	struct baleen_error error;
	int result;

	if (baleen_explainer_open(&explainer, xdp, &error))
		return complain("%s", error.text);
	result = explain_all(why, &explainer, all);
	baleen_explainer_close(&explainer);
	return result;
}

static int on_device(struct why *why, json_t *all)
{
	struct baleen_error error;
	struct baleen_xdp xdp;
	int err;

	if (baleen_device_privileges(&error) || baleen_xdp_open(&xdp, why->device, false, &error))
		return complain("%s", error.text);
	if (xdp.attach_status != BALEEN_ATTACH_STATUS_ATTACHED)
		err = complain("%s: the filter is not in force here (%s)", why->device,
			       baleen_attach_status_text(xdp.attach_status));
	else
		err = explain(why, &xdp, all);
	baleen_xdp_close(&xdp);
	return err;
}

/* A source is of what comes in. */
static int on_each(struct why *why, json_t *all)
{
	struct devices devices = { 0 };
	int err = devices_with_filters(&devices), result = EXIT_DONE;
	size_t n = 0;

	for (size_t i = 0; i < devices.n && !err; i++) {
		if (baleen_device_is_egress(devices.name[i]))
			continue;
		n++;
		why->device = devices.name[i];
		if (on_device(why, all))
			result = EXIT_FAILED;
	}
	if (devices.is_partial)
		result = EXIT_FAILED;
	devices_free(&devices);
	if (!err && !n)
		err = complain("no device here has a filter of what comes in");
	return err ? err : result;
}

static int run(int argc, char **argv)
{
	struct why why = { .question = { .fields = { .proto = BALEEN_PROTO_TCP,
						     .sport = ANY_CLIENT_PORT },
					 .vlan = BALEEN_VLAN_NONE } };
	int err = parse(&why, argc, argv);
	json_t *all;

	if (err)
		return err;
	all = why.json ? json_array() : NULL;
	if (why.is_of_urls)
		err = why_urls(why.device, why.address, why.n_addresses, all);
	else
		err = why.device ? on_device(&why, all) : on_each(&why, all);
	if (!all || json_array_size(all))
		return finish_collected(all, err);
	json_decref(all);
	return err;
}

static const struct option_spec options[] = {
	VALUE("proto", 0, "P", parse_protocol, why, question.fields.proto,
	      "the packet's protocol, by name or number (tcp)",
	      .words = "tcp udp icmp ipv6-icmp sctp"),
	{ "dport", 0, "N", parse_port, .value = true,
	  .help = "its destination port, by number or service (0)" },
	{ "sport", 0, "N", parse_port, .value = false, .help = "its source port (50000)" },
	VALUE("dst", 0, "ADDR", option_text, why, dst,
	      "its destination, for rules that look at it"),
	VALUE("src", 0, "ADDR", option_text, why, src,
	      "of what goes out, its source: ADDR is its destination then"),
	{ "vlan", 0, "N", parse_vlan, .help = "its outermost VLAN" },
	FLAG("established", 0, why, question.is_established,
	     "a TCP segment of a session; else one that opens it"),
	{ "shape", 0, "S", parse_shape, .words = "cut deep fragment",
	  .help = "a packet that does not show all: cut before its ports, deep behind more\n"
		  "extension headers of IPv6 than are read, or a later fragment" },
	FLAG("source", 0, why, source,
	     "of entries of signed sets, ask the publisher's server for the line in his lists"),
	FLAG("json", 'j', why, json, "an array with one object per address"),
	{ 0 },
};

const struct command why_command = {
	.name = "why",
	.synopsis = "[DEV] ADDR|URL... [--proto P] [--dport N] [OPTION...]",
	.help = "Says what becomes of a packet from ADDR, by asking the program itself, and because of\n"
		"which rule and entry: the prefix, file and line or origin, reason, since when and\n"
		"until when; of what passes, because of which rule, qualifier, default or dry run.\n"
		"Nothing is counted. Where packets and entries disagree, it says so. Without DEV it is of\n"
		"every device with a filter of what comes in.\n"
		"Of a URL: what is answered to a cache that asks for it, for each cache that DEV answers\n"
		"for, and why.\n"
		"Exit: 0 answered; 1 also when they disagree.\n",
	.options = options,
	.asks = { 1, INT_MAX, "an address is asked for, and DEV may be given" },
	.run = run,
};
