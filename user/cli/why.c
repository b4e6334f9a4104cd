// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen why: what becomes of a packet, and because of which entry. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "duration.h"
#include "explain.h"
#include "key_text.h"
#include "protocol.h"
#include "qualifiers.h"
#include "ruleset.h"

enum {
	OPTION_DPORT = 256,
	OPTION_SPORT,
	OPTION_PROTO,
	OPTION_DST,
	OPTION_VLAN,
	OPTION_ESTABLISHED,
};

/* A port of the range that hosts open connections from (RFC 6056). */
#define ANY_CLIENT_PORT 50000

struct why {
	const char *device;
	char *const *address;
	u32 n_addresses;
	const char *dst;
	bool has_sport;
	bool has_dport;
	bool json;
	struct baleen_question question;
};

/* --- arguments ------------------------------------------------------------- */

static int parse_number(const char *text, unsigned long max, unsigned long *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	*number = strtoul(text, &end, 10);
	return *end || *number > max ? -EINVAL : 0;
}

static int take_port(const char *option, const char *text, u16 *port)
{
	unsigned long number;

	if (parse_number(text, 65535, &number))
		return complain_usage(&why_command, "--%s '%s': not a port", option, text);
	*port = number;
	return 0;
}

static int take_vlan(struct why *why, const char *text)
{
	unsigned long number;

	if (parse_number(text, 4094, &number) || !number)
		return complain_usage(&why_command, "--vlan '%s': not 1 to 4094", text);
	why->question.vlan = number;
	return 0;
}

static int take_address(const char *text, bool is_src, struct baleen_fields *fields)
{
	struct baleen_key key;
	const char *reason;
	u64 *hi = is_src ? &fields->src_hi : &fields->dst_hi;
	u64 *lo = is_src ? &fields->src_lo : &fields->dst_lo;

	if (baleen_address_parse(text, &key, &reason))
		return complain_usage(&why_command, "'%s': %s", text, reason);
	if (!is_src && fields->is_ip6 != (key.domain == BALEEN_IP6))
		return complain_usage(&why_command,
				      "--dst %s: is of another family than the source", text);
	fields->is_ip6 = key.domain == BALEEN_IP6;
	*hi = fields->is_ip6 ? key.hi : 0;
	*lo = fields->is_ip6 ? key.lo : key.ip4;
	return 0;
}

static int take_option(struct why *why, int option)
{
	struct baleen_fields *fields = &why->question.fields;

	switch (option) {
	case OPTION_DPORT: why->has_dport = true; return take_port("dport", optarg, &fields->dport);
	case OPTION_SPORT: why->has_sport = true; return take_port("sport", optarg, &fields->sport);
	case OPTION_VLAN: return take_vlan(why, optarg);
	case OPTION_DST: why->dst = optarg; return 0;
	case OPTION_ESTABLISHED: why->question.is_established = true; return 0;
	case 'j': why->json = true; return 0;
	case OPTION_PROTO:
		if (baleen_protocol_parse(optarg, &fields->proto))
			return complain_usage(&why_command, "--proto '%s': no protocol", optarg);
		return 0;
	default: fprintf(stderr, "baleen: see 'baleen help why'\n"); return EXIT_USAGE;
	}
}

/* What the protocol has not, the packet has not. */
static int fit_protocol(struct why *why)
{
	struct baleen_fields *fields = &why->question.fields;
	char protocol[BALEEN_PROTOCOL_TEXT];

	if (why->question.is_established && fields->proto != BALEEN_PROTO_TCP)
		return complain_usage(&why_command, "--established: is of tcp");
	if (baleen_proto_has_ports(fields->proto))
		return 0;
	if (why->has_dport || why->has_sport)
		return complain_usage(&why_command, "--%s: %s has no ports",
				      why->has_dport ? "dport" : "sport",
				      baleen_protocol_text(fields->proto, protocol));
	fields->sport = 0;
	return 0;
}

