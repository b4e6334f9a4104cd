// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checkup: the filter, its mode, and programs beside it. */
#include <errno.h>
#include <stdio.h>

#include "deploy/gate_live.h"
#include "kmod/kmod_rules.h"
#include "report/checkup_parts.h"
#include "util/shell.h"
#include "xdp/dispatcher.h"

/* The largest MTU for one page, which also holds the head room of XDP, the frame's end
 * and headers with a tag, as mlx5, ixgbe, veth and others count, give or take 8 bytes.
 */
#define ONE_BUFFER_MTU 3498

/* --- the filter ------------------------------------------------------------ */

/* How to take a program off that is not ours. */
static void describe_removal(const struct baleen_patient *patient, char *text, size_t bytes)
{
	u32 link_id = baleen_links_bpf_link(patient->link->ifindex, patient->there.id);

	if (link_id)
		snprintf(text, bytes, "bpftool link detach id %u", link_id);
	else
		snprintf(text, bytes, "ip link set dev %s %s off", patient->word.text,
			 patient->there.mode == BALEEN_MODE_GENERIC ? "xdpgeneric" : "xdp");
}

static void check_out_of_force(struct baleen_patient *patient)
{
	char removal[BALEEN_SHELL_WORD_BYTES + 64] = "";

	if (patient->there.id)
		describe_removal(patient, removal, sizeof(removal));
	baleen_finding_mend_again(patient,
				  baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, "filter",
						     "NOT IN FORCE (%s): this device is not "
						     "filtered",
						     baleen_attach_status_text(
							     patient->xdp.attach_status)),
				  removal);
}

/* A kept state can put the rule on again. */
static void complain_of_map(struct baleen_patient *patient, const char *rule, const char *why)
{
	struct baleen_finding *finding =
		baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, "rules",
				   "the map of a rule is damaged: %s", why);

	if (patient->is_kept)
		baleen_finding_mend_again(patient, finding, "");
	else
		baleen_finding_mend(finding, "baleen swap %s:%s LIST", patient->word.text,
				    baleen_shell_word(rule).text);
}

/* Without a state nobody knows what was accepted. */
static void check_rate(struct baleen_patient *patient, const char *name,
		       const struct baleen_filter *filter)
{
	int at = baleen_rule_store_find_rule(&patient->rules, name);
	double fpp, accepted;

	if (at < 0)
		return;
	accepted = baleen_gate_accepts(&patient->rules.rule[at]);
	if (!baleen_filter_may_exceed(&filter->image, accepted))
		return;
	fpp = baleen_filter_worst_fpp(filter);
	if (fpp <= accepted)
		return;
	baleen_finding_mend(baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, "rate",
					       "rule %s: its false positive rate is %.3g, and it "
					       "accepts %.3g",
					       name, fpp, accepted),
			    "baleen swap %s:%s LIST", patient->word.text,
			    baleen_shell_word(name).text);
}

static void check_rules(struct baleen_patient *patient)
{
	struct baleen_filter filter = { 0 };
	struct baleen_error error;

	for (u32 i = 0; i < patient->xdp.config.n_rules; i++) {
		const char *name = patient->xdp.config.rule[i].image.name;

		if (baleen_xdp_map_rule(&patient->xdp, i, &filter, &error)) {
			complain_of_map(patient, name, error.text);
			continue;
		}
		check_rate(patient, name, &filter);
		baleen_filter_free(&filter);
	}
}

static void check_release(struct baleen_patient *patient)
{
	if (baleen_xdp_is_current(&patient->xdp))
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "release",
				   "program %u is of this version of baleen",
				   patient->xdp.program_id);
	else
		baleen_finding_mend(baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "release",
						       "program %u is of another version of baleen",
						       patient->xdp.program_id),
				    "baleen refresh %s", patient->word.text);
}

static void note_dry_run(struct baleen_patient *patient)
{
	baleen_finding_mend(baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "dry-run",
					       "a dry run: nothing is dropped"),
			    "baleen policy %s --enforce", patient->word.text);
}

static void check_dry_run(struct baleen_patient *patient)
{
	if (patient->xdp.config.dry_run)
		note_dry_run(patient);
}

