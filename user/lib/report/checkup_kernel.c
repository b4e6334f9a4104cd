// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checkup: the kernel, as far as a filter depends on it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "net/bpffs.h"
#include "report/checkup_parts.h"
#include "util/fd.h"
#include "util/input.h"
#include "xdp/kernel_conntrack.h"
#include "xdp/load.h"
#include "xdp/pins.h"

#define SYSCTL_ROOT "/proc/sys/"
#define INIT_NETNS "/proc/1/ns/net"

/* Prefix of `sysctl` for a setting that only the first network namespace has. */
#define IN_INIT_NETNS "nsenter --net=" INIT_NETNS " "

static void check_privileges(struct baleen_patient *patient)
{
	struct baleen_error error;

	if (!baleen_device_privileges(&error))
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "capabilities",
				   "this process may load and attach");
	else
		baleen_finding_mend(
			baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, "capabilities",
					   "%s: it cannot attach, and not all is seen here",
					   error.text),
			"sudo baleen doctor %s", patient->word.text);
}

/* --- settings -------------------------------------------------------------- */

/* Some settings of the host are shown in its first network namespace alone. The
 * file that is opened there goes on to be that one's.
 */
static int open_in_init_netns(const char *path)
{
	int here = baleen_input_open("/proc/self/ns/net", BALEEN_INPUT_SYSTEM, NULL);
	int there = baleen_input_open(INIT_NETNS, BALEEN_INPUT_SYSTEM, NULL);
	int fd = -1;

	if (here >= 0 && there >= 0 && !setns(there, CLONE_NEWNET)) {
		fd = baleen_input_open(path, BALEEN_INPUT_SYSTEM, NULL);
		/* All later checks would look at other devices. */
		if (setns(here, CLONE_NEWNET))
			abort();
	}
	baleen_close_fd(&here);
	if (there >= 0)
		close(there);
	return fd;
}

/* @prefix: what a command needs in front to change it */
static int read_setting(const char *name, int *value, const char **prefix)
{
	char path[128], text[16] = "";
	int fd;

	snprintf(path, sizeof(path), SYSCTL_ROOT "%s", name);
	fd = baleen_input_open(path, BALEEN_INPUT_SYSTEM, NULL);
	*prefix = "";
	if (fd < 0 && errno == ENOENT) {
		fd = open_in_init_netns(path);
		*prefix = IN_INIT_NETNS;
	}
	if (fd < 0)
		return -ENOENT;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	*value = atoi(text);
	return text[0] ? 0 : -EIO;
}

/* Loaded is what a program was compiled to then. */
static const char *reload(const struct baleen_patient *patient, char *text, size_t bytes)
{
	text[0] = '\0';
	if (patient->has_xdp)
		snprintf(text, bytes, " && baleen refresh --force %s", patient->word.text);
	return text;
}

static void check_hardening(struct baleen_patient *patient)
{
	const char *prefix;
	char again[BALEEN_SHELL_WORD_BYTES + 64];
	int value;

	if (read_setting("net/core/bpf_jit_harden", &value, &prefix))
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "jit-harden",
				   "net.core.bpf_jit_harden cannot be read from here");
	else if (value < 2)
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "jit-harden",
				   "programs of root are compiled as they are");
	else
		baleen_finding_mend(
			baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "jit-harden",
					   "net.core.bpf_jit_harden is 2: constants are hidden in "
					   "programs of root, too, which makes them slower"),
			"%ssysctl -w net.core.bpf_jit_harden=1%s", prefix,
			reload(patient, again, sizeof(again)));
}

static void check_stats(struct baleen_patient *patient)
{
	const char *prefix;
	int value;

	if (!read_setting("kernel/bpf_stats_enabled", &value, &prefix) && value)
		baleen_finding_mend(
			baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "bpf-stats",
					   "the run time of BPF programs is measured: the clock "
					   "costs each packet more than the filter does"),
			"sysctl -w kernel.bpf_stats_enabled=0");
	else
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "bpf-stats",
				   "no time goes into measuring BPF programs");
}

/* --- programs -------------------------------------------------------------- */

/* A program without rules, for an attach type; attached to nothing. */
static int load_sample(enum baleen_attach_type attach_type, struct baleen_loaded *loaded,
		       struct baleen_error *error)
{
	struct baleen_config config = { .frags = true, .attach_type = attach_type };

	baleen_loaded_init(loaded);
	return baleen_load_program(&config, loaded, error);
}