static int take_addresses(struct why *why, const char *address)
{
	int err = take_address(address, true, &why->question.fields);

	if (!err && why->dst)
		err = take_address(why->dst, false, &why->question.fields);
	return err;
}

static int parse(struct why *why, int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "dport", required_argument, NULL, OPTION_DPORT },
		{ "sport", required_argument, NULL, OPTION_SPORT },
		{ "proto", required_argument, NULL, OPTION_PROTO },
		{ "dst", required_argument, NULL, OPTION_DST },
		{ "vlan", required_argument, NULL, OPTION_VLAN },
		{ "established", no_argument, NULL, OPTION_ESTABLISHED },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	int option, err = 0;

	while (!err && (option = getopt_long(argc, argv, "j", long_options, NULL)) != -1)
		err = take_option(why, option);
	if (err)
		return err;
	if (argc - optind < 2)
		return complain_usage(&why_command, "DEV and an address are asked for");
	why->device = argv[optind];
	why->address = argv + optind + 1;
	why->n_addresses = argc - optind - 1;
	err = fit_protocol(why);
	for (u32 i = 0; i < why->n_addresses && !err; i++)
		err = take_addresses(why, why->address[i]);
	return err;
}

/* --- words ----------------------------------------------------------------- */

#define TIME_TEXT 32

static const char *format_time(u64 ms, char *text)
{
	time_t seconds = ms / 1000;
	struct tm local;

	localtime_r(&seconds, &local);
	strftime(text, TIME_TEXT, "%Y-%m-%d %H:%M:%S", &local);
	return text;
}

/* "3m ago" or "in 3m", in whole seconds. */
static const char *format_distance(u64 ms, char *text)
{
	u64 now = baleen_now_ms(), distance = ms > now ? ms - now : now - ms;
	char span[BALEEN_DURATION_TEXT];

	if (distance < 1000)
		return strcpy(text, "now");
	sprintf(text, ms > now ? "in %s" : "%s ago", format_span(distance, span));
	return text;
}

static const char *verdict_text(const struct baleen_explanation *explanation)
{
	if (explanation->answer.is_live_drop)
		return "dropped";
	return explanation->would_drop ? "passes, but only since this is a dry run" : "passes";
}

static const char *outcome_text(enum baleen_outcome outcome)
{
	switch (outcome) {
	case BALEEN_OUTCOME_RULE: return "rule";
	case BALEEN_OUTCOME_UNMATCHED: return "default";
	case BALEEN_OUTCOME_VITAL: return "vital";
	default: return "unparsed";
	}
}

static bool asks_for_dst(const struct baleen_xdp *xdp)
{
	for (u32 i = 0; i < xdp->config.n_rules; i++)
		if (xdp->config.rule[i].image.key_spec & BALEEN_KEY_DST)
			return true;
	return false;
}

/* --- text ------------------------------------------------------------------ */

static void print_packet(const struct why *why, const char *address)
{
	const struct baleen_question *question = &why->question;
	const struct baleen_fields *fields = &question->fields;
	char protocol[BALEEN_PROTOCOL_TEXT];

	printf("%s to %s, %s", address, why->device, baleen_protocol_text(fields->proto, protocol));
	if (fields->dport)
		printf(" port %u", fields->dport);
	if (fields->proto == BALEEN_PROTO_TCP)
		printf(question->is_established ? ", established" : ", opening");
	if (question->vlan != BALEEN_VLAN_NONE)
		printf(", VLAN %u", question->vlan);
}

static void print_feed_reason(const struct baleen_reason *reason)
{
	char when[TIME_TEXT], distance[BALEEN_DURATION_TEXT + 8];

	if (reason->line)
		printf("    %-20s line %llu of %s", reason->text, (unsigned long long)reason->line,
		       baleen_feed_name(&reason->feed));
	else
		printf("    %-20s %s", "(an image)", baleen_feed_name(&reason->feed));
	printf(", received %s (%s)", format_time(reason->feed.received_ms, when),
	       format_distance(reason->feed.received_ms, distance));
	if (reason->feed.n_failures)
		printf(", not renewed since: %s", reason->feed.failure);
	putchar('\n');
}

