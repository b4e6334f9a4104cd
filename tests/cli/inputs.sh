#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What people have for lists: each format of inputs.table is read, or refused with what helps.
# With --page: the table of baleen-lists(5).

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

TABLE=$ROOT/tests/cli/inputs.table

# page: the table as mdoc
page()
{
	awk -F '\t' '
		function close_shell() { if (in_shell) print ".Ed"; in_shell = 0 }
		function close_list() { close_shell(); if (in_list) print ".El"; in_list = 0 }
		# a word of mdoc: no quote, no macro at its start, backslashes as they are
		function text(s) { gsub(/\\\\/, "\\", s); gsub(/\\/, "\\e", s); gsub(/"/, "\\(dq", s); return s }
		$1 == "format" && $2 ~ /^= / { close_list(); print ".Sh " toupper(substr($2, 3)); next }
		$1 != "shell" && !/^[|=]/ { close_shell() }
		$1 == "format" {
			if (!in_list) print ".Bl -tag -width Ds"
			in_list = 1
			print ".It " text($2)
		}
		$1 == "refuse" {
			sub(/^[0-9]+ (.*\47: )?/, "", $2)
			sub(/[;,] (see )?baleen-lists.*/, "", $2)
			print "Is refused as it is: " text($2) "."
		}
		$1 == "with" && $2 == "as it is" { print "Is read as it is." }
		$1 == "with" && $2 != "as it is" { print "Is read with\n.Ql \"" text($2) "\" ." }
		$1 == "shell" {
			if (!in_shell) print "A list of it is made by\n.Bd -literal -compact"
			in_shell = 1
			print text($2)
		}
		END { close_list() }' "$TABLE"
}

if [ "${1-}" = --page ]; then
	page
	exit 0
fi

# try FORMAT REFUSE WITH SHELL KEYS: of the file that is in f.txt
try()
{
	local format=$1 refuse=$2 with=$3 shell=$4 keys=$5 options=() why

	if [ -n "$refuse" ]; then
		check_status "$format: as it is" 1 baleen build -o t.bln f.txt
		why="baleen: f.txt:${refuse/ /: }"
		is "is refused: the reason" "$(head -n 1 "$TMP/err")" "${why/:0: /: }"
	fi
	[ "$with" = "as it is" ] || read -ra options <<<"$with"
	if [ -n "$with" ]; then
		prints "$format: $with" "" baleen build -o t.bln "${options[@]}" f.txt
		prints "has its keys" "$keys" baleen dump t.bln
	fi
	if [ -n "$shell" ]; then
		printf -v shell %b "$shell"
		sh -c "${shell//FILE/f.txt}" >list.txt
		prints "$format: its command" "" baleen build -o t.bln - < <(cat list.txt)
		prints "has its keys" "$keys" baleen dump t.bln
	fi
	[ -n "$with$shell" ] || not_ok "$format" "neither read nor a command"
}

format=''
# end: of a format
end()
{
	[ -z "$format" ] || [ "${format:0:2}" = "= " ] || try "$format" "$refuse" "$with" "$shell" "${keys%$'\n'}"
}

while IFS= read -r line; do
	case $line in
	format$'\t'*)
		end
		format=${line#*$'\t'} refuse='' with='' shell='' keys=''
		: >f.txt
		;;
	refuse$'\t'*) refuse=${line#*$'\t'} ;;
	with$'\t'*) with=${line#*$'\t'} ;;
	shell$'\t'*) shell+=${shell:+$'\n'}${line#*$'\t'} ;;
	'| '*) printf '%b\n' "${line#| }" >>f.txt ;;
	'= '*) keys+=${line#= }$'\n' ;;
	'' | '#'*) ;;
	*) bail "a line of the table: $line" ;;
	esac
done <"$TABLE"
end

# --- random lists, and what dump prints of them ---

# Lists from this seed on; each takes a fifth of a second.
check "random lists mean the same to build, dump and import as to a model" \
	env BALEEN="$TMP/baleen" IMPORT="$ROOT/build/tools/import" \
	/usr/bin/python3 -B "$ROOT/tests/model/lists.py" "$(pick 40 1000)" 1
sampled "random lists" "$(pick 40 1000)" 1000
printf '192.0.2.1,443\n' >flows.txt
for format in ipset nft csv; do
	refuses "--format $format of other keys" \
		"flows.txt: its keys are no addresses: --format text prints them" \
		baleen dump --format "$format" --key src,dport flows.txt
done
expect "--json of a set" 2 "" "baleen: dump: --json is for --format text (see 'baleen help dump')" \
	baleen dump --format nft -j f.txt
for name in '' 6x 'a b' "$(printf '%031d' 1 | tr 01 ab)"; do
	check_status "--set '$name'" 2 baleen dump --format nft --set "$name" f.txt
done
printf '0.0.0.0/0\n' >all.txt
prints "ipset has no prefix of length 0" "create all hash:net family inet maxelem 65536
add all 0.0.0.0/1
add all 128.0.0.0/1" baleen dump --format ipset --set all all.txt

# --- the page ---

is "baleen-lists(5) has this table" \
	"$(sed -n '/printed by tests.cli.inputs.sh --page/,/is not printed by it/p' "$ROOT/user/man/baleen-lists.5" | sed '1d; $d')" \
	"$(page)"
