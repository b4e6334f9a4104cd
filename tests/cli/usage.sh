#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The help; and what cannot be meant: wrong commands, options and arguments end
# with 2 and say so, before anything is read or written.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

printf '192.0.2.1\n' >list.txt

# misuse NAME COMMAND MESSAGE ARGUMENT...: `baleen COMMAND ARGUMENT...` is no sense
misuse()
{
	expect "$1" 2 "" "baleen: $2: $3 (see 'baleen help $2')" baleen "$2" "${@:4}"
}

# --- help ---

check "help" baleen help
overview=$(<"$TMP/out")
prints "--help is the same" "$overview" baleen --help
prints "-h is the same" "$overview" baleen -h
expect "no command is a mistake" 2 "" "$overview" baleen
for command in build info match dump compile attach swap rule policy detach status replay save restore; do
	check "help tells of $command" grep -q "^  baleen $command " <<<"$overview"
	check "help $command" baleen help "$command"
	help=$(<"$TMP/out")
	check "begins with its usage" grep -q "^usage: baleen $command " <<<"$help"
	check "and tells of -j" grep -q '^  -j, --json ' <<<"$help"
	prints "$command --help is the same" "$help" baleen "$command" --help
	prints "$command -h is the same" "$help" baleen "$command" -h
	# Every option that the help tells of is one.
	# shellcheck disable=SC2013 # words
	for option in $(sed -nE 's/^  (-[a-z], )?(--[a-z-]+).*/\2/p' <<<"$help"); do
		baleen "$command" "$option" >"$TMP/out" 2>"$TMP/err"
		is "$command knows $option" "$(grep -c 'unrecognized\|ambiguous' "$TMP/err")" 0
	done
	expect "$command --frobnicate" 2 "" "baleen: unrecognized option '--frobnicate'
baleen: see 'baleen help $command'" baleen "$command" --frobnicate list.txt
	expect "$command -z" 2 "" "baleen: invalid option -- 'z'
baleen: see 'baleen help $command'" baleen "$command" -z list.txt
done
expect "help of no command" 2 "" "baleen: no command 'frob': see 'baleen help'" baleen help frob
expect "no command" 2 "" "baleen: no command 'frob': see 'baleen help'" baleen frob list.txt
expect "a command in capitals" 2 "" "baleen: no command 'BUILD' (did you mean 'build'?): see 'baleen help'" baleen BUILD
for typed in bann:ban unbna:unban lst:list stats:status stat:status attch:attach docter:doctor; do
	expect "${typed%:*}" 2 "" "baleen: no command '${typed%:*}' (did you mean '${typed#*:}'?): see 'baleen help'" \
		baleen "${typed%:*}" 192.0.2.1
	expect "help ${typed%:*}" 2 "" "baleen: no command '${typed%:*}' (did you mean '${typed#*:}'?): see 'baleen help'" \
		baleen help "${typed%:*}"
done
for typed in x xyz frobnicate "$(printf 'b%.0s' {1..200})"; do
	expect "nothing like it: ${typed:0:12}" 2 "" "baleen: no command '$typed': see 'baleen help'" baleen "$typed"
done
expect "ban of a device" 2 "" "baleen: ban: 'eth0': bans are of all devices: 'baleen ban 192.0.2.1' (see 'baleen help ban')" \
	baleen ban eth0 192.0.2.1
check "--version" baleen --version
version=$(<"$TMP/out")
is "is a number on one line" "${version//[0-9.]/}" "baleen "
prints "-V is the same" "$version" baleen -V

# --- arguments ---

misuse "build without -o" build "-o IMAGE is missing" list.txt
misuse "build to -" build "-o -: for standard output say /dev/stdout" -o - list.txt
misuse "build to a directory" build "-o './': is a directory" -o ./ list.txt
for option in "--kind cuckoo" "--key src" "--fpp 0" "--capacity 9"; do
	# shellcheck disable=SC2086 # words
	misuse "--like and $option" build "--like takes everything from the image: \
${option% *} contradicts it" -o new --like list.txt $option list.txt
done
for command in build info match dump compile; do
	misuse "$command, a Bloom filter without a rate" "$command" \
		"--kind bloom needs a false positive rate: --fpp" --kind bloom \
		$([ "$command" = build ] || [ "$command" = compile ] && echo "-o new") list.txt
done
misuse "attach, a Bloom filter without a rate" attach \
	"--kind bloom needs a false positive rate: --fpp" lo --kind bloom --drop list.txt
misuse "swap, a Bloom filter without a rate" swap \
	"--kind bloom needs a false positive rate: --fpp" lo:list list.txt --kind bloom