static void check_jit(struct baleen_patient *patient, const struct baleen_loaded *loaded)
{
	const char *prefix = "";
	char again[BALEEN_SHELL_WORD_BYTES + 64];
	int value;

	if (baleen_loaded_is_compiled(loaded)) {
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "jit",
				   "programs are compiled to machine code");
		return;
	}
	read_setting("net/core/bpf_jit_enable", &value, &prefix);
	baleen_finding_mend(baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, "jit",
					       "BPF programs are interpreted, not compiled: each "
					       "packet costs several times as much"),
			    "%ssysctl -w net.core.bpf_jit_enable=1%s", prefix,
			    reload(patient, again, sizeof(again)));
}

static void check_program(struct baleen_patient *patient)
{
	struct baleen_loaded loaded;
	struct baleen_error error;

	if (load_sample(BALEEN_ATTACH_TYPE_LINK, &loaded, &error)) {
		baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, "program", "%s", error.text);
		return;
	}
	baleen_checkup_add(patient, BALEEN_LEVEL_OK, "program", "the kernel takes the program");
	check_jit(patient, &loaded);
	baleen_loaded_close(&loaded);
}

static void check_chain(struct baleen_patient *patient)
{
	struct baleen_loaded loaded;

	if (!load_sample(BALEEN_ATTACH_TYPE_CHAIN, &loaded, NULL)) {
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "chain",
				   "'attach --chain' could share the device with other programs");
		baleen_loaded_close(&loaded);
		return;
	}
	baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "chain",
			   "no 'attach --chain' here: the kernel %s",
			   access("/sys/kernel/btf/vmlinux", F_OK) ?
				   "has no BTF" :
				   "replaces no functions of programs (freplace)");
}

/* --- pins ------------------------------------------------------------------ */

static void check_bpffs(struct baleen_patient *patient)
{
	char bpffs[BALEEN_BPFFS_BYTES], root[BALEEN_PIN_ROOT_BYTES];
	struct stat stat;

	if (baleen_bpffs_find(bpffs, NULL) || baleen_pins_root(BALEEN_PINS, root, NULL) ||
	    !baleen_bpffs_is_mounted(bpffs))
		baleen_finding_mend(baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "bpffs",
						       "no bpffs on " BALEEN_BPFFS ", so no filter "
						       "is seen; 'ip netns exec NAME' hides it, "
						       "'nsenter --net=/run/netns/NAME' does not"),
				    "mount -t bpf -o mode=0700 bpf " BALEEN_BPFFS);
	else if (!lstat(root, &stat) &&
		 (!S_ISDIR(stat.st_mode) || stat.st_uid || stat.st_mode & 077))
		baleen_finding_mend(baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, "bpffs",
						       "%s is not root's alone: "
						       "nothing is attached with it there",
						       root),
				    "rm -r %s", root);
	else
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "bpffs", "filters are kept in %s",
				   root);
}

/* --- conntrack -------------------------------------------------------------- */

#define CONNTRACK_COUNT "net/netfilter/nf_conntrack_count"

static bool asks_conntrack(const struct baleen_patient *patient)
{
	return patient->has_xdp && patient->xdp.config.established & BALEEN_ESTABLISHED_CONNTRACK;
}

static void check_conntrack(struct baleen_patient *patient)
{
	struct baleen_error error;
	const char *prefix;
	int n_flows;

	if (baleen_kernel_has_conntrack(false, &error)) {
		/* Most hosts miss nothing. */
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "conntrack",
				   "no rule may ask for flows: %s", error.text);
	} else if (!asks_conntrack(patient)) {
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "conntrack",
				   "rules may ask for flows of the kernel's conntrack");
	} else if (read_setting(CONNTRACK_COUNT, &n_flows, &prefix) || *prefix || n_flows) {
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, "conntrack",
				   "the kernel follows flows, and a rule asks for them");
	} else {
		baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "conntrack",
				   "a rule asks for flows, and the kernel knows none: it follows "
				   "them where a rule of nftables asks for 'ct state'");
	}
}

void baleen_checkup_kernel(struct baleen_patient *patient)
{
	check_privileges(patient);
	baleen_checkup_versions(patient);
	check_bpffs(patient);
	if (patient->may_load) {
		check_program(patient);
		check_chain(patient);
	}
	check_conntrack(patient);
	check_hardening(patient);
	check_stats(patient);
}
