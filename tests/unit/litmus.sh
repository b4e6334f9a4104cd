#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What each litmus file of tests/litmus asks for is reached on arm64, or is not, as
# tests/litmus/answers has it; what is never to be reached is named where the code sees to it.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
cd "$ROOT/tests/litmus" || exit 2

is "each file has an answer" "$(sed '/^#/d' answers | cut -f 1 | sort)" \
	"$(printf '%s\n' *.litmus | sed 's/\.litmus$//' | sort)"
/usr/bin/python3 -B model.py ./*.litmus >"$TMP/answers" || not_ok "model.py" "it ended with status $?"
while read -r name answer _; do
	is "$name: $answer" "$(awk -v name="$name" '$1 == name { print $2 }' "$TMP/answers")" "$answer"
done < <(sed '/^#/d' answers)

is "a file that the code names is there" "$(grep -rhoE 'tests/litmus/[a-z0-9-]+\.litmus' "$ROOT"/{include,bpf,kmod,user} |
	sort -u | while read -r name; do [ -e "$ROOT/$name" ] || echo "$name"; done)" ""
for name in *.litmus; do
	[[ $(grep "^${name%.litmus}	" answers) == *Never* ]] || continue
	result=$(grep -rl "tests/litmus/$name" "$ROOT"/{include,bpf,kmod,user})
	is "$name is named where the code sees to it" "${result:+named}" named
done
