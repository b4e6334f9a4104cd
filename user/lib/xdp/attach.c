// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Putting rules on a device that has no XDP program, or a chain of them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "net/bpffs.h"
#include "net/kmod_hook.h"
#include "util/announce.h"
#include "util/libbpf_log.h"
#include "util/shell.h"
#include "xdp/attach.h"
#include "xdp/attachment.h"
#include "xdp/config.h"
#include "xdp/dispatcher.h"
#include "xdp/load.h"
#include "xdp/prefilter_rules.h"
#include "xdp/pins.h"

static const struct baleen_attempt attempts_to_make[BALEEN_MAX_ATTEMPTS] = {
	{ "native with multi-buffer frames", BALEEN_MODE_NATIVE, true },
	{ "native", BALEEN_MODE_NATIVE, false },
	{ "generic", BALEEN_MODE_GENERIC, true },
};

static const struct baleen_attempt egress_attempt = { "egress", BALEEN_MODE_EGRESS, true };

static int note(struct baleen_attempts *attempts, const struct baleen_attempt *attempt, int err,
		const struct baleen_error *error)
{
	u32 n = attempts->n_failed;

	if (err) {
		snprintf(attempts->failed[n].reason, sizeof(attempts->failed[n].reason), "%.200s",
			 error->text);
		attempts->failed[n].what = attempt->what;
		attempts->n_failed++;
		return err;
	}
	attempts->mode = attempt->mode;
	attempts->frags = attempt->frags;
	return 0;
}

/* Another mode would fail for the same reason. -ENOSPC is none: veth refuses native mode
 * with it when its peer has more queues.
 */
static bool is_final(int err)
{
	return err == -ENOMEM || err == -EPERM || err == -EINTR;
}

int baleen_attempts_make(struct baleen_attempts *attempts, const char *device,
			 enum baleen_mode mode, baleen_attempt_try *try, void *data,
			 struct baleen_error *error)
{
	struct baleen_error why;
	int err = -EINVAL;

	for (u32 i = 0; i < BALEEN_MAX_ATTEMPTS && err && !is_final(err); i++) {
		const struct baleen_attempt *attempt = &attempts_to_make[i];

		if (mode != BALEEN_MODE_AUTO && mode != attempt->mode)
			continue;
		err = note(attempts, attempt, try(attempt, data, &why), &why);
	}
	return err ? baleen_fail(error, -err, "cannot attach to %s: %s", device,
				 attempts->failed[attempts->n_failed - 1].reason) :
		     0;
}

/* There is one way only. */
static int attempt_egress(struct baleen_attempts *attempts, const char *device,
			  baleen_attempt_try *try, void *data, struct baleen_error *error)
{
	struct baleen_error why;
	int err = try(&egress_attempt, data, &why);

	if (err)
		return baleen_fail(error, -err, "cannot attach to %s: %s", device, why.text);
	return note(attempts, &egress_attempt, 0, NULL);
}

/**
 * struct attach - an attach of rules
 * @pins: pins of the device, locked
 * @config: constants
 * @loaded: the maps
 */
struct attach {
	const struct baleen_pins *pins;
	struct baleen_config *config;
	struct baleen_loaded *loaded;
};

/* The pins come first: what is on the device is always known. */
static int try_attach(const struct baleen_attempt *attempt, void *data, struct baleen_error *error)
{
	struct attach *attach = data;
	struct baleen_loaded *loaded = attach->loaded;
	int err;

	attach->config->frags = attempt->frags;
	err = baleen_load_program(attach->config, loaded, error);
	if (!err)
		err = baleen_loaded_pin(loaded, attach->pins->path, error);
	if (!err)
		err = baleen_attachment_attach(attach->config->attach_type, attach->pins, loaded,
					       attempt->mode, error);
	if (err) {
		baleen_loaded_drop_program(loaded);
		baleen_pins_clean(attach->pins, 0);
	}
	return err;
}

/* An object of `baleen compile`, or a filter attached where other pins are seen, as in another
 * container.
 */
static const char ours_elsewhere[] =
	", as an object with 'ip link set ... xdp off', else with baleen where the pins "
	"in " BALEEN_BPFFS " are seen";

static int refuse_ours(const struct baleen_attachment *attachment, const char *device, u32 there_id,
		       struct baleen_error *error)
{
	if (!attachment->is_taken)
		return 0;
	if (attachment->attach_type == BALEEN_ATTACH_TYPE_LINK &&
	    attachment->program_id != there_id)
		return baleen_fail(error, EBUSY,
				   "%s has the number of a device that took its filter to another "
				   "network namespace: 'baleen detach %s' takes that off",
				   device, baleen_shell_word(device).text);
	return baleen_fail(error, EBUSY,
			   "baleen is attached to %s already: 'baleen swap' changes a rule, "
			   "'baleen detach %s' takes it off",
			   device, baleen_shell_word(device).text);
}

static int refuse_occupied(const struct baleen_pins *pins,
			   const struct baleen_attachment *attachment, const char *device,
			   enum baleen_attach_type attach_type, struct baleen_error *error)
{
	struct baleen_program there = { 0 };
	bool is_chain;
	int err;

