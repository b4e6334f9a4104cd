#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The filters of the textbooks against a second implementation, tests/model/textbook.py.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

# model WORD...: of tests/model/textbook.py, with this baleen
model()
{
	BALEEN=$TMP/baleen PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$ROOT/tests/model/textbook.py" "$@"
}

check "plans are those of the texts' formulas" model plan
