// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checks before a set of rules goes live. */
#include <netinet/in.h>

#include "cli/open/guard.h"
#include "cli/open/list_file.h"
#include "filter/plan.h"

int guard_rate(const char *name, u32 action, const struct baleen_filter *filter, double accept_fpp)
{
	double fpp = baleen_filter_worst_fpp(filter);

	if (fpp <= accept_fpp)
		return 0;
	complain("%s: would %s %.*f unlisted packets in a million: false positive rate %.3g, "
		 "accepted %.3g (--accept-fpp)",
		 name, action == BALEEN_ACTION_DROP ? "drop" : "let pass", fpp < 1e-4 ? 3 : 0,
		 fpp * 1e6, fpp, accept_fpp);
	return EXIT_FAILED;
}

int guard_raise(const char *name, const struct baleen_filter *before,
		const struct baleen_filter *after, double accept_fpp)
{
	double fpp = baleen_filter_worst_fpp(after);

	if (fpp <= accept_fpp || fpp <= baleen_filter_worst_fpp(before))
		return 0;
	complain("%s: would raise the false positive rate to %.3g, accepted %.3g: build it larger "
		 "(--accept-fpp takes it)",
		 name, fpp, accept_fpp);
	return EXIT_FAILED;
}

int guard_rates(const struct rules *rules, double accept_fpp)
{
	for (u32 i = 0; i < rules->n; i++) {
		const struct rule_argument *rule = &rules->rule[i];

		if (guard_rate(rule->name, rule->action, &rule->ref.filter, accept_fpp))
			return EXIT_FAILED;
	}
	return 0;
}

/* --- what would cut the host off ------------------------------------------- */

/* Addresses that are named; reading a list again for each takes its time. */
#define MAX_NAMED 20

/* Where resolvers answer from (RFC 1035 section 4.2.1). */
#define DNS_PORT 53

/**
 * struct guarded - a ruleset about to go live, and the host it would be on
 * @device: its name
 * @ruleset: the ruleset
 * @rules: those of them that were typed; may be NULL
 * @filter: filter of each rule
 * @live: storage for the filters of rules that stay
 * @delta: what would be added to a rule or taken out of it; NULL for nothing
 * @changed: the rule
 * @op: which of them
 * @before: what is on the device now, of which each address that it drops already is
 *          not asked about again; may be NULL
 * @host: what must not be dropped
 */
struct guarded {
	const char *device;
	const struct baleen_ruleset *ruleset;
	const struct rules *rules;
	const struct baleen_filter *filter[BALEEN_MAX_RULES];
	struct baleen_filter live[BALEEN_MAX_RULES];
	const struct baleen_filter *delta;
	u32 changed;
	enum baleen_set_op op;
	struct guarded *before;
	struct baleen_host *host;
};

/**
 * struct packet - what is known of the packets that come from an address
 * @fields: the fields; the destination is filled in when it is asked for
 * @known: enum baleen_key_spec of those that are known
 */
struct packet {
	struct baleen_fields fields;
	u32 known;
};

enum answer {
	NO,
	MAYBE,
	YES,
};

static enum answer lesser(enum answer a, enum answer b)
{
	return a < b ? a : b;
}

static void split_address(const struct baleen_key *key, u64 *hi, u64 *lo)
{
	*hi = key->hi;
	*lo = key->domain == BALEEN_IP4 ? key->ip4 : key->lo;
}

/* A session lives on established segments, a resolver answers by UDP to a port
 * of our choice, of a gateway all that is needed is ICMP. An own address is for
 * everybody, by TCP at least.
 */
static struct packet packet_of(const struct baleen_host_address *address)
{
	struct packet packet = { .known = BALEEN_KEY_FLOW };
	struct baleen_fields *fields = &packet.fields;