static bool is_attached(const struct baleen_patient *patient)
{
	return patient->has_xdp && patient->xdp.attach_status == BALEEN_ATTACH_STATUS_ATTACHED;
}

/* Rules of the module have the device to themselves. */
static bool check_kmod(struct baleen_patient *patient)
{
	struct baleen_kmod_rules rules;

	if (baleen_kmod_rules_open(&rules, patient->link->name, false, NULL))
		return false;
	baleen_checkup_add(patient, BALEEN_LEVEL_OK, "filter",
			   "in force in the kernel module, rules: %u", rules.n_rules);
	if (rules.dry_run)
		note_dry_run(patient);
	baleen_kmod_rules_close(&rules);
	return true;
}

static void check_filter(struct baleen_patient *patient)
{
	if (patient->why_code == -ENOENT && check_kmod(patient))
		return;
	if (patient->why_code == -ENOENT && patient->is_kept) {
		baleen_finding_mend(baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, "filter",
						       "NOT IN FORCE: what was applied was taken "
						       "off"),
				    "baleen restore --boot %s", patient->word.text);
		return;
	}
	if (patient->why_code == -ENOENT) {
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "filter", "baleen is not attached");
		return;
	}
	if (!patient->has_xdp) {
		baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, "filter", "%s",
				   patient->why.text);
		return;
	}
	if (!is_attached(patient)) {
		check_out_of_force(patient);
		return;
	}
	baleen_checkup_add(patient, BALEEN_LEVEL_OK, "filter", "in force, rules: %u",
			   patient->xdp.config.n_rules);
	check_rules(patient);
	check_release(patient);
	check_dry_run(patient);
}

/* --- its mode -------------------------------------------------------------- */

/* Where the kernel does not tell what the driver can, a filter that had to be
 * generic does.
 */
static bool lacks_frags(const struct baleen_patient *patient)
{
	if (patient->has_features)
		return !(patient->features & BALEEN_XDP_RX_SG);
	return is_attached(patient) && patient->there.mode == BALEEN_MODE_GENERIC;
}

/* Why a native attach would fail; NULL when there is nothing to be seen. Also
 * what mends it, as the beginning of a command.
 */
static const char *find_obstacle(const struct baleen_patient *patient, char *mend, size_t bytes)
{
	const char *name = patient->link->name;
	struct baleen_ethtool_feature lro;

	mend[0] = '\0';
	if (!baleen_ethtool_feature(name, "rx-lro", &lro) && lro.is_on) {
		snprintf(mend, bytes, "ethtool -K %s lro off", patient->word.text);
		return "LRO merges packets before a program could see them";
	}
	if (patient->link->mtu > ONE_BUFFER_MTU && lacks_frags(patient)) {
		snprintf(mend, bytes, "ip link set dev %s mtu %d", patient->word.text,
			 ONE_BUFFER_MTU);
		return "the MTU does not fit in one buffer, and the driver takes no frames of "
		       "several";
	}
	return NULL;
}

/* As asked for on the command line, or in the configuration that was applied. */
static void check_generic_asked(struct baleen_patient *patient)
{
	if (patient->is_kept)
		baleen_checkup_add(
			patient, BALEEN_LEVEL_NOTE, "mode",
			"generic, behind the driver, several times slower than native, as "
			"its configuration says");
	else
		baleen_finding_mend_again(patient,
					  baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "mode",
							     "generic, behind the driver, several "
							     "times slower than native, as asked "
							     "for"),
					  "");
}

static void check_generic(struct baleen_patient *patient)
{
	char mend[BALEEN_SHELL_WORD_BYTES + 64];
	const char *obstacle = find_obstacle(patient, mend, sizeof(mend));

	if (patient->has_features && !(patient->features & BALEEN_XDP_BASIC))
		baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "mode",
				   "generic, behind the driver, several times slower than native: "
				   "'%s', as it is set, has no native XDP",
				   patient->driver);
	else if (patient->xdp.config.mode == BALEEN_MODE_GENERIC)
		check_generic_asked(patient);
	else
		baleen_finding_mend_again(patient,
					  baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, "mode",
							     "generic, behind the driver, several "
							     "times slower than native: %s",
							     obstacle ?
								     obstacle :
								     "something was in the way, "
								     "to attach again tells what"),
					  mend);
}

