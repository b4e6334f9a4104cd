// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The constants of a loaded program, read back. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "net/device.h"
#include "xdp/config.h"
#include "xdp/limit_words.h"

/* The size of each version: up to the end of its last member. */
#define END_OF(member) \
	(offsetof(struct baleen_config, member) + sizeof(((struct baleen_config *)0)->member))

static const size_t version_bytes[] = {
	[2 - BALEEN_CONFIG_OLDEST] = END_OF(rule),
	[3 - BALEEN_CONFIG_OLDEST] = END_OF(code),
	[4 - BALEEN_CONFIG_OLDEST] = END_OF(code),
	[5 - BALEEN_CONFIG_OLDEST] = END_OF(recent_buckets),
	[6 - BALEEN_CONFIG_OLDEST] = END_OF(port_lock_bit),
	[7 - BALEEN_CONFIG_OLDEST] = END_OF(no_ethernet),
	[8 - BALEEN_CONFIG_OLDEST] = END_OF(limit),
	[9 - BALEEN_CONFIG_OLDEST] = END_OF(limit),
	[10 - BALEEN_CONFIG_OLDEST] = END_OF(prefilter),
	[11 - BALEEN_CONFIG_OLDEST] = END_OF(tcp),
	[12 - BALEEN_CONFIG_OLDEST] = END_OF(loads_stay),
};

_Static_assert(sizeof(version_bytes) / sizeof(version_bytes[0]) ==
		       BALEEN_CONFIG_VERSION - BALEEN_CONFIG_OLDEST + 1,
	       "each version that is understood has its size above");

static bool is_size_of(u32 version, size_t n_bytes)
{
	return version >= BALEEN_CONFIG_OLDEST && version <= BALEEN_CONFIG_VERSION &&
	       n_bytes == version_bytes[version - BALEEN_CONFIG_OLDEST];
}

static bool is_sound(const struct baleen_config *config)
{
	if (config->n_rules > BALEEN_MAX_RULES || config->attach_type > BALEEN_ATTACH_TYPE_CHAIN ||
	    config->prefilter_rules >> config->n_rules)
		return false;
	for (u32 i = 0; i < config->n_rules; i++) {
		const struct baleen_rule *rule = &config->rule[i];

		if (rule->slot >= BALEEN_MAX_RULES || rule->action > BALEEN_ACTION_COUNT ||
		    rule->qualifiers.n_dports > BALEEN_MAX_PORTS ||
		    rule->qualifiers.established & ~BALEEN_ESTABLISHED_ALL ||
		    config->limits > BALEEN_LIMITS_PEEK ||
		    baleen_limit_words_check(&config->limit[i].typed, NULL) ||
		    config->recent_buckets[i] & (config->recent_buckets[i] - 1))
			return false;
	}
	return true;
}

int baleen_config_decode(const void *value, size_t n_bytes, struct baleen_config *config)
{
	struct baleen_config read = { 0 };

	if (n_bytes < sizeof(read.version) || n_bytes > sizeof(read))
		return -EPROTO;
	memcpy(&read, value, n_bytes);
	for (u32 i = 0; i < BALEEN_MAX_RULES && i < read.n_rules; i++)
		if (read.limit[i].interval_ns)
			read.rule[i].slot &= ~BALEEN_SLOT_LIMITED;
	if (!is_size_of(read.version, n_bytes) || !is_sound(&read))
		return -EPROTO;
	/* Names end where their room does, whoever made this map. */
	read.device[sizeof(read.device) - 1] = '\0';
	for (u32 i = 0; i < read.n_rules; i++)
		read.rule[i].image.name[BALEEN_NAME_BYTES - 1] = '\0';
	read.version = BALEEN_CONFIG_VERSION;
	read.limits = BALEEN_LIMITS_NONE;
	*config = read;
	return 0;
}

int baleen_config_read(const struct baleen_pins *pins, u32 program_id, struct baleen_config *config)
{
	struct baleen_config value;
	struct bpf_map_info info = { 0 };
	u32 zero = 0, bytes = sizeof(info);
	int fd = baleen_pins_open(pins, program_id, "config");
	int err;

	if (fd < 0)
		return fd;
	err = bpf_obj_get_info_by_fd(fd, &info, &bytes);
	if (!err)
		err = info.value_size <= sizeof(value) ? bpf_map_lookup_elem(fd, &zero, &value) :
							 -EPROTO;
	close(fd);
	return err ? err : baleen_config_decode(&value, info.value_size, config);
}

int baleen_config_set_device(struct baleen_config *config, const char *device, int ifindex)
{
	char base[BALEEN_POINT_BYTES];
	bool has_ethernet;
	int err = baleen_device_has_ethernet(ifindex, &has_ethernet);

	if (err)
		return err;
	snprintf(config->device, sizeof(config->device), "%.15s", baleen_device_base(device, base));
	config->is_egress = ifindex < 0;
	config->no_ethernet = !has_ethernet;
	return 0;
}
