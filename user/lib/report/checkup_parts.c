// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Findings as the parts of a checkup add them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/checkup_parts.h"

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

void baleen_checkup_add_unknown(struct baleen_patient *patient, const char *check, const char *what)
{
	baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, check, "unknown without root: %s", what);
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

void baleen_finding_mend_again(const struct baleen_patient *patient, struct baleen_finding *finding,
			       const char *first)
{
	size_t length = strlen(finding->text);

	baleen_finding_mend(finding, "%s%s%s", first, *first ? " && " : "", patient->again);
	if (!patient->is_kept && patient->n_single_entries)
		snprintf(finding->text + length, sizeof(finding->text) - length,
			 " (%llu single entries become part of the lists: origin and end are "
			 "forgotten)",
			 (unsigned long long)patient->n_single_entries);
}
