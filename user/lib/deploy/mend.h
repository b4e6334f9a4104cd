/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command that mends a damaged state.
 */
#ifndef BALEEN_MEND_H
#define BALEEN_MEND_H

#include <baleen/port.h>

/* Room for a command. */
#define BALEEN_MEND_BYTES 96

/**
 * baleen_mend_command() - the command that mends a damaged state
 * @device: name of the device
 * @command: filled in when the state is damaged; BALEEN_MEND_BYTES bytes
 *
 * Return: whether it is damaged.
 */
bool baleen_mend_command(const char *device, char *command);

#endif /* BALEEN_MEND_H */