	if (pins->ifindex < 0)
		return refuse_ours(attachment, device, attachment->program_id, error);
	err = baleen_device_program(pins->ifindex, &there);
	if (err)
		return baleen_fail(error, -err, "%s: %s", device, strerror(-err));
	err = refuse_ours(attachment, device, there.id, error);
	if (err || !there.id)
		return err;
	is_chain = baleen_dispatcher_is_there(pins->ifindex);
	if (is_chain && attach_type == BALEEN_ATTACH_TYPE_CHAIN)
		return 0;
	if (is_chain)
		return baleen_fail(error, EBUSY,
				   "%s runs a chain of XDP programs (id %u, %s) already: --chain "
				   "joins it",
				   device, there.id, baleen_mode_text(there.mode));
	if (!strcmp(there.name, "baleen_icp"))
		return baleen_fail(error, EBUSY,
				   "%s runs the XDP program '%s' (id %u, %s) already: 'baleen icp "
				   "detach %s' takes it off",
				   device, there.name, there.id, baleen_mode_text(there.mode),
				   baleen_shell_word(device).text);
	if (!strcmp(there.name, "baleen_icp_feed"))
		return baleen_fail(error, EBUSY,
				   "%s runs the XDP program '%s' (id %u, %s) already, for another "
				   "device that answers ICP: 'baleen icp status' says which",
				   device, there.name, there.id, baleen_mode_text(there.mode));
	return baleen_fail(error, EBUSY,
			   "%s runs the XDP program '%s' (id %u, %s) already: detach it first%s",
			   device, there.name[0] ? there.name : "?", there.id,
			   baleen_mode_text(there.mode),
			   baleen_load_is_ours(there.name) ? ours_elsewhere : "");
}

/* Empties the pins for the new program. */
static int clear(const struct baleen_pins *pins, const char *device,
		 enum baleen_attach_type attach_type, struct baleen_error *error)
{
	struct baleen_attachment attachment;
	int err = baleen_attachment_find(pins, &attachment);

	if (err && err != -ENOENT)
		return baleen_attachment_fail(pins, err, error);
	err = refuse_occupied(pins, &attachment, device, attach_type, error);
	if (!err) {
		baleen_attachment_tidy(&attachment, pins);
		baleen_pins_empty(pins);
	}
	baleen_attachment_close(&attachment);
	return err;
}

static int check(const struct baleen_ruleset *ruleset, struct baleen_error *error)
{
	int err = baleen_ruleset_check(ruleset, error);

	for (u32 i = 0; i < ruleset->n_rules && !err; i++)
		if (ruleset->rule[i].live != BALEEN_RULE_NEW || !ruleset->rule[i].filter)
			err = baleen_fail(error, EINVAL, "rule '%s' continues another",
					  ruleset->rule[i].name);
	return err ? err : baleen_ruleset_fits(ruleset, NULL, error);
}

static int configure(struct baleen_config *config, const char *device, int ifindex,
		     const struct baleen_ruleset *ruleset, enum baleen_mode mode,
		     enum baleen_attach_type attach_type, struct baleen_error *error)
{
	int err;

	memset(config, 0, sizeof(*config));
	config->mode = mode;
	config->attach_type = baleen_attachment_type(ifindex, attach_type);
	err = baleen_config_set_device(config, device, ifindex);
	if (err)
		return baleen_fail(error, -err, "%s: %s", device, strerror(-err));
	baleen_ruleset_configure(ruleset, config, NULL, config);
	/* Once, and not for each way to attach. */
	return baleen_load_check_rules(config, error);
}

/* Options that XDP has and tc has not. */
static int refuse_egress(const char *device, enum baleen_mode mode,
			 enum baleen_attach_type attach_type, struct baleen_error *error)
{
	if (mode != BALEEN_MODE_AUTO)
		return baleen_fail(error, EOPNOTSUPP,
				   "%s: what goes out has no mode: native and generic are for what "
				   "comes in",
				   device);
	if (attach_type == BALEEN_ATTACH_TYPE_CHAIN)
		return baleen_fail(error, EOPNOTSUPP,
				   "%s: a chain is for what comes in: others at the egress are "
				   "asked anyway",
				   device);
	return 0;
}

int baleen_xdp_attach(const char *device, const struct baleen_ruleset *ruleset,
		      enum baleen_mode mode, enum baleen_attach_type attach_type,
		      struct baleen_attempts *attempts, struct baleen_error *error)
{
	struct baleen_config config;
	struct baleen_loaded loaded;
	struct baleen_pins pins = { .lock_fd = -1 };
	struct attach attach = { .pins = &pins, .config = &config, .loaded = &loaded };
	int ifindex = 0, err;

	memset(attempts, 0, sizeof(*attempts));
	baleen_loaded_init(&loaded);
	err = check(ruleset, error);
	if (!err)
		err = baleen_device_ifindex(device, &ifindex, error);
	if (!err && ifindex < 0)
		err = refuse_egress(device, mode, attach_type, error);
	if (!err)
		err = configure(&config, device, ifindex, ruleset, mode, attach_type, error);
	if (!err && ifindex > 0 && baleen_kmod_has_rules(ifindex))
		err = baleen_fail(error, EBUSY,
				  "%s has rules of the kernel module already: 'baleen detach %s' "
				  "takes them off",
				  device, baleen_shell_word(device).text);
	if (!err)
		err = baleen_pins_name(&pins, ifindex, error);
	if (!err)
		err = baleen_pins_lock(&pins, BALEEN_LOCK_TIMEOUT_MS, error);
	if (err)
		return err;
	err = clear(&pins, device, attach_type, error);
	if (!err)
		err = baleen_load_maps(ruleset, &loaded, error);
	if (!err)
		baleen_prefilter_rules(&config, &loaded);
	if (!err)
		err = ifindex < 0 ? attempt_egress(attempts, device, try_attach, &attach, error) :
				    baleen_attempts_make(attempts, device, mode, try_attach,
							 &attach, error);
	if (!err)
		baleen_announce();
	baleen_loaded_close(&loaded);
	baleen_pins_unlock(&pins);
	return err;
}