static void print_single_reason(const struct baleen_single *single)
{
	char when[TIME_TEXT], distance[BALEEN_DURATION_TEXT + 8];

	printf("    %s%-*s entry of %s", single->is_exception ? "!" : "",
	       single->is_exception ? 19 : 20, single->key, single->origin);
	if (*single->reason)
		printf(": %s", single->reason);
	printf(", added %s", format_time(single->added_ms, when));
	if (single->expires_ms)
		printf(", ends %s (%s)", format_time(single->expires_ms, when),
		       format_distance(single->expires_ms, distance));
	putchar('\n');
}

static void print_reasons(const struct baleen_explained_rule *explained)
{
	static const char *const roles[] = {
		[BALEEN_WITHHELD_NEVER] = "the never-drop list",
		[BALEEN_WITHHELD_HOST] = "this host",
		[BALEEN_WITHHELD_PEER] = "a TCP session",
		[BALEEN_WITHHELD_SPECIAL] = "special-purpose range",
	};
	const struct baleen_withheld *withheld = &explained->withheld;

	if (explained->is_any)
		puts("    any                  every address");
	for (u32 i = 0; i < explained->n_told; i++) {
		if (explained->reason[i].is_feed)
			print_feed_reason(&explained->reason[i]);
		else
			print_single_reason(&explained->reason[i].single);
	}
	if (explained->n_reasons > explained->n_told)
		printf("    and %u more\n", explained->n_reasons - explained->n_told);
	if (explained->is_withheld)
		printf("    %-20s %s: %s, %s\n", withheld->key,
		       withheld->role == BALEEN_WITHHELD_SPECIAL ? "not taken from feeds" :
								   "never dropped",
		       roles[withheld->role], withheld->what);
}

/* Whoever it is; special-purpose ranges only tell what feeds cannot bring. */
static bool is_guarded(const struct baleen_explained_rule *explained)
{
	return explained->is_withheld && explained->withheld.role != BALEEN_WITHHELD_SPECIAL;
}

static void print_rule(const struct baleen_xdp *xdp, u32 index,
		       const struct baleen_explanation *explanation)
{
	const struct baleen_explained_rule *explained = &explanation->rule[index];
	const struct baleen_judgement *judgement = &explanation->answer.judgement;
	const struct baleen_rule *rule = &xdp->config.rule[index];
	bool decides = judgement->outcome == BALEEN_OUTCOME_RULE && judgement->rule == index;
	char qualifiers[BALEEN_QUALIFIERS_TEXT];

	if (!decides && !explained->holds && !explained->n_reasons && !is_guarded(explained))
		return;
	printf("  rule '%s' (%s, %u of %u) ", rule->image.name, baleen_action_text(rule->action),
	       index + 1, xdp->config.n_rules);
	baleen_qualifiers_format(&rule->qualifiers, qualifiers);
	if (decides)
		puts("decides");
	else if (!explained->holds)
		puts("does not hold it");
	else if (!explained->matches)
		printf("holds it, but is only for %s\n", qualifiers);
	else if (rule->action == BALEEN_ACTION_COUNT)
		puts("counts it");
	else
		puts("holds it, too, and is not asked any more");
	print_reasons(explained);
}

static void print_difference(const struct baleen_xdp *xdp, u32 index,
			     const struct baleen_explanation *explanation)
{
	const struct baleen_explained_rule *explained = &explanation->rule[index];
	const char *name = xdp->config.rule[index].image.name;

	if (!baleen_explained_differs(explained))
		return;
	if (explained->has_ended)
		printf("  DISAGREEMENT: rule '%s' holds it, its entry %s of %s has ended and nobody has "
		       "taken it out: is baleend running?\n",
		       name, explained->ended.key, explained->ended.origin);
	else if (explained->holds && !explained->is_exact)
		printf("  DISAGREEMENT: rule '%s' holds it by error of its filter, no entry does\n",
		       name);
	else
		printf("  DISAGREEMENT: the live filter of rule '%s' %s it, its entries say it %s%s\n",
		       name, explained->holds ? "holds" : "does not hold",
		       explained->holds ? "should not" : "should",
		       explanation->is_changing ? " (a change goes on, or was cut off)" : "");
}

