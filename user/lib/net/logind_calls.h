/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions of libsystemd that ask logind; see util/late_library.h. */
#ifndef BALEEN_LOGIND_CALLS_H
#define BALEEN_LOGIND_CALLS_H

#include <systemd/sd-login.h>

#define LOGIND_CALLS(CALL)               \
	CALL(sd_get_sessions)            \
	CALL(sd_session_is_remote)       \
	CALL(sd_session_get_remote_host) \
	CALL(sd_session_get_state)

#endif /* BALEEN_LOGIND_CALLS_H */
