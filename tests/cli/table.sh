#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tables: --column, --where and --delimiter wherever a list is read; bad lines
# and the lines that decide are those of the table.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

# members NAME KEYS ARGUMENT...: an image built with these arguments has these keys
members()
{
	prints "$1" "" baleen build -o t.bln "${@:3}"
	prints "$1: the keys" "$2" baleen dump t.bln
}

# --- what is read ---

cat >geo.csv <<'EOF'
network,country,asn
# a comment
192.0.2.0/28,BR,64496
198.51.100.0/28,AR,64497
203.0.113.0/28,br,AS64496
EOF
members "a column by name" $'192.0.2.0/28\n198.51.100.0/28\n203.0.113.0/28' --column network geo.csv
members "by number" $'192.0.2.0/28\n198.51.100.0/28\n203.0.113.0/28' --column 1 geo.csv
members "where" $'192.0.2.0/28\n203.0.113.0/28' --where country=BR geo.csv
members "where, twice" '198.51.100.0/28' --where country=ar --where asn=AS64497 geo.csv
members "where, as numbers" $'192.0.2.0/28\n203.0.113.0/28' --where asn=64496 geo.csv
printf '192.0.2.0,192.0.2.15,BR\n198.51.100.0,198.51.100.0,AR\n' >ranges.csv
members "first and last" $'192.0.2.0/28\n198.51.100.0' --column 1-2 ranges.csv
members "of a known table" $'192.0.2.0/28' --where country=BR ranges.csv
printf '192.0.2.1;a,b\n' >semicolon.csv
members "--delimiter" 192.0.2.1 --delimiter ';' semicolon.csv
printf 'x\t192.0.2.1\n' >tabs.txt
members "tabs" 192.0.2.1 --column 2 tabs.txt
gzip -k geo.csv
members "compressed" '198.51.100.0/28' --where country=AR geo.csv.gz
members "through a pipe" '198.51.100.0/28' --where country=AR - < <(user cat geo.csv.gz)
printf '9.9.9.9,9.9.9.9,BR\n' >other.csv
members "several tables" $'9.9.9.9\n192.0.2.0/28\n203.0.113.0/28' --where country=BR geo.csv other.csv

# --- other commands ---

prints "match" 203.0.113.7 baleen match --where country=BR geo.csv 203.0.113.7 198.51.100.7
prints "dump" 198.51.100.0/28 baleen dump --where country=AR geo.csv
check "info -j" baleen info -j --where country=AR geo.csv
is "counts what is wanted" "$(json "$TMP/out" '[0].addresses')" 16
prints "--key of several fields" "" baleen build --key src,dport --column 1 -o t.bln - \
	< <(printf '"192.0.2.1,443",x\n')
prints "is one cell" 192.0.2.1,443 baleen dump t.bln

# --- refused ---

refuses "no such column" "geo.csv:1: no column 'addr': there are network, country, asn" \
	baleen build -o t.bln --column addr geo.csv
refuses "a row without the column" "ranges.csv:1: 3 columns, column 4 is asked for" \
	baleen build -o t.bln --column 4 ranges.csv
refuses "nothing is wanted" \
	"geo.csv: not a single key in 5 lines: list refused (--allow-empty takes it)" \
	baleen build -o t.bln --where country=XX geo.csv
printf 'cc,ip\n"B\nR",192.0.2.1\nBR,192.0.2.300\nBR,\n' >bad.csv
expect "bad keys, at their lines" 1 "" \
	"baleen: bad.csv:4: '192.0.2.300': octet above 255
baleen: bad.csv:5: '\"\"': not an address
baleen: bad.csv: 2 bad lines of 5: list refused (--skip-bad goes on without them)" \
	baleen build -o t.bln --column ip bad.csv
expect "--skip-bad passes them over" 0 "" "baleen: bad.csv: skipped 2 bad lines of 5" \
	baleen build -o t.bln --skip-bad --column ip bad.csv
printf '192.0.2.1,a "b"\n' >quote.csv
refuses "a bad quote, even then" \
	"quote.csv:1: column 2: a quote that neither begins nor ends it" \
	baleen build -o t.bln --skip-bad --column 1 quote.csv
# shellcheck disable=SC2089 # the quotes are part of messages
for words in "--column 0|--column '0': columns have the numbers 1 to 256" \
	"--where BR|--where 'BR': not COLUMN=VALUE" \
	"--delimiter x|--delimiter 'x': neither tab nor one of , ; |"; do
	# shellcheck disable=SC2086,SC2090 # words
	expect "${words%%|*}" 2 "" "baleen: build: ${words#*|} (see 'baleen help build')" \
		baleen build -o t.bln ${words%%|*} geo.csv
done
prints "an image" "" baleen build -o t.bln --column 1 geo.csv
check "is no table" baleen info --column 1 t.bln
is "and a warning says so" "$(<"$TMP/err")" "baleen: warning: t.bln is an image, not a table: \
--column, --where and --delimiter do not change it"
