// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checkup: what driver and stack do to packets before the filter sees them. */
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/checkup_parts.h"
#include "util/shell.h"

#define NAMES_BYTES 400

static bool is_on(const struct baleen_patient *patient, const char *name,
		  struct baleen_ethtool_feature *feature)
{
	return !baleen_ethtool_feature(patient->link->name, name, feature) && feature->is_on;
}

static bool is_generic(const struct baleen_patient *patient)
{
	return patient->has_xdp && patient->there.mode == BALEEN_MODE_GENERIC;
}

static void mend_feature(struct baleen_patient *patient, struct baleen_finding *finding,
			 const struct baleen_ethtool_feature *feature, const char *option)
{
	if (!feature->is_fixed)
		baleen_finding_mend(finding, "ethtool -K %s %s off", patient->word.text, option);
}

static void check_lro(struct baleen_patient *patient)
{
	struct baleen_ethtool_feature lro;

	if (is_on(patient, "rx-lro", &lro))
		mend_feature(patient,
			     baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "lro",
						"LRO is on: the card merges packets, which are "
						"counted as one; native XDP is refused by most "
						"drivers meanwhile"),
			     &lro, "lro");
	else
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "lro", "the card merges no packets");
}

/* Behind GRO, generic XDP sees merged packets; native XDP is before it. */
static void check_gro(struct baleen_patient *patient)
{
	struct baleen_ethtool_feature gro;

	if (is_on(patient, "rx-gro", &gro) && is_generic(patient))
		mend_feature(patient,
			     baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "gro",
						"GRO is on, and generic XDP behind it: packets of "
						"a connection are merged and counted as one"),
			     &gro, "gro");
	else
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "gro",
				   gro.is_known && gro.is_on ?
					   "the kernel merges packets behind native XDP" :
					   "the kernel merges no packets");
}

static void check_hardware_gro(struct baleen_patient *patient)
{
	struct baleen_ethtool_feature gro;

	if (is_on(patient, "rx-gro-hw", &gro))
		mend_feature(
			patient,
			baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "rx-gro-hw",
					   "the card does GRO: what it merges is counted as "
					   "one, and some drivers refuse native XDP meanwhile"),
			&gro, "rx-gro-hw");
	else
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "rx-gro-hw", "the card does no GRO");
}

/* The filter runs where the queue's interrupt goes. */
static void check_queues(struct baleen_patient *patient)
{
	u32 n_cpus = sysconf(_SC_NPROCESSORS_ONLN), n;
	struct baleen_ethtool_channels channels;
	struct baleen_finding *finding;

	if (baleen_ethtool_channels(patient->link->name, &channels) || !channels.n) {
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "queues",
				   "the driver does not tell its queues");
		return;
	}
	if (channels.n > 1 || n_cpus == 1) {
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "queues",
				   "%u receive queues, %u processors", channels.n, n_cpus);
		return;
	}
	finding = baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "queues",
				     "one receive queue%s: one of %u processors does all the "
				     "filtering",
				     channels.max > 1 ? "" : ", and no more to be had", n_cpus);
	n = channels.max < n_cpus ? channels.max : n_cpus;
	if (n > 1)
		baleen_finding_mend(finding, "ethtool -L %s %s %u", patient->word.text,
				    channels.is_combined ? "combined" : "rx", n);
}

static bool asks_for_vlan(const struct baleen_patient *patient)
{
	if (!patient->has_xdp)
		return false;
	for (u32 i = 0; i < patient->xdp.config.n_rules; i++)
		if (patient->xdp.config.rule[i].qualifiers.has_vlan)
			return true;
	return false;
}

static void check_tags(struct baleen_patient *patient)
{
	struct baleen_ethtool_feature strip;

	if (!is_on(patient, "rx-vlan-hw-parse", &strip))
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "rxvlan",
				   "the device leaves VLAN tags in frames");
	else if (!asks_for_vlan(patient))
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "rxvlan",
				   "the device takes VLAN tags off, and no rule asks for one");
	else
		mend_feature(patient,
			     baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, "rxvlan",
						"the device takes VLAN tags off before the filter "
						"sees them: rules with 'vlan' may never match%s",
						strcmp(patient->link->kind, "veth") ?
							"" :
							"; at the other end of the veth, txvlan "
							"has to be off, too"),
			     &strip, "rxvlan");
}

