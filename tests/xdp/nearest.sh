#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Each command that is given DEV:RULE answers a mistyped rule with the one that was meant, and
# changes nothing. tests/cli/nearest.sh does so with options.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
isolate "$@"
make_pair
mkdir "$BALEEN_CONF_DIR"
cd "$TMP" || exit 2
baleen() { in_ns "$B" timeout 60 "$BALEEN" "$@"; }

echo 45.1.1.1 >list
printf 'rule bad drop\n  feed %s/list\nrule jail drop\n  bans\n' "$TMP" >"$BALEEN_CONF_DIR/veth-b.conf"
check_status "a configuration" 3 baleen apply
meant="veth-b has no rule 'jial' (did you mean 'jail'?): see 'baleen status veth-b'"
while read -r -a words; do
	refuses "${words[*]}" "$meant" baleen "${words[@]}" </dev/null
done <<'LINES'
add veth-b:jial 9.9.9.9
add --dry-run veth-b:jial 9.9.9.9
del veth-b:jial 9.9.9.9
feed veth-b:jial -
flush veth-b:jial --all
list veth-b:jial
export veth-b:jial
import veth-b:jial --format list list
update veth-b:jial
swap veth-b:jial list
merge veth-b:jial list
subtract veth-b:jial list
intersect veth-b:jial list
resize --capacity 10 veth-b:jial
match veth-b:jial 9.9.9.9
info veth-b:jial
dump veth-b:jial
show veth-b:jial
compare veth-b:jial list
compile -o x.o veth-b:jial
build --like veth-b:jial -o x list
save -o x veth-b:jial
attach lo --drop veth-b:jial
rule del veth-b:jial
rule move veth-b:jial --first
rule add veth-b --before jial --drop list
route export veth-b:jial --table 77
set status veth-b:jial
set hold veth-b:jial
set release veth-b:jial
set rollback veth-b:jial
LINES
refuses "one that is like none" "veth-b has no rule 'other': see 'baleen status veth-b'" baleen list veth-b:other
check "a device that is off" baleen detach veth-b
refuses "has the rules of its state" "$meant" baleen add veth-b:jial 9.9.9.9
check "forgotten" baleen detach --forget veth-b
check "without a state" baleen attach veth-b --no-state --drop jail=list
refuses "a filter is asked" "$meant" baleen match veth-b:jial 9.9.9.9
