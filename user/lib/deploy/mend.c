// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The command that mends a damaged state. */
#include <stdio.h>
#include <unistd.h>

#include "deploy/conf_find.h"
#include "deploy/mend.h"
#include "state/rule_store_mend.h"
#include "util/shell.h"

bool baleen_mend_command(const char *device, char *command)
{
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	bool is_default, has_conf;

	if (!baleen_rule_store_is_damaged(device))
		return false;
	has_conf = !baleen_conf_find(device, path, sizeof(path), &is_default, NULL) &&
		   !access(path, F_OK);
	snprintf(command, BALEEN_MEND_BYTES, "baleen %s %.64s",
		 has_conf ? "apply" : "detach --forget", baleen_shell_word(device).text);
	return true;
}