	fields->is_ip6 = address->key.domain == BALEEN_IP6;
	split_address(&address->key, &fields->src_hi, &fields->src_lo);
	switch (address->role) {
	case BALEEN_HOST_GATEWAY:
		fields->proto = fields->is_ip6 ? BALEEN_PROTO_ICMP6 : IPPROTO_ICMP;
		break;
	case BALEEN_HOST_RESOLVER:
		fields->proto = BALEEN_PROTO_UDP;
		fields->sport = DNS_PORT;
		packet.known &= ~BALEEN_KEY_DPORT;
		break;
	case BALEEN_HOST_PEER:
		fields->proto = BALEEN_PROTO_TCP;
		fields->sport = address->session.peer_port;
		fields->dport = address->session.port;
		break;
	default:
		fields->proto = BALEEN_PROTO_TCP;
		packet.known = 0;
		break;
	}
	return packet;
}

/* A rule with ports does not match a packet whose port is not known. */
static bool asks_for(const struct baleen_qualifiers *asked, u32 port)
{
	for (u32 i = 0; i < asked->n_dports; i++)
		if (port >= asked->dport[i].first && port <= asked->dport[i].last)
			return true;
	return false;
}

static enum answer qualifies(const struct baleen_qualifiers *asked,
			     const struct baleen_fields *fields)
{
	if (asked->tcp_syn || (asked->has_proto && asked->proto != fields->proto) ||
	    (asked->n_dports && !asks_for(asked, fields->dport)))
		return NO;
	/* By which VLAN an address is reached is not known. */
	return asked->has_vlan ? MAYBE : YES;
}

static bool lists(const struct guarded *guarded, u32 index, const struct baleen_key *key)
{
	if (guarded->delta && index == guarded->changed && baleen_filter_test(guarded->delta, key))
		return guarded->op == BALEEN_SET_UNION;
	return baleen_filter_test(guarded->filter[index], key);
}

/* @key: the key, when it is listed */
static bool lists_fields(const struct guarded *guarded, u32 index, struct baleen_fields fields,
			 const struct baleen_key *own, struct baleen_key *key)
{
	struct baleen_key asked;

	split_address(own, &fields.dst_hi, &fields.dst_lo);
	asked = baleen_key_fields(guarded->filter[index]->image.key_spec, &fields);
	if (!lists(guarded, index, &asked))
		return false;
	*key = asked;
	return true;
}

/* To which of the own addresses it is sent is not known: to all, some, none listed? */
static enum answer lists_to_own(const struct guarded *guarded, u32 index,
				const struct baleen_host_address *address,
				const struct baleen_fields *fields, struct baleen_key *key)
{
	size_t n_own = 0, n_listed = 0;

	for (size_t i = 0; i < guarded->host->n; i++) {
		const struct baleen_host_address *own = &guarded->host->address[i];

		if (own->role != BALEEN_HOST_OWN || own->key.domain != address->key.domain)
			continue;
		n_own++;
		n_listed += lists_fields(guarded, index, *fields, &own->key, key);
	}
	if (!n_listed)
		return NO;
	return n_listed == n_own ? YES : MAYBE;
}

/* Does the filter of a rule list the packets of this address?
 * @key: one that is listed, if any is
 */
static enum answer lists_packet(const struct guarded *guarded, u32 index,
				const struct baleen_host_address *address,
				const struct packet *packet, struct baleen_key *key)
{
	u32 spec = guarded->filter[index]->image.key_spec;

	if (address->role == BALEEN_HOST_OWN && baleen_spec_is_address(spec)) {
		*key = address->key;
		return lists(guarded, index, key) ? YES : NO;
	}
	/* A key with unknown fields is taken to be one of single flows. */
	if (spec & ~packet->known)
		return NO;
	/* A rule that drops by destination is reported for the own addresses. */
	if (spec == BALEEN_KEY_DST && guarded->ruleset->rule[index].action == BALEEN_ACTION_DROP)
		return NO;
	if (spec & BALEEN_KEY_DST && address->role != BALEEN_HOST_PEER)
		return lists_to_own(guarded, index, address, &packet->fields, key);
	return lists_fields(guarded, index, packet->fields, &address->session.own, key) ? YES : NO;
}

/* Is it surely, maybe or not a packet of this address that a rule matches?
 * @key: the key it is listed by, unless it is not
 */