static void print_differences(const struct baleen_xdp *xdp,
			      const struct baleen_explanation *explanation)
{
	const struct baleen_twin_answer *answer = &explanation->answer;

	for (u32 i = 0; i < xdp->config.n_rules; i++)
		print_difference(xdp, i, explanation);
	if (answer->judgement.is_drop != answer->is_live_drop)
		printf("  DISAGREEMENT: the program %s it, this version's would %s it\n",
		       answer->is_live_drop ? "drops" : "passes",
		       answer->judgement.is_drop ? "drop" : "pass");
}

static void print_others(const struct why *why, const struct baleen_xdp *xdp,
			 const struct baleen_explanation *explanation)
{
	const struct baleen_drop *drop = &explanation->drop;
	char when[TIME_TEXT];

	if (explanation->has_drop)
		printf("  last sampled drop: %s by %s%s%s, %llu in all\n",
		       format_time(drop->last_ms, when), *drop->rule ? "rule '" : "the default",
		       drop->rule, *drop->rule ? "'" : "", (unsigned long long)drop->n);
	if (!explanation->has_state)
		puts("  its lists were not kept (attach --no-state): no entry can be named");
	if (explanation->is_other_version)
		printf("  the program is of another version of baleen%s\n",
		       explanation->answer.is_live_asked ?
			       "; it was asked itself and has counted a packet" :
			       "");
	if (!why->dst && asks_for_dst(xdp))
		puts("  a rule looks at the destination, too: --dst ADDR");
}

static void print_text(const struct why *why, const char *address, const struct baleen_xdp *xdp,
		       const struct baleen_explanation *explanation)
{
	enum baleen_outcome outcome = explanation->answer.judgement.outcome;

	print_packet(why, address);
	printf(": %s\n", verdict_text(explanation));
	if (outcome == BALEEN_OUTCOME_VITAL)
		puts("  passes by default, since no host lives without it");
	else if (outcome != BALEEN_OUTCOME_RULE)
		printf("  no rule decides: default %s\n",
		       xdp->config.default_drop ? "drop" : "pass");
	for (u32 i = 0; i < xdp->config.n_rules; i++)
		print_rule(xdp, i, explanation);
	print_differences(xdp, explanation);
	print_others(why, xdp, explanation);
}

/* --- JSON ------------------------------------------------------------------ */

static json_t *time_or_null(u64 ms)
{
	return ms ? json_integer(ms) : json_null();
}

static json_t *describe_reason(const struct baleen_reason *reason)
{
	const struct baleen_single *single = &reason->single;
	char key[BALEEN_SINGLE_TEXT + 1];
	json_t *json = json_object();

	if (reason->is_feed) {
		json_object_set_new(json, "entry",
				    reason->line ? json_text(reason->text) : json_null());
		json_object_set_new(json, "feed", json_text(baleen_feed_name(&reason->feed)));
		json_object_set_new(json, "line",
				    reason->line ? json_integer(reason->line) : json_null());
		json_object_set_new(json, "received_ms", json_integer(reason->feed.received_ms));
		json_object_set_new(json, "failure",
				    reason->feed.n_failures ? json_text(reason->feed.failure) :
							      json_null());
		return json;
	}
	snprintf(key, sizeof(key), "%s%s", single->is_exception ? "!" : "", single->key);
	json_object_set_new(json, "entry", json_text(key));
	json_object_set_new(json, "origin", json_text(single->origin));
	json_object_set_new(json, "reason", json_text(single->reason));
	json_object_set_new(json, "added_ms", json_integer(single->added_ms));
	json_object_set_new(json, "expires_ms", time_or_null(single->expires_ms));
	return json;
}

