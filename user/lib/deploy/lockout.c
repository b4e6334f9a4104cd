// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Would a ruleset lock this host out? */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "deploy/lockout.h"
#include "list/special.h"
#include "util/array.h"

/* Where resolvers answer from (RFC 1035 section 4.2.1). */
#define DNS_PORT 53

/**
 * struct guarded - the filters of a ruleset, and the host they would be on
 * @check: the ruleset, and what changes
 * @ruleset: the ruleset, or what is on the device before
 * @delta: of @check, unless asked about without it
 * @host: what must not be dropped
 * @is_egress: packets go to these addresses, and do not come from them
 * @filter: filter of each rule
 * @live: storage for the filters of rules that stay
 */
struct guarded {
	const struct baleen_lockout_check *check;
	const struct baleen_ruleset *ruleset;
	const struct baleen_filter *delta;
	struct baleen_host *host;
	bool is_egress;
	const struct baleen_filter *filter[BALEEN_MAX_RULES];
	struct baleen_filter live[BALEEN_MAX_RULES];
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
			     const struct baleen_fields *fields, bool is_egress, u32 role)
{
	u16 dport = is_egress ? fields->sport : fields->dport;

	if (asked->tcp_syn || (asked->has_proto && asked->proto != fields->proto) ||
	    (asked->n_dports && !asks_for(asked, dport)))
		return NO;
	/* Sessions, resolvers and gateways answer a socket; others would begin. */
	if (asked->established && role == BALEEN_HOST_OWN)
		return NO;
	/* By which VLAN an address is reached is not known, nor whether netfilter's rules have
	 * conntrack follow flows here.
	 */
	return asked->has_vlan || asked->established == BALEEN_ESTABLISHED_CONNTRACK ? MAYBE : YES;
}

static bool lists(const struct guarded *guarded, u32 index, const struct baleen_key *key)
{
	if (guarded->delta && index == guarded->check->changed &&
	    baleen_filter_test(guarded->delta, key))
		return guarded->check->op == BALEEN_SET_UNION;
	return baleen_filter_test(guarded->filter[index], key);
}

/* The same fields of the packet in the other direction. */
static struct baleen_fields reverse(const struct baleen_fields *fields)
{
	struct baleen_fields reversed = *fields;

	reversed.src_hi = fields->dst_hi;
	reversed.src_lo = fields->dst_lo;
	reversed.dst_hi = fields->src_hi;
	reversed.dst_lo = fields->src_lo;
	reversed.sport = fields->dport;
	reversed.dport = fields->sport;
	return reversed;
}

/* The fields of a key, as of packets that come from an address: of those that go to it,
 * ends are the other way round.
 */
static u32 spec_of(const struct guarded *guarded, u32 index)
{
	static const u32 ends[][2] = { { BALEEN_KEY_SRC, BALEEN_KEY_DST },
				       { BALEEN_KEY_DST, BALEEN_KEY_SRC },
				       { BALEEN_KEY_SPORT, BALEEN_KEY_DPORT },
				       { BALEEN_KEY_DPORT, BALEEN_KEY_SPORT } };
	u32 spec = guarded->filter[index]->image.key_spec, reversed = spec;

	if (!guarded->is_egress)
		return spec;
	for (u32 i = 0; i < 4; i++)
		reversed &= ~ends[i][0];
	for (u32 i = 0; i < 4; i++)
		reversed |= spec & ends[i][0] ? ends[i][1] : 0;
	return reversed;
}

/* @key: the key, when it is listed */
static bool lists_fields(const struct guarded *guarded, u32 index, struct baleen_fields fields,
			 const struct baleen_key *own, struct baleen_key *key)
{
	struct baleen_key asked;

	split_address(own, &fields.dst_hi, &fields.dst_lo);
	if (guarded->is_egress)
		fields = reverse(&fields);
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
	u32 spec = spec_of(guarded, index);

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
		      qualifies(&guarded->ruleset->rule[index].qualifiers, &packet.fields,
				guarded->is_egress, address->role));
}

/* Does a rule take this address out of its own list? */
static bool cuts_off(const struct baleen_lockout_check *check, u32 index,
		     const struct baleen_host_address *address)
{
	u32 bit = 1u << index;

	return check->protects & bit ||
	       (check->removes_special & bit && baleen_special_find(&address->key));
}

#define BY_NOBODY (BALEEN_LOCKOUT_DEFAULT + 1)

/* The index of the rule that drops packets of this address, or one of these. */
static u32 dropped_by(const struct guarded *guarded, const struct baleen_host_address *address)
{
	const struct baleen_ruleset *ruleset = guarded->ruleset;

	for (u32 i = 0; i < ruleset->n_rules; i++) {
		u32 action = ruleset->rule[i].action;
		struct baleen_key key;
		enum answer answer;

		if (action == BALEEN_ACTION_COUNT || cuts_off(guarded->check, i, address))
			continue;
		answer = matches(guarded, i, address, &key);
		if (action == BALEEN_ACTION_DROP && answer != NO)
			return i;
		if (action == BALEEN_ACTION_ALLOW && answer == YES)
			return BY_NOBODY;
	}
	/* The senders to an own address are checked one by one. */
	return ruleset->default_drop && address->role != BALEEN_HOST_OWN ? BALEEN_LOCKOUT_DEFAULT :
									   BY_NOBODY;
}

/* --- what is dropped and was not --------------------------------------------- */

/* An address that is dropped already is not found again.
 * @before: what is on the device; NULL when that does not count
 */
