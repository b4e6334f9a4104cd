#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Random sequences of commands on a live device, held step by step to a model that shares
# no code with Baleen: tests/model/model.py. A sequence of each mode with commands that are
# killed, whose calls fail, or whose power is cut; then numbered frames through a device
# that is changed all the time: tests/model/flux.py.
#
# MODEL_STEPS and MODEL_SEED choose other sequences: `make check-model` takes 5,000 steps.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

STEPS=${MODEL_STEPS:-300}
SEED=${MODEL_SEED:-1}
MODEL=tests/model
export BALEEN PYTHONDONTWRITEBYTECODE=1

# Steps of one run: longer ones take lists with many entries, which are slow to hold.
PER_RUN=250

# sequence MODE SEED STEPS OPTION...: its first line says how it went
sequence()
{
	/usr/bin/python3 "$MODEL/model.py" --mode "$1" --seed "$2" --steps "$3" "${@:4}" \
		--shim build/tools/shim.so --tolerate unsourced >"$TMP/model" 2>&1
	is "$1, seed $2, $3 steps ${*:4}" "$? $(head -n 1 "$TMP/model" | cut -d : -f 1)" "0 ok"
	grep -qE "fault failed|power cuts" "$TMP/model" && n_faults=$((n_faults + 1))
	sed 's/^/# /' "$TMP/model"
}

# This deviation is known: what intersect, subtract and restore leave as a feed has no
# source to ask.
seed=$SEED
n_faults=0
for ((left = STEPS; left > 0; left -= 6 * n, seed++)); do
	n=$(((left + 5) / 6))
	n=$((n < PER_RUN ? n : PER_RUN))
	sequence bare "$seed" "$n" --kill 0.1
	sequence bare "$seed" "$n" --fault 0.3
	sequence hand "$seed" "$n" --kill 0.2
	sequence hand "$seed" "$n" --fault 0.3
	sequence kept "$seed" "$n" --kill 0.2 --power
	sequence kept "$seed" "$n" --fault 0.3
done

check "calls failed, and power was cut" test "$n_faults" -ge 2

/usr/bin/python3 "$MODEL/flux.py" --seconds $((STEPS / 60)) --seed "$SEED" --kill 0.2 >"$TMP/flux" 2>&1
is "frames through a device that is changed" "$?" 0
sed 's/^/# /' "$TMP/flux"