static json_t *describe_rule(const struct baleen_xdp *xdp, u32 index,
			     const struct baleen_explained_rule *explained)
{
	static const char *const roles[] = { "never", "host", "peer", "special" };
	json_t *json = json_object(), *reasons = json_array();

	for (u32 i = 0; i < explained->n_told; i++)
		json_array_append_new(reasons, describe_reason(&explained->reason[i]));
	json_object_set_new(json, "rule", json_text(xdp->config.rule[index].image.name));
	json_object_set_new(json, "action",
			    json_string(baleen_action_text(xdp->config.rule[index].action)));
	json_object_set_new(json, "holds", json_boolean(explained->holds));
	json_object_set_new(json, "matches", json_boolean(explained->matches));
	json_object_set_new(json, "differs", json_boolean(baleen_explained_differs(explained)));
	json_object_set_new(json, "any", json_boolean(explained->is_any));
	json_object_set_new(json, "entries", reasons);
	json_object_set_new(json, "n_entries", json_integer(explained->n_reasons));
	json_object_set_new(json, "withheld",
			    explained->is_withheld ?
				    json_pack("{s:s, s:o, s:o}", "role",
					      roles[explained->withheld.role], "what",
					      json_text(explained->withheld.what), "key",
					      json_text(explained->withheld.key)) :
				    json_null());
	return json;
}

static json_t *describe_drop(const struct baleen_explanation *explanation)
{
	const struct baleen_drop *drop = &explanation->drop;
	json_t *json;

	if (!explanation->has_drop)
		return json_null();
	json = json_object();
	json_object_set_new(json, "last_ms", json_integer(drop->last_ms));
	json_object_set_new(json, "rule", *drop->rule ? json_text(drop->rule) : json_null());
	json_object_set_new(json, "sampled", json_integer(drop->n));
	return json;
}

static bool differs(const struct baleen_xdp *xdp, const struct baleen_explanation *explanation)
{
	for (u32 i = 0; i < xdp->config.n_rules; i++)
		if (baleen_explained_differs(&explanation->rule[i]))
			return true;
	return explanation->answer.judgement.is_drop != explanation->answer.is_live_drop;
}

static json_t *describe(const struct why *why, const char *address, const struct baleen_xdp *xdp,
			const struct baleen_explanation *explanation)
{
	const struct baleen_judgement *judgement = &explanation->answer.judgement;
	bool by_rule = judgement->outcome == BALEEN_OUTCOME_RULE;
	json_t *json = json_object(), *rules = json_array();

	for (u32 i = 0; i < xdp->config.n_rules; i++)
		json_array_append_new(rules, describe_rule(xdp, i, &explanation->rule[i]));
	json_object_set_new(json, "device", json_text(why->device));
	json_object_set_new(json, "address", json_text(address));
	json_object_set_new(json, "verdict",
			    json_string(explanation->answer.is_live_drop ? "drop" : "pass"));
	json_object_set_new(json, "would_drop", json_boolean(explanation->would_drop));
	json_object_set_new(json, "because", json_string(outcome_text(judgement->outcome)));
	json_object_set_new(json, "rule",
			    by_rule ? json_text(xdp->config.rule[judgement->rule].image.name) :
				      json_null());
	json_object_set_new(json, "default",
			    json_string(xdp->config.default_drop ? "drop" : "pass"));
	json_object_set_new(json, "dry_run", json_boolean(xdp->config.dry_run));
	json_object_set_new(json, "differs", json_boolean(differs(xdp, explanation)));
	json_object_set_new(json, "has_state", json_boolean(explanation->has_state));
	json_object_set_new(json, "changing", json_boolean(explanation->is_changing));
	json_object_set_new(json, "other_version", json_boolean(explanation->is_other_version));
	json_object_set_new(json, "rules", rules);
	json_object_set_new(json, "last_drop", describe_drop(explanation));
	return json;
}