static u32 newly_dropped_by(const struct guarded *guarded, const struct guarded *before,
			    const struct baleen_host_address *address)
{
	struct guarded without = *guarded;

	without.delta = NULL;
	if (guarded->delta && dropped_by(&without, address) != BY_NOBODY)
		return BY_NOBODY;
	if (before && dropped_by(before, address) != BY_NOBODY)
		return BY_NOBODY;
	return dropped_by(guarded, address);
}

/* Sessions of one peer come one after the other; it is found once. */
static bool is_last(const struct baleen_lockouts *found, const struct baleen_host_address *address)
{
	const struct baleen_host_address *last;

	if (!found->n)
		return false;
	last = &found->lockout[found->n - 1].address;
	return last->role == address->role && !baleen_key_compare(&last->key, &address->key);
}

static int collect(const struct guarded *guarded, const struct guarded *before,
		   struct baleen_lockouts *found)
{
	for (size_t i = 0; i < guarded->host->n; i++) {
		const struct baleen_host_address *address = &guarded->host->address[i];
		struct baleen_lockout lockout = { .address = *address, .key = address->key };

		if (is_last(found, address) ||
		    (guarded->check->only_peers && address->role != BALEEN_HOST_PEER))
			continue;
		lockout.rule = newly_dropped_by(guarded, before, address);
		/* Last, since it may read /proc. */
		if (lockout.rule == BY_NOBODY ||
		    !baleen_host_guards(guarded->host, guarded->check->sessions, address))
			continue;
		if (lockout.rule != BALEEN_LOCKOUT_DEFAULT)
			matches(guarded, lockout.rule, address, &lockout.key);
		if (baleen_array_add(&found->lockout, found->n))
			return -ENOMEM;
		found->lockout[found->n++] = lockout;
	}
	return 0;
}

/* --- the check ---------------------------------------------------------------- */

static void close_filters(struct guarded *guarded)
{
	for (u32 i = 0; i < guarded->ruleset->n_rules; i++)
		baleen_filter_free(&guarded->live[i]);
}

static int open_filters(struct guarded *guarded, struct baleen_error *error)
{
	int err = 0;

	for (u32 i = 0; i < guarded->ruleset->n_rules && !err; i++) {
		const struct baleen_ruleset_rule *rule = &guarded->ruleset->rule[i];

		guarded->filter[i] = rule->filter ? rule->filter : &guarded->live[i];
		if (!rule->filter)
			err = baleen_xdp_map_rule(guarded->check->xdp, rule->live,
						  &guarded->live[i], error);
	}
	if (err)
		close_filters(guarded);
	return err;
}

static int survey(const struct baleen_lockout_check *check, struct baleen_host *host,
		  struct baleen_error *error)
{
	int ifindex = check->xdp ? check->xdp->pins.ifindex : 0;
	int err = ifindex ? 0 : baleen_device_ifindex(check->device, &ifindex, error);

	return err ? err : baleen_host_survey(host, ifindex, error);
}

/* A dry run drops nobody yet, and a damaged map nobody in particular. */
static int find(struct guarded *guarded, struct baleen_lockouts *found)
{
	const struct baleen_lockout_check *check = guarded->check;
	struct guarded before = { .check = check,
				  .host = guarded->host,
				  .is_egress = guarded->is_egress };
	struct baleen_ruleset now;
	bool has_before = false;
	int err;

	if (check->is_update && check->xdp) {
		baleen_ruleset_from_config(&check->xdp->config, &now);
		before.ruleset = &now;
		has_before = !now.dry_run && !open_filters(&before, NULL);
	}
	err = collect(guarded, has_before ? &before : NULL, found);
	if (has_before)
		close_filters(&before);
	return err;
}

int baleen_lockout_find(const struct baleen_lockout_check *check, struct baleen_lockouts *found,
			struct baleen_error *error)
{
	struct baleen_host own_host = { 0 }, *host = check->host ? check->host : &own_host;
	struct guarded guarded = { .check = check,
				   .ruleset = check->ruleset,
				   .delta = check->delta,
				   .host = host,
				   .is_egress = baleen_device_is_egress(check->device) };
	struct baleen_lockouts all = { 0 };
	int err;

	if (check->ruleset->dry_run) {
		*found = all;
		return 0;
	}
	err = open_filters(&guarded, error);
	if (err)
		return err;
	err = survey(check, host, error);
	if (!err && find(&guarded, &all))
		err = baleen_no_memory(error);
	if (err)
		free(all.lockout);
	else
		*found = all;
	close_filters(&guarded);
	baleen_host_free(&own_host);
	return err;
}

const char *baleen_lockout_text(const struct baleen_lockout_check *check,
				const struct baleen_lockout *lockout,
				char text[static BALEEN_LOCKOUT_TEXT])
{
	enum baleen_host_role role = lockout->address.role;
	bool is_of_device = role == BALEEN_HOST_OWN || role == BALEEN_HOST_GATEWAY;
	char address[BALEEN_KEY_TEXT], base[BALEEN_POINT_BYTES];
	const char *whose = is_of_device ? baleen_device_base(check->device, base) : "this host";

	baleen_key_format(&lockout->address.key, BALEEN_KEY_SRC, address);
	if (lockout->rule == BALEEN_LOCKOUT_DEFAULT)
		snprintf(text, BALEEN_LOCKOUT_TEXT, "%s, %s of %s, would be dropped by the default",
			 address, baleen_host_role_text(role), whose);
	else
		snprintf(text, BALEEN_LOCKOUT_TEXT, "rule '%s' would drop %s, %s of %s",
			 check->ruleset->rule[lockout->rule].name, address,
			 baleen_host_role_text(role), whose);
	return text;
}
