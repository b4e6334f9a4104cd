// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The constants of a loaded program, read back. */
#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "config.h"

int baleen_config_read(const struct baleen_pins *pins, u32 program_id, struct baleen_config *config)
{
	struct bpf_map_info info = { 0 };
	u32 zero = 0, bytes = sizeof(info);
	int fd = baleen_pins_open(pins, program_id, "config");
	int err;

	if (fd < 0)
		return fd;
	err = bpf_obj_get_info_by_fd(fd, &info, &bytes);
	if (!err)
		err = info.value_size == sizeof(*config) ? bpf_map_lookup_elem(fd, &zero, config) :
							   -EPROTO;
	if (!err && (config->version != BALEEN_CONFIG_VERSION ||
		     config->n_rules > BALEEN_MAX_RULES || config->place > BALEEN_PLACE_CHAIN))
		err = -EPROTO;
	close(fd);
	if (err)
		return err;
	/* Names end where their room does, whoever made this map. */
	config->device[sizeof(config->device) - 1] = '\0';
	for (u32 i = 0; i < config->n_rules; i++) {
		struct baleen_rule *rule = &config->rule[i];

		rule->image.name[BALEEN_NAME_BYTES - 1] = '\0';
		if (rule->slot >= BALEEN_MAX_RULES || rule->action > BALEEN_ACTION_COUNT ||
		    rule->qualifiers.n_dports > BALEEN_MAX_PORTS)
			return -EPROTO;
	}
	return 0;
}
