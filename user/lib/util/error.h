/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the library says what went wrong: a code and one line for a person.
 */
#ifndef BALEEN_ERROR_H
#define BALEEN_ERROR_H

/**
 * struct baleen_error - the reason of the last failure
 * @text: one line without a newline, naming the file or device and the cause; fit for a
 *        terminal or a log, whatever they are called (util/foreign.h)
 */
struct baleen_error {
	char text[1024];
};

/**
 * baleen_fail() - fill in an error and pass its code on
 * @error: filled in; may be NULL
 * @code: a positive errno value
 * @format: printf format of the line, without the program's name; its texts are foreign
 *
 * Return: -@code.
 */
int baleen_fail(struct baleen_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * baleen_no_memory() - the error of an allocation
 * @error: filled in; may be NULL
 *
 * Return: -ENOMEM.
 */
int baleen_no_memory(struct baleen_error *error);

#endif /* BALEEN_ERROR_H */
