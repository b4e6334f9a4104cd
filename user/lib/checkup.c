// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A checkup: the device is opened, and each part looks at it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "checkup_parts.h"

const char *baleen_level_text(enum baleen_level level)
{
	static const char *const text[] = { "ok", "note", "problem" };

	return text[level];
}

/* The last place is taken again and again, should there ever be more findings. */
struct baleen_finding *baleen_checkup_add(struct baleen_patient *patient, enum baleen_level level,
					  const char *check, const char *format, ...)
{
	struct baleen_checkup *checkup = patient->checkup;
	struct baleen_finding *finding;
	va_list args;

	if (checkup->n < BALEEN_MAX_FINDINGS)
		checkup->n++;
	finding = &checkup->finding[checkup->n - 1];
	*finding = (struct baleen_finding){ .level = level, .check = check };
	va_start(args, format);
	vsnprintf(finding->text, sizeof(finding->text), format, args);
	va_end(args);
	return finding;
}

void baleen_finding_mend(struct baleen_finding *finding, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(finding->command, sizeof(finding->command), format, args);
	va_end(args);
	/* Half a command is worse than none. */
	if (length >= (int)sizeof(finding->command))
		finding->command[0] = '\0';
}

/* By what it is saved as; `restore` tries the modes in turn and says what the
 * driver said.
 */
static void describe_again(struct baleen_patient *patient)
{
	const char *name = patient->link->name;

	snprintf(patient->again, sizeof(patient->again),
		 "d=$(mktemp -d) && baleen save %s -o $d/filter && baleen detach %s && "
		 "baleen restore %s $d/filter --mode auto --force",
		 name, name, name);
}

static int open_patient(struct baleen_patient *patient, u32 ifindex, struct baleen_error *error)
{
	int err = baleen_links_read(&patient->links, error);

	if (err)
		return err;
	patient->link = baleen_links_find(&patient->links, ifindex);
	if (!patient->link)
		return baleen_fail(error, ENODEV, "the device has just gone");
	patient->may_load = !baleen_device_privileges(NULL);
	patient->has_features = !baleen_links_xdp_features(ifindex, &patient->features);
	if (baleen_ethtool_driver(patient->link->name, patient->driver))
		patient->driver[0] = '\0';
	if (baleen_device_program(ifindex, &patient->there))
		patient->there.id = 0;
	return 0;
}

int baleen_checkup_run(const char *device, struct baleen_checkup *checkup,
		       struct baleen_error *error)
{
	struct baleen_patient patient = { .checkup = checkup };
	int ifindex, err;

	err = baleen_device_ifindex(device, &ifindex, error);
	if (err)
		return err;
	err = open_patient(&patient, ifindex, error);
	if (err)
		goto out;
	checkup->n = 0;
	baleen_checkup_kernel(&patient);
	patient.why_code = baleen_xdp_open(&patient.xdp, device, false, &patient.why);
	patient.has_xdp = !patient.why_code;
	if (patient.has_xdp)
		describe_again(&patient);
	baleen_checkup_filter(&patient);
	baleen_checkup_device(&patient);
	baleen_checkup_host(&patient);
	if (patient.has_xdp)
		baleen_xdp_close(&patient.xdp);
out:
	baleen_links_free(&patient.links);
	return err;
}