/* --- devices above and below ----------------------------------------------- */

static void append(char *names, const char *format, const char *name)
{
	size_t length = strlen(names);

	snprintf(names + length, NAMES_BYTES - length, format, name);
}

/* Ports of a bridge or team, or what a VLAN is made of. */
static bool is_below(const struct baleen_patient *patient, const struct baleen_link *link)
{
	return link->master == patient->link->ifindex || link->ifindex == patient->link->lower;
}

/* The kernel has no program above another, so the filter goes first. */
static void mend_lowers(struct baleen_patient *patient, struct baleen_finding *finding)
{
	char restores[NAMES_BYTES] = "";

	for (size_t i = 0; i < patient->links.n; i++)
		if (is_below(patient, &patient->links.link[i]))
			append(restores, " && baleen restore %s $d/filter --force",
			       baleen_shell_word(patient->links.link[i].name).text);
	if (strlen(restores) + 1 < sizeof(restores))
		baleen_finding_mend(finding,
				    "d=$(mktemp -d) && baleen save %s -o $d/filter && "
				    "baleen detach --forget %s%s",
				    patient->word.text, patient->word.text, restores);
}

/* A bond hands native programs on to its ports; others have none of their own. */
static void check_lowers(struct baleen_patient *patient)
{
	const char *name = patient->link->name, *kind = patient->link->kind;
	struct baleen_finding *finding;
	char names[NAMES_BYTES] = "";

	for (size_t i = 0; i < patient->links.n; i++)
		if (is_below(patient, &patient->links.link[i]))
			append(names, names[0] ? " %s" : "%s", patient->links.link[i].name);
	if (!names[0] || !strcmp(kind, "bond"))
		return;
	finding = baleen_checkup_add(
		patient, patient->has_xdp ? BALEEN_LEVEL_PROBLEM : BALEEN_LEVEL_NOTE, "below",
		"%s, a %s, is above %s: a filter belongs there, where it is native and drops "
		"before the %s works",
		name, kind, names, kind);
	if (patient->has_xdp)
		mend_lowers(patient, finding);
}

/* The other ports of a bond receive packets for the same addresses. */
static void check_ports(struct baleen_patient *patient)
{
	const struct baleen_link *master =
		patient->link->master ? baleen_links_find(&patient->links, patient->link->master) :
					NULL;
	struct baleen_program there;

	if (!master || strcmp(master->kind, "bond") || !patient->has_xdp)
		return;
	for (size_t i = 0; i < patient->links.n; i++) {
		const struct baleen_link *port = &patient->links.link[i];

		if (port->master != master->ifindex || port == patient->link ||
		    (!baleen_device_program(port->ifindex, &there) && there.id))
			continue;
		baleen_finding_mend(
			baleen_checkup_add(
				patient, BALEEN_LEVEL_PROBLEM, "bond",
				"packets for %s come in by %s, too, and are not filtered "
				"there",
				master->name, port->name),
			"d=$(mktemp -d) && baleen save %s -o $d/filter && "
			"baleen restore %s $d/filter --force",
			patient->word.text, baleen_shell_word(port->name).text);
	}
}

static void check_promiscuous(struct baleen_patient *patient)
{
	const struct baleen_link *link = patient->link;

	if (!link->n_promiscuous)
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "promiscuous",
				   "the device takes frames that are for it");
	else if (link->flags & IFF_PROMISC && !link->master)
		baleen_finding_mend(baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "promiscuous",
						       "promiscuous: frames for other hosts are "
						       "filtered and counted, too"),
				    "ip link set dev %s promisc off", patient->word.text);
	else
		baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "promiscuous",
				   "promiscuous, as a bridge or a capture asks for it: frames for "
				   "other hosts are filtered and counted, too");
}

void baleen_checkup_device(struct baleen_patient *patient)
{
	check_lro(patient);
	check_gro(patient);
	check_hardware_gro(patient);
	check_queues(patient);
	check_tags(patient);
	check_lowers(patient);
	check_ports(patient);
	check_promiscuous(patient);
}
