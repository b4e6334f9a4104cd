// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages to the journal, or to stderr at a terminal. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>
#include <systemd/sd-journal.h>

#include "daemon.h"
#include "util/foreign.h"
#include "util/text_hash.h"

static bool has_journal(void)
{
	static int answer = -1;

	if (answer < 0)
		answer = getenv("JOURNAL_STREAM") != NULL;
	return answer;
}

/* Remembers an error; false when the same one was logged a short time ago. A task that is
 * tried again and again fails with the same message.
 */
static bool log_once(struct daemon *daemon, const char *device, const char *text)
{
	u64 hash_of_text = baleen_text_hash(text, baleen_text_hash(device ? device : "",
								   BALEEN_TEXT_HASH_START));
	u64 now = now_us(daemon);
	struct daemon_logged *oldest = daemon->logged;

	for (size_t i = 0; i < DAEMON_MAX_LOGGED; i++) {
		struct daemon_logged *logged = &daemon->logged[i];

		if (logged->at_us && logged->hash == hash_of_text &&
		    now - logged->at_us < DAEMON_REPEAT_US)
			return false;
		if (logged->at_us < oldest->at_us)
			oldest = logged;
	}
	*oldest = (struct daemon_logged){ .hash = hash_of_text, .at_us = now };
	return true;
}

void notify(struct daemon *daemon, int priority, const char *device, const char *format, ...)
{
	char text[1024], message[1280];
	va_list arguments;

	va_start(arguments, format);
	baleen_foreign_vformat(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (priority <= LOG_ERR && !log_once(daemon, device, text))
		return;
	daemon->me.n_errors += priority <= LOG_ERR;
	baleen_foreign_format(message, sizeof(message), "%s%s%s", device ? device : "",
			      device ? ": " : "", text);
	/* The field is for programs, which get the name as it is. */
	if (has_journal())
		sd_journal_send("PRIORITY=%i", priority, "MESSAGE=%s", message, "BALEEN_DEVICE=%s",
				device ? device : "", NULL);
	else
		fprintf(stderr, "baleend: %s\n", message);
}
