#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What programs cost the verifier of this kernel; kernels.sh runs it on the host,
# and to update the file in the machines, too.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/kernels/counts.sh
source tests/kernels/counts.sh
echo "# kernel $(uname -r)"
make_pair
count_all
