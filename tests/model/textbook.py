#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The filters of the textbooks, written a second time: an implementation that shares no code with
Baleen, held against the command.

    BALEEN=path/to/baleen python3 textbook.py plan
    BALEEN=path/to/baleen python3 textbook.py tables N [KIND]
    BALEEN=path/to/baleen python3 textbook.py vectors-check
    python3 textbook.py vectors DIRECTORY
    python3 textbook.py printed

plan        `baleen plan -j` against the formulas, on a grid of keys and rates
tables      N random tables of each kind, byte by byte, after each change
vectors     reference vectors as JSON, see docs/vectors.md; -check: against the command
printed     what the algorithms lose as they are printed, with the smallest examples

Exit: 0 no difference; 1 some, which are printed; 2 it could not run.
"""
import os
import sys
import tempfile

import text_command
import text_plan
import text_printed
import text_vectors


def in_scratch(check, baleen, *arguments):
    """A check that leaves files behind."""
    baleen = os.path.abspath(baleen)
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        n_wrong = check(baleen, *arguments)
        os.chdir("/")
    return n_wrong


def main():
    baleen = os.environ.get("BALEEN")
    words = sys.argv[1:]
    if words == ["plan"] and baleen:
        return 1 if text_plan.check(baleen) else 0
    if words[:1] == ["tables"] and 2 <= len(words) <= 3 and baleen:
        return 1 if in_scratch(text_command.check, baleen, int(words[1]), *words[2:]) else 0
    if words == ["vectors-check"] and baleen:
        return 1 if in_scratch(text_vectors.check, baleen) else 0
    if len(words) == 2 and words[0] == "vectors":
        print(f"vectors: {text_vectors.write(words[1])} cases in {words[1]}")
        return 0
    if words == ["printed"]:
        text_printed.report()
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
