#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Random commands about bans on three devices whose rules come and go, some of them killed, held to
# a model of the book that shares no code with Baleen: tests/model/book.py.
#
# MODEL_STEPS and MODEL_SEED choose other sequences: `make check-model` takes 5,000 steps.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair

STEPS=${MODEL_STEPS:-300}
SEED=${MODEL_SEED:-1}
# Steps of one sequence: longer ones find no more.
PER_RUN=150
export BALEEN VERDICT=$ROOT/build/tools/verdict PYTHONDONTWRITEBYTECODE=1

# sequence SEED STEPS OPTION...
sequence()
{
	local namespace=$A-$1

	ip netns add "$namespace" || bail "no namespace"
	BALEEN_CONF_DIR=$TMP/conf-$1 BALEEN_STATE_DIR=$TMP/state-$1 BALEEN_RUN_DIR=$TMP/run-$1 \
		in_ns "$namespace" /usr/bin/python3 "$ROOT/tests/model/book.py" --seed "$1" --steps "$2" "${@:3}" \
		>"$TMP/model" 2>&1
	is "seed $1, $2 steps ${*:3}" "$? $(head -n 1 "$TMP/model" | cut -d : -f 1)" "0 ok"
	sed 's/^/# /' "$TMP/model"
	ip netns del "$namespace"
}

for ((left = STEPS, seed = SEED; left > 0; left -= 2 * n, seed += 2)); do
	n=$((left < 2 * PER_RUN ? (left + 1) / 2 : PER_RUN))
	sequence "$seed" "$n"
	sequence $((seed + 1)) "$n" --kill 0.3
done
