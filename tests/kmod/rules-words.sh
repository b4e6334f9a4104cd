# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What commands say of rules of the module, and what they refuse. Sourced by
# in-vm-rules.sh.

ATTACH=(attach veth-b --backend kmod)
FOR_XDP="the rules of veth-b are the kernel module's, which only have keys and counters: this is for rules of XDP"

# misused NAME MESSAGE COMMAND...: bad usage
misused()
{
	expect "$1" 2 "" "baleen: $2" "${@:3}"
}

# unprivileged COMMAND...
unprivileged()
{
	in_ns "$B" setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$BALEEN" "$@"
}

test_no_module()
{
	refuses "no module: attach" "the kernel module is not loaded: 'modprobe baleen'" \
		baleen "${ATTACH[@]}" --drop one
	refuses "no module: attach of a filter of it" "the kernel module is not loaded: 'modprobe baleen'" \
		baleen "${ATTACH[@]}" --drop kmod:one
	prints "no module: status" "nothing is attached in this network namespace" baleen status
	prints "no module: status as JSON" "[]" baleen status -j
	refuses "no module: status of a device" "baleen is not attached to veth-b" \
		baleen status veth-b
	refuses "no module: detach" "baleen is not attached to veth-b" baleen detach veth-b
	refuses "no module: a rule" "baleen is not attached to veth-b" baleen rule move veth-b:a --last
}

test_usage()
{
	local see="(see 'baleen help attach')" option

	for option in --no-link --chain; do
		misused "$option with the module" \
			"attach: $option is for rules of XDP, not for --backend kmod $see" \
			baleen "${ATTACH[@]}" "$option" --drop one
	done
	misused "--mode with the module" \
		"attach: --mode is for rules of XDP, not for --backend kmod $see" \
		baleen attach veth-b --mode auto --backend kmod --drop one
	misused "--sample with the module" \
		"attach: --sample is for rules of XDP, not for --backend kmod $see" \
		baleen "${ATTACH[@]}" --sample 1/s --drop one
	misused "--priority without it" "attach: --priority is for --backend kmod $see" \
		baleen attach veth-b --priority 1 --drop one
	misused "no such backend" "attach: --backend 'tc': not xdp or kmod $see" \
		baleen attach veth-b --backend tc --drop one
	for option in x 1x '' 2147483648 -2147483649; do
		misused "--priority '$option'" \
			"attach: --priority '$option': not a number of 32 bits $see" \
			baleen "${ATTACH[@]}" --priority "$option" --drop one
	done
	prints "and nothing is attached" "[]" baleen status -j
}

test_attach_refused()
{
	local word

	baleen build -o lossy.bln --fpp 0.01 --kind bloom one 2>/dev/null
	baleen build -o strings.bln --key string strings 2>/dev/null
	refuses "no such device" "nix0: no such device" baleen attach nix0 --backend kmod --drop one
	refuses "no such filter" "kmod:nix: no such filter: the module has none" \
		baleen "${ATTACH[@]}" --drop kmod:nix
	refuses "lo" "lo: the kernel module filters Ethernet devices only" \
		baleen attach lo --backend kmod --drop one
	for word in established conntrack; do
		refuses "$word" "rule 'one': $word: not by the kernel module, whose hook has nftables' \
'ct state' behind it" baleen "${ATTACH[@]}" --drop one "$word"
	done
	refuses "strings" "rule 'strings': its keys are strings, which are no field of a packet" \
		baleen "${ATTACH[@]}" --drop strings.bln
	check_status "a rule that errs" 1 baleen "${ATTACH[@]}" --drop lossy.bln
	is "a rule that errs: it is said how often" "$(grep -c 'unlisted packets in a million' "$TMP/err")" 1
	refuses "an own address" \
		"own:1: '10.66.0.2': rule 'own' would drop 10.66.0.2, address of veth-b
baleen: veth-b: nothing changed, since this host would cut itself off (--force does it)" \
		baleen "${ATTACH[@]}" --drop own
	refuses "not root" "/dev/baleen: Permission denied: the filters of the module are for root" \
		unprivileged "${ATTACH[@]}" --drop one
	prints "and nothing is attached" "[]" baleen status -j
}

# --- one device, one backend ---

test_backends()
{
	check "XDP" baleen attach veth-b --mode generic --drop one
	refuses "XDP is there" \
		"veth-b has a filter of XDP already: 'baleen detach veth-b' takes it off" \
		baleen "${ATTACH[@]}" --drop one
	check "XDP: detach" baleen detach veth-b
	prints "attach" "veth-b: attached, kmod, priority -5" \
		baleen "${ATTACH[@]}" --priority -5 --drop one proto tcp --count net
	refuses "the module is there" \
		"veth-b has rules of the kernel module already: 'baleen swap' and 'baleen rule' change them, 'baleen detach veth-b' takes them off" \
		baleen "${ATTACH[@]}" --drop one
	refuses "the module is there: XDP" \
		"veth-b has rules of the kernel module already: 'baleen detach veth-b' takes them off" \
		baleen attach veth-b --drop one
	is "XDP left nothing" "$(xdp_id "$B" veth-b)" ""
}

