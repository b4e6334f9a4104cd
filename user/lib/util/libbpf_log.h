/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The reasons that libbpf prints and does not return.
 */
#ifndef BALEEN_LIBBPF_LOG_H
#define BALEEN_LIBBPF_LOG_H

/**
 * baleen_log_start() - collect what libbpf says instead of printing it
 *
 * Process-wide, as libbpf's print function is.
 */
void baleen_log_start(void);

/**
 * baleen_log_reason() - the kernel's own words about the last failure
 * @err: a negative errno, for when the kernel had none
 *
 * Return: a line that is valid until the next baleen_log_start().
 */
const char *baleen_log_reason(int err);

#endif /* BALEEN_LIBBPF_LOG_H */
