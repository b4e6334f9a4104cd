#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The filters of the textbooks, written a second time: an implementation that shares no code with
Baleen, held against the command.

    BALEEN=path/to/baleen python3 textbook.py plan

plan        `baleen plan -j` against the formulas, on a grid of keys and rates

Exit: 0 no difference; 1 some, which are printed; 2 it could not run.
"""
import os
import sys

import text_plan


def main():
    baleen = os.environ.get("BALEEN")
    words = sys.argv[1:]
    if words == ["plan"] and baleen:
        return 1 if text_plan.check(baleen) else 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