test_status()
{
	local text="veth-b: attached, kmod, priority -5
  drop  one          1 entry, key src, cuckoo, exact, 576 B
        only proto tcp
        0 packets, 0 B
  count net          257 entries, key src, prefixes, exact, 2.0 kB
        0 packets, 0 B
  default pass: 0 packets matched no rule, passed
  passed unexamined: none"

	prints "status" "$text" baleen status
	prints "status of the device" "$text" baleen status veth-b
	is "status as JSON" "$(device ' | [.state, .enforced, .degraded, .requested_mode, .place,
		.priority, .default, .dry_run, (.rules | map(.name, .action, .qualifiers, .key,
		.entries, .asks))] | tostring')" \
		'["attached",true,false,"kmod","netfilter",-5,"pass",false,["one","drop","proto tcp","src",1,null,"net","count","","src",257,null]]'
	is "an object as of XDP" "$(baleen status -j | jq -c '.[0] | keys - ["priority"]')" \
		'["default","degraded","device","dry_run","enforced","ifindex","no_filter","place","requested_mode","rules","sample","state","unmatched","unparsed","vital"]'
	check_status "status of another" 1 unprivileged status veth-b
	is "doctor knows" "$(baleen doctor veth-b | sed -n 's/^ok  *filter  *//p')" \
		"in force in the kernel module, rules: 2"
	is "metrics know" \
		"$(baleen metrics | grep -E '^baleen_(rule_image_bytes|rule_entries|device_attached)' |
			sed 's/{.*rule="\([a-z]*\)"[^}]*}/ \1/; s/{.*}//')" \
		"baleen_device_attached 1
baleen_rule_entries one 1
baleen_rule_entries net 257
baleen_rule_image_bytes one 576
baleen_rule_image_bytes net 1984"
}

# --- keys ---

test_keys()
{
	prints "add" "veth-b:one: 2 added in place" baleen add veth-b:one 192.0.2.7 192.0.2.9
	refuses "add again" "veth-b:one: 192.0.2.7 is in it already: nothing changed (--exist takes it)" \
		baleen add veth-b:one 192.0.2.7
	check_status "add an own address" 1 baleen add veth-b:one 10.66.0.2
	is "it is named" "$(head -n1 "$TMP/err")" \
		"baleen: veth-b: rule 'one' would drop 10.66.0.2, address of veth-b"
	prints "match" 192.0.2.7 baleen match veth-b:one 192.0.2.7 192.0.2.8
	prints "del" "veth-b:one: 1 deleted in place" baleen del veth-b:one 192.0.2.9
	refuses "del again" "veth-b:one: 192.0.2.9 is not in it: nothing changed (--exist takes it)" \
		baleen del veth-b:one 192.0.2.9
	prints "dump" $'192.0.2.1\n192.0.2.7' baleen dump veth-b:one
	prints "a prefix is built aside" "veth-b:net: added, built anew" \
		baleen add veth-b:net 203.0.113.0/24
	prints "dump of prefixes" $'192.0.2.0/24\n198.51.100.7\n203.0.113.0/24' baleen dump veth-b:net
	prints "merge" "both.bln: merged, 3 entries" baleen merge -o both.bln veth-b:one own
	prints "resize" "veth-b:one: room for 1,000 keys, 4.7 kB" \
		baleen resize --capacity 1000 veth-b:one
	is "info: the name is the rule's" "$(baleen info -j veth-b:one | jq -r '.[0].name')" one
	check "info" baleen info veth-b:one
	is "info: room and keys" "$(head -n1 "$TMP/out")" "veth-b:one: 2 entries, key src, 4.7 kB"
	check "compare" baleen compare veth-b:one one
	is "compare: in both" "$(awk '/in both/ { print $1 }' "$TMP/out")" 1
	refuses "no such rule" "veth-b has no rule 'nix': see 'baleen status veth-b'" \
		baleen add veth-b:nix 192.0.2.1
	refuses "no such rule: match" "veth-b has no rule 'nix': see 'baleen status veth-b'" \
		baleen match veth-b:nix 192.0.2.1
	check_status "an entry with an end" 1 baleen add veth-b:one --ttl 1h 192.0.2.99
	is "an entry with an end: nothing is added" "$(baleen dump veth-b:one)" $'192.0.2.1\n192.0.2.7'
}

# --- rules ---