static enum answer matches(const struct guarded *guarded, u32 index,
			   const struct baleen_host_address *address, struct baleen_key *key)
{
	const struct packet packet = packet_of(address);

	return lesser(lists_packet(guarded, index, address, &packet, key),
		      qualifies(&guarded->ruleset->rule[index].qualifiers, &packet.fields));
}

#define BY_DEFAULT BALEEN_MAX_RULES
#define BY_NOBODY (BALEEN_MAX_RULES + 1)

/* The index of the rule that drops packets of this address, or one of these. */
static u32 dropped_by(const struct guarded *guarded, const struct baleen_host_address *address)
{
	const struct baleen_ruleset *ruleset = guarded->ruleset;

	for (u32 i = 0; i < ruleset->n_rules; i++) {
		u32 action = ruleset->rule[i].action;
		struct baleen_key key;
		enum answer answer;

		if (action == BALEEN_ACTION_COUNT)
			continue;
		answer = matches(guarded, i, address, &key);
		if (action == BALEEN_ACTION_DROP && answer != NO)
			return i;
		if (action == BALEEN_ACTION_ALLOW && answer == YES)
			return BY_NOBODY;
	}
	/* The senders to an own address are checked one by one. */
	return ruleset->default_drop && address->role != BALEEN_HOST_OWN ? BY_DEFAULT : BY_NOBODY;
}

static void complain_of(const struct guarded *guarded, u32 index,
			const struct baleen_host_address *address)
{
	const struct baleen_ruleset_rule *rule = &guarded->ruleset->rule[index];
	char text[BALEEN_KEY_TEXT], entry[BALEEN_KEY_TEXT * 2];
	const char *role = baleen_host_role_text(address->role);
	const char *whose =
		address->role == BALEEN_HOST_OWN || address->role == BALEEN_HOST_GATEWAY ?
			guarded->device :
			"this host";
	struct baleen_key key = address->key;
	const struct rule_argument *from;
	u64 line;

	baleen_key_format(&address->key, BALEEN_KEY_SRC, text);
	if (index == BY_DEFAULT) {
		complain("%s: %s, %s of %s, would be dropped by the default", guarded->device, text,
			 role, whose);
		return;
	}
	from = guarded->rules ? rules_find(guarded->rules, rule) : NULL;
	matches(guarded, index, address, &key);
	if (from && from->ref.is_list &&
	    list_file_find(from->path, &from->ref.csv, from->ref.filter.image.key_spec, &key, &line,
			   entry, sizeof(entry)))
		complain("%s:%llu: '%s': rule '%s' would drop %s, %s of %s", from->path,
			 (unsigned long long)line, entry, rule->name, text, role, whose);
	else
		complain("%s: rule '%s' would drop %s, %s of %s",
			 from ? from->path : guarded->device, rule->name, text, role, whose);
}

/* An address that is dropped already is not reported for this change. */
static u32 newly_dropped_by(const struct guarded *guarded,
			    const struct baleen_host_address *address)
{
	struct guarded before = *guarded;

	before.delta = NULL;
	if (guarded->delta && dropped_by(&before, address) != BY_NOBODY)
		return BY_NOBODY;
	if (guarded->before && dropped_by(guarded->before, address) != BY_NOBODY)
		return BY_NOBODY;
	return dropped_by(guarded, address);
}

static bool is_same_address(const struct baleen_host_address *a,
			    const struct baleen_host_address *b)
{
	return a->role == b->role && !baleen_key_compare(&a->key, &b->key);
}

/* Sessions of one peer come one after the other; it is named once. */
static size_t complain_of_all(const struct guarded *guarded)
{
	const struct baleen_host_address *last = NULL;
	size_t n = 0;

	for (size_t i = 0; i < guarded->host->n; i++) {
		const struct baleen_host_address *address = &guarded->host->address[i];
		u32 index;

		if (last && is_same_address(last, address))
			continue;
		index = newly_dropped_by(guarded, address);
		if (index == BY_NOBODY)
			continue;
		last = address;
		if (n++ < MAX_NAMED)
			complain_of(guarded, index, address);
	}
	return n;
}

