// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checkup: state, disk, daemon and clock. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include "deploy/mend.h"
#include "net/daemon_lock.h"
#include "report/checkup_parts.h"
#include "state/entries.h"
#include "state/never_names.h"
#include "state/rule_store_path.h"
#include "util/duration.h"
#include "util/shell.h"

/* A few large feeds, and the copies that a change needs. */
#define LEAST_FREE_BYTES (64ull << 20)
#define DAEMON "baleend"

static void check_state(struct baleen_patient *patient)
{
	const char *name = patient->link->name;
	struct baleen_finding *finding = NULL;
	char command[BALEEN_MEND_BYTES];

	if (patient->state_code == -EACCES && !patient->may_load)
		baleen_checkup_add_unknown(patient, "state", "what is kept of this device");
	else if (patient->state_code && patient->state_code != -ENOENT)
		finding = baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, "state", "%s",
					     patient->state_error.text);
	else if (patient->unkept)
		baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, "state",
				   "the last changes are in force, but not in %s: %s; a reboot "
				   "undoes them, unless there is room before",
				   patient->state_path, patient->unkept);
	else if (patient->is_kept)
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "state",
				   "kept in %s, and put on again at boot", patient->state_path);
	else if (patient->has_xdp)
		baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "state",
				   "attached by hand: gone after a reboot, unless "
				   "/etc/baleen/%s.conf is written and applied",
				   name);
	else
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "state", "nothing is kept");
	if (baleen_mend_command(name, command))
		baleen_finding_mend(finding ?:
					      baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM,
								 "state", "its database is damaged"),
				    "%s", command);
	if (patient->is_marked)
		baleen_finding_mend(
			baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "interrupted",
					   "a change of the live rules was interrupted; "
					   "the next change puts them right"),
			"baleen update %s", patient->word.text);
	if (patient->is_behind)
		baleen_finding_mend(
			baleen_checkup_add(
				patient, BALEEN_LEVEL_PROBLEM, "behind",
				"the last bans are kept, and not in force here: it could "
				"not be changed; the next change puts them in force"),
			"baleen update %s", patient->word.text);
	if (*baleen_conf_edits_text(&patient->edits).text)
		baleen_finding_mend(
			baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "edited", "%s",
					   baleen_conf_edits_text(&patient->edits).text),
			"%s", baleen_conf_edits_command(&patient->edits, name).text);
}

/* A renamed device has its state by the name that it had, until the new one has a state. */
static void check_renamed(struct baleen_patient *patient)
{
	const char *name = patient->link->name;
	struct baleen_rule_store state;
	struct baleen_finding *finding;
	char old[BALEEN_POINT_BYTES];

	if (!patient->has_xdp || !strcmp(baleen_xdp_old_name(&patient->xdp, old), name) ||
	    baleen_device_index(old) || baleen_rule_store_open(&state, old, 0, NULL))
		return;
	finding = baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "renamed",
				     !strcmp(state.now, name) ?
					     "it was %s, and its state goes by that name: a "
					     "configuration of the new name begins without its "
					     "bans" :
					     "it was %s, whose state is left, with its bans",
				     old);
	if (strcmp(state.now, name))
		baleen_finding_mend(finding, "baleen detach --forget %s",
				    baleen_shell_word(old).text);
	baleen_rule_store_close(&state);
}

/* The nearest directory above that exists; @path is cut there. */
static int look_at_disk(char *path, struct statvfs *disk)
{
	while (statvfs(path, disk)) {
		char *slash = strrchr(path, '/');

		if (!slash || slash == path)
			return statvfs("/", disk);
		*slash = '\0';
	}
	return 0;
}