misuse "info of nothing" info "no IMAGE given"
misuse "match in nothing" match "no IMAGE given"
misuse "dump of nothing" dump "one IMAGE is asked for"
misuse "dump of two" dump "one IMAGE is asked for" list.txt list.txt
misuse "compile without -o" compile "-o OBJECT is missing" list.txt
misuse "compile of two" compile "one IMAGE is asked for" -o new list.txt list.txt
misuse "attach to nothing" attach "one device is asked for" --drop list.txt
misuse "attach to two" attach "'list.txt' is a second device: did you mean --drop list.txt?" \
	lo list.txt
misuse "attach nothing" attach "no --drop, --allow or --count given" lo
misuse "swap of nothing" swap "DEV:RULE or kmod:NAME and one IMAGE are asked for" lo:drop
misuse "swap without a rule" swap "'lo' is neither DEV:RULE nor kmod:NAME" lo list.txt
misuse "swap of a filter that is no rule" swap "--allow, --drop and --count are for rules" --drop \
	kmod:drop list.txt
misuse "detach to forget a filter" detach "--forget is for devices" --forget kmod:drop
misuse "a filter without a name" build "-o 'kmod:': a filter's name cannot be empty" -o kmod: list.txt
misuse "an object in the module" compile \
	"-o 'kmod:x': an object is a file, not a filter of the module" -o kmod:x list.txt
misuse "detach of nothing" detach "one device is asked for"
misuse "detach of two" detach "one device is asked for" lo lo
misuse "status of two" status "at most one device is asked for" lo lo
misuse "save to nowhere" save "-o is missing" lo
misuse "save of nothing" save "one device or filter is asked for" -o dir
misuse "restore of nothing" restore "one device and one directory are asked for" lo
misuse "restore in no mode" restore "--mode 'fast': not auto, native or generic" lo dir --mode fast

# --- options ---

# The list is not there, so a complaint about it would be one too late.
for rate in 1 1.5 -0.1 nan inf 0.1x x ""; do
	misuse "--fpp '$rate'" build "--fpp '$rate': not a rate from 0 to below 1" \
		--fpp "$rate" -o new.bln none.txt
	misuse "--accept-fpp '$rate'" attach "--accept-fpp '$rate': not a rate from 0 to below 1" \
		lo --accept-fpp "$rate" --drop none.txt
done
for count in 0 -1 1.5 1e6 1m 1kk 0k x "" 99999999999999999999 18446744073709551617 2000000000000; do
	misuse "--capacity '$count'" build "--capacity '$count': not a number of keys" \
		--capacity "$count" -o new.bln none.txt
done
misuse "--kind" build "--kind 'cukoo': not cuckoo, bloom, classic, counting, quotient, chained or compact" --kind cukoo -o new.bln none.txt
misuse "--key" build \
	"--key source: 'source' is none of proto, src, dst, sport, dport, flow, string, squid, fingerprint" --key source -o new.bln none.txt
misuse "--mode" attach "--mode 'driver': not auto, native or generic" \
	lo --mode driver --drop none.txt
misuse "--mode offload" attach "--mode 'offload': not auto, native or generic" \
	lo --mode offload --drop none.txt
expect "--fpp without its rate" 2 "" "baleen: option '--fpp' requires an argument
baleen: see 'baleen help build'" baleen build -o new.bln none.txt --fpp
expect "--like is for build alone" 2 "" "baleen: unrecognized option '--like'
baleen: see 'baleen help info'" baleen info --like none.bln none.txt
refuses "-- ends the options" "--fpp: No such file or directory" baleen info -- --fpp

# --- rules ---

misuse "a rule without a name" attach "'=none.txt': a rule's name cannot be empty" \
	lo --drop =none.txt
misuse "a rule without a file" attach "'bad=': no file after the name" lo --drop bad=
misuse "a rule's name with a space" attach \
	"'a b=none.txt': a rule's name is made of letters, digits, '.', '_' and '-'" \
	lo --drop 'a b=none.txt'
long=abcdefghijklmnopqrstuvwxyz012345
misuse "a rule's name that is too long" attach \
	"'$long=none.txt': a rule's name has at most 31 characters" \
	lo --drop "$long=none.txt"
misuse "two rules of one name" attach "two rules are called 'none': say NAME=x/none.bln" \
	lo --drop none.txt --allow x/none.bln
rules=()
for n in {1..17}; do
	rules+=(--drop "r$n=none.txt")