static int look_at_filters(struct guarded *guarded, const struct baleen_xdp *xdp,
			   struct baleen_error *error)
{
	int err = 0;

	for (u32 i = 0; i < guarded->ruleset->n_rules && !err; i++) {
		const struct baleen_ruleset_rule *rule = &guarded->ruleset->rule[i];

		guarded->filter[i] = rule->filter ? rule->filter : &guarded->live[i];
		if (!rule->filter)
			err = baleen_xdp_map_rule(xdp, rule->live, &guarded->live[i], error);
	}
	return err;
}

static int look_at_host(struct guarded *guarded, struct baleen_error *error)
{
	int ifindex;
	int err = baleen_device_ifindex(guarded->device, &ifindex, error);

	return err ? err : baleen_host_survey(guarded->host, ifindex, error);
}

static void free_live(struct guarded *guarded)
{
	for (u32 i = 0; i < guarded->ruleset->n_rules; i++)
		baleen_filter_free(&guarded->live[i]);
}

/* A dry run drops nobody yet, and a map that is damaged nobody in particular. */
static void look_at_before(struct guarded *guarded, const struct baleen_xdp *xdp)
{
	struct guarded *before = guarded->before;

	if (!before)
		return;
	before->host = guarded->host;
	if (!before->ruleset->dry_run && !look_at_filters(before, xdp, NULL))
		return;
	free_live(before);
	guarded->before = NULL;
}

static int guard(struct guarded *guarded, const struct baleen_xdp *xdp)
{
	struct baleen_host own_host = { 0 };
	struct baleen_error error;
	size_t n_dropped = 0;
	int err;

	if (guarded->ruleset->dry_run)
		return 0;
	if (!guarded->host)
		guarded->host = &own_host;
	err = look_at_filters(guarded, xdp, &error);
	if (!err)
		err = look_at_host(guarded, &error);
	if (!err)
		look_at_before(guarded, xdp);
	if (err)
		complain("%s", error.text);
	else
		n_dropped = complain_of_all(guarded);
	free_live(guarded);
	if (!err && guarded->before)
		free_live(guarded->before);
	baleen_host_free(&own_host);
	if (n_dropped > MAX_NAMED)
		complain("%s: and %zu more addresses", guarded->device, n_dropped - MAX_NAMED);
	if (n_dropped)
		complain("%s: nothing changed, since this host would cut itself off "
			 "(--force does it)",
			 guarded->device);
	return err || n_dropped ? EXIT_FAILED : 0;
}

int guard_ruleset(const char *device, const struct baleen_xdp *xdp,
		  const struct baleen_ruleset *ruleset, const struct rules *rules)
{
	struct guarded guarded = { .device = device, .ruleset = ruleset, .rules = rules };

	return guard(&guarded, xdp);
}

int guard_update(const char *device, const struct baleen_xdp *xdp,
		 const struct baleen_ruleset *ruleset)
{
	struct baleen_ruleset now;
	struct guarded before = { .device = device, .ruleset = &now };
	struct guarded guarded = { .device = device,
				   .ruleset = ruleset,
				   .before = xdp ? &before : NULL };

	if (xdp)
		baleen_ruleset_from_config(&xdp->config, &now);
	return guard(&guarded, xdp);
}

int guard_delta(const char *device, const struct baleen_xdp *xdp,
		const struct baleen_ruleset *ruleset, u32 index, const struct baleen_filter *delta,
		enum baleen_set_op op, struct baleen_host *host)
{
	struct guarded guarded = { .device = device,
				   .ruleset = ruleset,
				   .delta = delta,
				   .changed = index,
				   .op = op,
				   .host = host };

	return guard(&guarded, xdp);
}

int guard_change(const struct baleen_xdp *xdp, u32 index, const struct baleen_filter *delta,
		 enum baleen_set_op op, struct baleen_host *host)
{
	struct baleen_ruleset ruleset;

	baleen_ruleset_from_config(&xdp->config, &ruleset);
	return guard_delta(xdp->device, xdp, &ruleset, index, delta, op, host);
}