/* --- command --------------------------------------------------------------- */

/* @all: descriptions, appended to; NULL for text */
static int explain_one(struct why *why, const char *address, struct baleen_explainer *explainer,
		       struct baleen_explanation *explanation, json_t *all)
{
	const struct baleen_xdp *xdp = explainer->xdp;
	struct baleen_error error;

	/* Has been parsed before. */
	take_addresses(why, address);
	if (baleen_explain(explainer, &why->question, explanation, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	if (all)
		json_array_append_new(all, describe(why, address, xdp, explanation));
	else
		print_text(why, address, xdp, explanation);
	return differs(xdp, explanation) ? EXIT_FAILED : EXIT_DONE;
}

/* Of one address an object, as it was asked for. */
static int print_as_json(const struct why *why, json_t *all)
{
	json_t *one;

	if (why->n_addresses > 1)
		return print_json(all);
	one = json_incref(json_array_get(all, 0));
	json_decref(all);
	return one ? print_json(one) : EXIT_FAILED;
}

static int explain_all(struct why *why, struct baleen_explainer *explainer)
{
	struct baleen_explanation *explanation = malloc(sizeof(*explanation));
	json_t *all = why->json ? json_array() : NULL;
	int result = EXIT_DONE;

	if (!explanation) {
		complain("%s", strerror(ENOMEM));
		result = EXIT_FAILED;
	}
	for (u32 i = 0; i < why->n_addresses && explanation; i++)
		if (explain_one(why, why->address[i], explainer, explanation, all))
			result = EXIT_FAILED;
	if (all && print_as_json(why, all))
		result = EXIT_FAILED;
	free(explanation);
	return finish_output(result);
}

static int explain(struct why *why, const struct baleen_xdp *xdp)
{
	struct baleen_explainer explainer;
	struct baleen_error error;
	int result;

	if (baleen_explainer_open(&explainer, xdp, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	result = explain_all(why, &explainer);
	baleen_explainer_close(&explainer);
	return result;
}

static int run(int argc, char **argv)
{
	struct why why = { .question = { .fields = { .proto = BALEEN_PROTO_TCP,
						     .sport = ANY_CLIENT_PORT },
					 .vlan = BALEEN_VLAN_NONE } };
	struct baleen_error error;
	struct baleen_xdp xdp;
	int err = parse(&why, argc, argv);

	if (err)
		return err;
	if (baleen_device_privileges(&error) || baleen_xdp_open(&xdp, why.device, false, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	if (xdp.state != BALEEN_XDP_ATTACHED) {
		complain("%s: the filter is not in force here (%s)", why.device,
			 baleen_xdp_state_text(xdp.state));
		err = EXIT_FAILED;
	} else {
		err = explain(&why, &xdp);
	}
	baleen_xdp_close(&xdp);
	return err;
}

const struct command why_command = {
	.name = "why",
	.synopsis = "DEV ADDR... [--proto P] [--dport N] [OPTION...]",
	.help = "Says what becomes of a packet from ADDR, by asking the program itself, and because of\n"
		"which rule and entry: the prefix, file and line or origin, reason, since when and\n"
		"until when; of what passes, because of which rule, qualifier, default or dry run.\n"
		"Nothing is counted. Where packets and entries disagree, it says so.\n"
		"Exit: 0 answered; 1 also when they disagree.\n\n"
		"  --proto P        the packet's protocol, by name or number (tcp)\n"
		"  --dport N        its destination port (0)\n"
		"  --sport N        its source port (50000)\n"
		"  --dst ADDR       its destination, for rules that look at it\n"
		"  --vlan N         its outermost VLAN\n"
		"  --established    a TCP segment of a session; else one that opens it\n"
		"  -j, --json       as JSON; an array for several addresses\n",
	.run = run,
};