done
misuse "17 rules" attach "more than 16 rules" lo "${rules[@]}"
misuse "a word that is no qualifier" attach "'prto' is neither an option nor a qualifier of rule \
'none': proto, dport, tcp-syn, vlan, established, conntrack or limit" lo --drop none.txt prto tcp
for words in "proto|proto: its value is missing" "proto tcp vlan|vlan: its value is missing" \
	"proto nope|rule 'none': proto 'nope': neither a protocol such as tcp nor a number to 255" \
	"proto 256|rule 'none': proto '256': neither a protocol such as tcp nor a number to 255" \
	"proto 6 proto tcp|rule 'none': proto is given twice" \
	"vlan 0|rule 'none': vlan '0': not a VLAN from 1 to 4094" \
	"vlan 4095|rule 'none': vlan '4095': not a VLAN from 1 to 4094" \
	"vlan 1x|rule 'none': vlan '1x': not a VLAN from 1 to 4094" \
	"dport 0|rule 'none': dport '0': not ports and ranges such as 22,8000-8010" \
	"dport 65536|rule 'none': dport '65536': not ports and ranges such as 22,8000-8010" \
	"dport 9-8|rule 'none': dport '9-8': not ports and ranges such as 22,8000-8010" \
	"dport 1,,2|rule 'none': dport '1,,2': not ports and ranges such as 22,8000-8010" \
	"dport 1,|rule 'none': dport '1,': not ports and ranges such as 22,8000-8010" \
	"dport ssh,|rule 'none': dport 'ssh,': not ports and ranges such as 22,8000-8010" \
	"dport ssh-80|rule 'none': dport 'ssh-80': 'ssh-80' is no service of /etc/services" \
	"dport 1,sssh|rule 'none': dport '1,sssh': 'sssh' is no service of /etc/services" \
	"dport 1-2-3|rule 'none': dport '1-2-3': not ports and ranges such as 22,8000-8010" \
	"dport 1,2,3,4,5,6,7,8,9|rule 'none': dport '1,2,3,4,5,6,7,8,9': more than 8 ports and ranges" \
	"dport 1 dport 2|rule 'none': dport is given twice: say dport A,B,C-D" \
	"tcp-syn tcp-syn|rule 'none': tcp-syn is given twice" \
	"proto udp tcp-syn|rule 'none': tcp-syn and another protocol than tcp: no packet is both" \
	"tcp-syn proto 17|rule 'none': tcp-syn and another protocol than tcp: no packet is both" \
	"proto icmp dport 5|rule 'none': dport and a protocol without ports: no packet has both"; do
	# shellcheck disable=SC2086 # words
	misuse "${words%|*}" attach "${words#*|}" lo --drop none.txt ${words%|*}
done
misuse "a half qualifier before an option" attach "vlan: its value is missing" \
	lo --drop none.txt vlan --allow x.txt
misuse "--default" attach "--default 'reject': not pass or drop" lo --default reject
for rate in 0/s 1 1/d 1/ /s -1/s 1000001/s 1.5/s 1/ss x; do
	misuse "--sample '$rate'" attach "--sample '$rate': not a rate such as 100/s, 6/m or 1/h" \
		lo --sample "$rate" --drop none.txt
done
misuse "rule without a verb" rule "add, del or move is asked for"
misuse "another verb" rule "'frob': not add, del or move" frob
misuse "rule add to nothing" rule "one device is asked for" add --drop none.txt
misuse "rule add to a rule" rule "'lo:none' is not DEV" add lo:none --drop none.txt
misuse "rule add of nothing" rule "no --drop, --allow or --count given" add lo
misuse "rule add to two" rule "'eth0' is neither an option nor a qualifier: proto, dport, tcp-syn, \
vlan, established, conntrack or limit" add lo eth0 --drop none.txt
misuse "rule del of nothing" rule "DEV:RULE is asked for" del
misuse "rule del of a device" rule "'lo' is not DEV:RULE" del lo
misuse "rule del of two devices" rule "'eth0:a' is of another device than lo" del lo:a eth0:a
misuse "rule del of an image" rule "--drop, --allow and --count are for add" \
	del lo:a --drop none.txt
misuse "rule del at a place" rule "a place is for add and move" del lo:a --first
misuse "rule move to nowhere" rule "where to? --first, --last, --before RULE or --after RULE" \
	move lo:a
misuse "rule move of two" rule "one DEV:RULE is asked for" move lo:a lo:b --first
misuse "two places" rule "one place is asked for: --first, --last, --before RULE or --after RULE" \
	move lo:a --first --last
misuse "policy of nothing" policy "one device is asked for" --dry-run
misuse "a policy that contradicts itself" policy "--dry-run and --enforce contradict each other" \
	lo --enforce --dry-run
misuse "sampling twice" policy "sampling is asked for twice" lo --sample 1/s --no-sample
check_status "nothing was written" 1 test -e new.bln -o -e new

# --- what needs more than this user has ---

refuses "attach without privileges" "CAP_BPF is missing: run this as root" \
	baleen attach lo --drop list.txt
refuses "swap" "CAP_BPF is missing: run this as root" baleen swap lo:drop list.txt
refuses "rule" "CAP_BPF is missing: run this as root" baleen rule del lo:drop
refuses "policy" "CAP_BPF is missing: run this as root" baleen policy lo --dry-run
refuses "detach" "CAP_BPF is missing: run this as root" baleen detach lo
