// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Words that a shell takes for what they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/shell.h"

static void test_words(void **state)
{
	static const struct {
		const char *word, *quoted;
	} words[] = {
		{ "eth0:bad", "eth0:bad" },
		{ "2001:db8::/32", "2001:db8::/32" },
		{ "/var/lib/x-1.list", "/var/lib/x-1.list" },
		{ "!192.0.2.7", "'!192.0.2.7'" },
		{ "", "''" },
		{ "=x", "'=x'" },
		{ "~", "'~'" },
		{ "a;reboot", "'a;reboot'" },
		{ "it's", "'it'\\''s'" },
		{ "$(id>x)", "'$(id>x)'" },
		{ "b\xc3\xbcro", "'b\xc3\xbcro'" },
		{ "a\033]0;'\\", "$'a\\033]0;\\'\\\\'" },
		{ "\xe2\x80\xae"
		  "1",
		  "$'\\342\\200\\2561'" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_string_equal(baleen_shell_word(words[i].word).text, words[i].quoted);
}

/* A shell says what it has got. `$'...'` is of bash, the shell of most who paste. */
static void test_shell(void **state)
{
	for (int byte = 1; byte < 256; byte++) {
		char word[] = { 'a', byte, byte, '\0' }, command[BALEEN_SHELL_WORD_BYTES + 64],
		     got[8];
		FILE *shell;
		size_t n;

		snprintf(command, sizeof(command), "bash <<'END'\nprintf %%s %s\nEND",
			 baleen_shell_word(word).text);
		shell = popen(command, "r");
		assert_non_null(shell);
		n = fread(got, 1, sizeof(got) - 1, shell);
		assert_int_equal(pclose(shell), 0);
		got[n] = '\0';
		assert_string_equal(got, word);
	}
}

static void test_long(void **state)
{
	char word[BALEEN_SHELL_WORD_BYTES + 1];

	memset(word, 'x', sizeof(word));
	word[BALEEN_SHELL_WORD_BYTES - 1] = '\0';
	assert_string_equal(baleen_shell_word(word).text, word);
	word[BALEEN_SHELL_WORD_BYTES - 1] = 'x';
	word[BALEEN_SHELL_WORD_BYTES] = '\0';
	assert_string_equal(baleen_shell_word(word).text, "'...'");
	memset(word, '\'', BALEEN_SHELL_WORD_BYTES);
	assert_string_equal(baleen_shell_word(word).text, "'...'");
	memset(word, ';', BALEEN_SHELL_WORD_BYTES - 2);
	word[BALEEN_SHELL_WORD_BYTES - 3] = '\0';
	assert_int_equal(strlen(baleen_shell_word(word).text), BALEEN_SHELL_WORD_BYTES - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_shell),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