/* The mode that an attach would get. */
static void check_prospect(struct baleen_patient *patient)
{
	char mend[BALEEN_SHELL_WORD_BYTES + 64];
	const char *obstacle = find_obstacle(patient, mend, sizeof(mend));

	if (patient->has_features && !(patient->features & BALEEN_XDP_BASIC))
		baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "mode",
				   "'%s', as it is set, has no native XDP: a filter would be "
				   "generic, behind the driver, several times slower",
				   patient->driver);
	else if (obstacle)
		baleen_finding_mend(baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, "mode",
						       "no native XDP as it is: %s", obstacle),
				    "%s", mend);
	else if (patient->has_features)
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "mode", "'%s' has native XDP",
				   patient->driver);
	else
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "mode",
				   "'%s': this kernel does not tell whether that has native XDP, "
				   "'attach' will",
				   patient->driver);
}

static void check_mode(struct baleen_patient *patient)
{
	if (!is_attached(patient))
		check_prospect(patient);
	else if (patient->there.mode == BALEEN_MODE_GENERIC)
		check_generic(patient);
	else
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "mode", "%s, in the driver '%s'",
				   baleen_mode_text(patient->there.mode), patient->driver);
}

static void check_mtu(struct baleen_patient *patient)
{
	u32 mtu = patient->link->mtu;

	if (mtu <= ONE_BUFFER_MTU)
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "mtu",
				   "%u bytes, which fit in one buffer", mtu);
	else if (patient->has_features && patient->features & BALEEN_XDP_RX_SG)
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "mtu",
				   "%u bytes: the driver takes frames of several buffers", mtu);
	else
		baleen_finding_mend(
			baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "mtu",
					   "%u bytes: a driver that takes no frames of several "
					   "buffers has native XDP for some %d at most",
					   mtu, ONE_BUFFER_MTU),
			"ip link set dev %s mtu %d", patient->word.text, ONE_BUFFER_MTU);
}

/* --- other programs -------------------------------------------------------- */

static void check_other_xdp(struct baleen_patient *patient)
{
	const struct baleen_program *there = &patient->there;
	char removal[BALEEN_SHELL_WORD_BYTES + 64];

	if (!there->id || (is_attached(patient) && there->id == patient->xdp.program_id)) {
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "other-xdp",
				   "no other XDP program is there");
		return;
	}
	if (!patient->may_load && !patient->has_xdp) {
		baleen_checkup_add_unknown(patient, "other-xdp",
					   "whether the XDP program that is there is Baleen's");
		return;
	}
	if (baleen_dispatcher_is_there(patient->link->ifindex)) {
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "other-xdp",
				   "a chain of XDP programs (id %u) is there: 'attach --chain' "
				   "joins it",
				   there->id);
		return;
	}
	describe_removal(patient, removal, sizeof(removal));
	baleen_finding_mend(baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, "other-xdp",
					       "the XDP program '%s' (id %u, %s) is there: "
					       "'attach' would refuse",
					       there->name[0] ? there->name : "?", there->id,
					       baleen_mode_text(there->mode)),
			    "%s", removal);
}

static void check_tc(struct baleen_patient *patient)
{
	u32 n_filters, n_programs;

	if (baleen_links_count_tc(patient->link->ifindex, &n_filters, &n_programs))
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "tc", "tc cannot be asked here");
	else if (!n_filters && !n_programs)
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "tc",
				   "nothing of tc looks at what is received");
	else
		baleen_finding_mend(
			baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "tc",
					   "%u tc filters and %u tcx programs look at "
					   "what is received: they see what this filter "
					   "lets pass, and may drop it",
					   n_filters, n_programs),
			n_filters ? "tc filter show dev %s ingress" : "bpftool net show dev %s",
			patient->word.text);
}

void baleen_checkup_filter(struct baleen_patient *patient)
{
	check_filter(patient);
	check_mode(patient);
	check_mtu(patient);
	check_other_xdp(patient);
	check_tc(patient);
}