test_rules()
{
	prints "rule add" "veth-b: added, rules now: c one net" \
		baleen rule add veth-b --first --allow c=one
	prints "rule move" "veth-b: moved, rules now: one net c" baleen rule move veth-b:c --last
	prints "rule move as JSON" '{
  "device": "veth-b",
  "rules": [
    "c",
    "one",
    "net"
  ]
}' baleen rule move -j veth-b:c --before one
	refuses "rule del: no such rule" "veth-b has no rule 'nix': see 'baleen status veth-b'" \
		baleen rule del veth-b:c veth-b:nix
	refuses "rule add: the name is taken" "two rules are called 'one'" \
		baleen rule add veth-b --drop one
	check_status "rule add: an own address" 1 baleen rule add veth-b --drop own
	is "nothing has changed" "$(names)" "c one net"
	prints "rule del" "veth-b: deleted, rules now: one" baleen rule del veth-b:c veth-b:net
	refuses "rule del of the last" \
		"veth-b would have no rule left: 'baleen detach veth-b' takes the filter off" \
		baleen rule del veth-b:one
	prints "swap" "veth-b:one: swapped, 2 entries, 257 addresses" baleen swap veth-b:one net
	refuses "swap: not an allow rule" \
		"veth-b:one is a drop rule: 'baleen rule' deletes it and adds another" \
		baleen swap --allow veth-b:one one
	refuses "swap: another key" "veth-b:one is keyed by src, the new image by dst" \
		baleen swap veth-b:one --key dst one
	check_status "swap: an own address" 1 baleen swap veth-b:one own
	refuses "swap: no such rule" "veth-b has no rule 'nix': see 'baleen status veth-b'" \
		baleen swap veth-b:nix one
	is "swap refused: the set stays" "$(baleen dump veth-b:one)" $'192.0.2.0/24\n198.51.100.7'
	is "swap: what else it asks for stays" "$(device '.rules[0].qualifiers')" "proto tcp"
	prints "policy" "veth-b: default pass, enforced, no events" baleen policy veth-b
	prints "policy: default drop" "veth-b: default drop, DRY RUN, no events" \
		baleen policy veth-b --default drop --dry-run
	refuses "policy: no sampling" \
		"veth-b: rules of the kernel module have no events: --sample is for those of XDP" \
		baleen policy veth-b --sample 1/s
	is "policy: as JSON" "$(baleen policy -j veth-b | jq -c .)" \
		'{"device":"veth-b","default":"drop","dry_run":true,"sample":null}'
	is "the priority stays" "$(device .priority)" -5
}

# --- filters with a name ---

test_shared()
{
	check "a filter with a name" baleen build -o kmod:shared one
	check "another" baleen build -o kmod:other own
	prints "rule that asks it" "veth-b: added, rules now: one shared" \
		baleen rule add veth-b --drop kmod:shared
	is "status says so" "$(device '.rules[1] | [.name, .asks] | tostring')" '["shared","shared"]'
	prints "add to the rule" "veth-b:shared: 1 added in place" baleen add veth-b:shared 192.0.2.50
	prints "it is added to the filter" $'192.0.2.1\n192.0.2.50' baleen dump kmod:shared
	ip -n "$B" link add name d0 type veth peer name d1 && ip -n "$B" address add 10.99.0.1/24 dev d0 ||
		bail "no veth"
	check "another device asks it" baleen attach d0 --backend kmod --drop kmod:shared
	check_status "add what that device must not drop" 1 baleen add veth-b:shared 10.99.0.1
	is "the device is named" "$(head -n1 "$TMP/err")" \
		"baleen: d0: rule 'shared' would drop 10.99.0.1, address of d0"
	check "its rules go" baleen detach d0
	ip -n "$B" link del d0
	check "add to the filter" baleen add kmod:shared 192.0.2.51
	prints "the rule has it" 192.0.2.51 baleen match veth-b:shared 192.0.2.51
	refuses "swap by a list" \
		"veth-b:shared asks kmod:shared, as others may: 'baleen swap kmod:shared' changes that, 'baleen rule' deletes the rule and adds another" \
		baleen swap veth-b:shared one
	prints "swap by another of the module" "veth-b:shared: swapped, 1 entry" \
		baleen swap veth-b:shared kmod:other
	is "it asks that" "$(device '.rules[1].asks')" other
	check "rule del" baleen rule del veth-b:shared
	prints "the filter stays" 10.66.0.2 baleen dump kmod:other
}

# --- what is for XDP only ---

test_for_xdp()
{
	refuses "watch" "$FOR_XDP" baleen watch veth-b
	refuses "why" "$FOR_XDP" baleen why veth-b 192.0.2.1
	refuses "refresh" "$FOR_XDP" baleen refresh veth-b
	refuses "save" "$FOR_XDP" baleen save veth-b -o saved
	refuses "top" "$FOR_XDP" baleen top --once veth-b
	check_status "confirm" 1 baleen confirm veth-b
	check_status "feed" 1 baleen feed veth-b:one - <one
	check_status "flush" 1 baleen flush veth-b:one --all
	prints "detach as JSON" '{
  "detached": "veth-b"
}' baleen detach -j veth-b
	refuses "detach again" "baleen is not attached to veth-b" baleen detach veth-b
	prints "and nothing is attached" "nothing is attached in this network namespace" baleen status
}

test_words()
{
	test_usage
	test_attach_refused
	test_backends
	test_status
	test_keys
	test_rules
	test_shared
	test_for_xdp
}