static void check_space(struct baleen_patient *patient)
{
	const char *root = baleen_rule_store_root(true);
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	struct statvfs disk;
	u64 free_bytes;

	snprintf(path, sizeof(path), "%s", root);
	if (look_at_disk(path, &disk))
		return;
	free_bytes = (u64)disk.f_bavail * disk.f_frsize;
	if (free_bytes < LEAST_FREE_BYTES)
		baleen_finding_mend(
			baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, "space",
					   "%llu MB are free for %s: bans and feeds are refused "
					   "once there are none",
					   (unsigned long long)free_bytes >> 20, root),
			"du -xm %s | sort -n | tail -n 20", baleen_shell_word(path).text);
	else if (disk.f_flag & ST_RDONLY)
		baleen_finding_mend(baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, "space",
						       "%s is on a file system that is mounted "
						       "read-only: nothing can be kept",
						       root),
				    "mount -o remount,rw \"$(stat -c %%m %s)\"",
				    baleen_shell_word(path).text);
	else
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "space", "%llu MB are free for %s",
				   (unsigned long long)free_bytes >> 20, root);
}

/* Lists tasks of this device that nobody does without baleend; "" when there are none. */
static const char *list_undone(const struct baleen_patient *patient, char text[static 256])
{
	const char *const undone[] = {
		patient->has_ends ? "entries stay in force after their end, until the next "
				    "command that changes the device" :
				    NULL,
		patient->limits_ban ? "limits ban nobody" : NULL,
		patient->is_kept ? "feeds are not looked for" : NULL,
		patient->is_kept && *patient->rules.icp ? "what caches hold is not read again" :
							  NULL,
		patient->is_kept ? "a device that comes again has no filter" : NULL,
	};
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(undone) / sizeof(undone[0]); i++)
		if (undone[i])
			used += snprintf(text + used, 256 - used, "%s%s", used ? ", " : "",
					 undone[i]);
	return text;
}

static void check_daemon(struct baleen_patient *patient)
{
	char undone[256];

	if (baleen_daemon_is_running())
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "daemon", DAEMON " is running");
	else if (!patient->may_load)
		baleen_checkup_add_unknown(patient, "daemon", "whether " DAEMON " is running");
	else if (*list_undone(patient, undone))
		baleen_finding_mend(baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "daemon",
						       DAEMON " is not running: %s", undone),
				    "systemctl enable --now " DAEMON);
	else
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "daemon",
				   DAEMON " is not running, and there is nothing for it to do");
}

static void check_clock(struct baleen_patient *patient)
{
	struct timex clock = { 0 };

	if (adjtimex(&clock) == TIME_ERROR || clock.status & STA_UNSYNC)
		baleen_finding_mend(
			baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "clock",
					   "the clock is not synchronized: entries "
					   "expire when it says so"),
			"timedatectl set-ntp true || apt-get install systemd-timesyncd");
	else
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "clock", "the clock is synchronized");
}

/* Adds a note of a name whose addresses are not, or may no more be, those that are withheld. */
static int check_name(const struct baleen_never_name *name, void *data)
{
	struct baleen_patient *patient = data;
	u64 now_ms = baleen_now_ms(), age_ms = now_ms - name->answered_ms;
	const char *why = *name->failure ? name->failure : "it was not asked since";
	char age[BALEEN_DURATION_TEXT];
	bool is_half = *name->failure && name->answered_ms && name->answered_ms == name->asked_ms;
	struct baleen_finding *finding;

	if (!is_half && name->answered_ms &&
	    (name->answered_ms > now_ms || age_ms <= BALEEN_NEVER_NAME_OLD_S * 1000ull))
		return 0;
	if (!name->answered_ms)
		finding = baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "names",
					     "never-name %s has no address yet: %s", name->name,
					     *name->failure ? name->failure : "it was not asked");
	else if (is_half)
		finding = baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "names",
					     "never-name %s has half an answer: %s", name->name,
					     name->failure);
	else
		finding = baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "names",
					     "the last answer for never-name %s is %s old: %s",
					     name->name, baleen_duration_format(age_ms, age), why);
	baleen_finding_mend(finding, "baleen update %s", patient->word.text);
	return 0;
}

static void check_names(struct baleen_patient *patient)
{
	struct baleen_rule_store state;

	if (baleen_rule_store_open(&state, patient->link->name, 0, NULL))
		return;
	baleen_never_names_each(&state, check_name, patient, NULL);
	baleen_rule_store_close(&state);
}

void baleen_checkup_host(struct baleen_patient *patient)
{
	check_state(patient);
	check_renamed(patient);
	check_names(patient);
	check_space(patient);
	check_daemon(patient);
	check_clock(patient);
}
