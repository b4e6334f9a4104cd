// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checkup: is Baleen tried with these releases of kernel, libraries and compiler? */
#include <stdio.h>
#include <sys/utsname.h>

#include "release.h"
#include "report/checkup_parts.h"
#include "xdp/library_versions.h"

struct version {
	int major, minor;
};

/* The tables of docs/platforms.md. */
static const struct part {
	const char *check, *name;
	struct version oldest, newest;
} kernel = { "kernel", "Linux", { 6, 1 }, { 6, 18 } },
  libbpf = { "libbpf", "libbpf", { 1, 1 }, { 1, 5 } },
  libxdp = { "libxdp", "libxdp", { 1, 3 }, { 1, 5 } },
  clang = { "clang", "programs of clang", { 13, 0 }, { 22, 1 } };

static int compare(struct version a, struct version b)
{
	return a.major != b.major ? a.major - b.major : a.minor - b.minor;
}

/* Adds what is known of @part with @release; @mend is for one that is too old. */
static void check_part(struct baleen_patient *patient, const struct part *part, const char *release,
		       const char *mend)
{
	struct version version;

	if (sscanf(release, "%d.%d", &version.major, &version.minor) != 2)
		baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, part->check,
				   "%s: its release cannot be told", part->name);
	else if (compare(version, part->oldest) < 0)
		baleen_finding_mend(baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, part->check,
						       "%s %s: baleen needs %d.%d or newer",
						       part->name, release, part->oldest.major,
						       part->oldest.minor),
				    "%s", mend);
	else if (compare(version, part->newest) > 0)
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, part->check,
				   "%s %s: newer than the newest that baleen is tried with, %d.%d",
				   part->name, release, part->newest.major, part->newest.minor);
	else
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, part->check,
				   "%s %s: baleen is tried with %d.%d to %d.%d", part->name,
				   release, part->oldest.major, part->oldest.minor,
				   part->newest.major, part->newest.minor);
}

void baleen_checkup_versions(struct baleen_patient *patient)
{
	char version[BALEEN_LIBRARY_VERSION_BYTES];
	struct utsname name = { 0 };

	uname(&name);
	check_part(patient, &kernel, name.release,
		   "apt-get install linux-image-$(dpkg --print-architecture) && reboot");
	baleen_libbpf_version(version);
	check_part(patient, &libbpf, version, "apt-get install libbpf1");
	baleen_libxdp_version(version);
	check_part(patient, &libxdp, version, "apt-get install libxdp1");
	check_part(patient, &clang, BALEEN_BPF_COMPILER, "make clean && make CLANG=clang");
}
