#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `baleen metrics` says what `baleen status` says; promtool has nothing to say
# about it, and Prometheus reads both formats. One device that is damaged or gone
# does not make the others disappear.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
cd "$TMP" || exit 2

FRAME=$ROOT/build/tools/frame
PORT=9090

# baleen ARGUMENT...: in the namespace that receives
baleen()
{
	in_ns "$B" timeout 60 "$BALEEN" "$@"
}

# value NAME LABEL="VALUE"...: of the sample in $TMP/metrics that has these labels
value()
{
	local label lines

	lines=$(grep "^$1[{ ]" metrics)
	for label in "${@:2}"; do
		lines=$(grep -F "$label" <<<"$lines")
	done
	sed 's/.* //' <<<"$lines"
}

# values NAME... of veth-b: one after the other
values()
{
	local name

	for name in "$@"; do
		value "$name" 'device="veth-b"'
	done | paste -s -d ' '
}

# fresh [OPTION...]: new metrics, in the older format
fresh()
{
	baleen metrics "$@" >metrics 2>errors || bail "metrics: $(<errors)"
}

# send HEX...: frames to veth-b, which lets them through: a dry run
send()
{
	"$FRAME" "$A:veth-a" "$B:veth-b" "$@" || bail "a frame was not passed on"
}

zeros()
{
	printf '00%.0s' $(seq "$1")
}

# --- values ----------------------------------------------------------------

try_values()
{
	local ip4 udp=03e8003500080000

	printf '192.0.2.1\n192.0.2.2\n' >bad.txt
	printf '198.51.100.0/24\n' >good.txt
	ip4=0800450000000000000040110000
	check "attach" baleen attach veth-b --dry-run --sample 1000000/s --count all=bad.txt \
		--allow good=good.txt --drop bad=bad.txt
	send "${ip4}c00002010a420002$udp" "${ip4}c00002020a420002$udp" "${ip4}c63364070a420002$udp" \
		"${ip4}cb0071090a420002$udp" "88b5$(zeros 46)" "8847$(zeros 46)" "0800$(zeros 6)"
	fresh
	is "attached, native, a dry run" "$(values baleen_device_attached baleen_device_dry_run \
		baleen_device_default_drop) $(value baleen_device_mode '="native"') $(value \
		baleen_device_mode '="generic"')" "1 1 0 1 0"
	is "packets by rule" "$(value baleen_rule_packets_total 'rule="all"') $(value \
		baleen_rule_packets_total 'rule="good"') $(value baleen_rule_packets_total 'rule="bad"')" \
		"2 1 2"
	is "bytes of them" "$(value baleen_rule_bytes_total 'rule="bad",action="drop"')" 84
	is "entries" "$(value baleen_rule_entries | paste -s -d ' ')" \
		"$(baleen status -j veth-b | jq -r '[.[0].rules[].entries | tostring] | join(" ")')"
	is "two of them are" "$(value baleen_rule_entries 'rule="bad"')" 2
	is "keys and room of the table" "$(value baleen_table_keys 'rule="bad"' 'table="ipv4"') $(value \
		baleen_table_capacity_keys 'rule="bad"')" "2 $(baleen status -j veth-b |
			jq '.[0].rules[2].tables[0].capacity')"
	is "not decided" "$(for reason in unmatched not_ip mpls short version tags vital no_filter; do
		value baleen_undecided_packets_total "reason=\"$reason\""
	done | paste -s -d ' ')" "1 1 1 1 0 0 0 0"
	is "sampled" "$(value baleen_sample_packets_total 'result="sampled"')" 4
	is "program" "$(grep -c "^baleen_program_info{device=\"veth-b\",program_id=\"$(xdp_id "$B" \
		veth-b)\",place=\"link\"} 1$" metrics)" 1
	is "loaded within the last minutes" \
		"$(($(date +%s) - $(values baleen_program_load_timestamp_seconds) < 600))" 1
	is "as status has it" "$(jq -s '.' <<<"$(value baleen_rule_packets_total)" | jq -c .)" \
		"$(baleen status -j veth-b | jq -c '[.[0].rules[].packets]')"

	check "another policy" baleen policy veth-b --default drop --enforce --force
	fresh veth-b
	is "is told" "$(values baleen_device_dry_run baleen_device_default_drop)" "0 1"
	check "and the first again" baleen policy veth-b --default pass
}

# A map of 2 MiB is counted, too: only who scrapes remembers.
try_large()
{
	make_list million.txt 1000000 10 7
	check "a rule of a million" baleen rule add veth-b --drop million=million.txt
	fresh
	is "its entries" "$(value baleen_rule_entries 'rule="million"') $(value baleen_table_keys \
		'rule="million"' 'ipv4') $(value baleen_table_keys 'rule="million"' 'ipv6')" \
		"1000010 1000000 10"
	is "its image" "$(value baleen_rule_image_bytes 'rule="million"')" \
		"$(baleen status -j veth-b | jq '.[0].rules[3].bytes')"
	check "gone again" baleen rule del veth-b:million
	check "a Bloom filter" baleen rule add veth-b --drop bloom=bad.txt --kind bloom \
		--fpp 1e-3 --accept-fpp 1e-3
	fresh
	is "does not know what it stores" "$(grep -c 'baleen_rule_stored_keys.*bloom' metrics)" 0
	is "but what it was made of" "$(value baleen_rule_entries bloom)" "$(wc -l <bad.txt)"
	is "but its rate" "$(grep -c 'baleen_rule_false_positive_ratio.*bloom' metrics)" 1
	check "gone, too" baleen rule del veth-b:bloom
}

# --- damage ----------------------------------------------------------------

# A second device, and what is wrong with it.
try_others()
{
	local pins

	ip -n "$B" link add veth-x type veth peer name veth-y || bail "no veth"
	check "attach another" baleen attach veth-x --mode generic --drop bad.txt
	fresh
	is "both are told of" "$(value baleen_device_attached | paste -s -d ' ')" "1 1"
	is "the other is generic" "$(value baleen_device_mode 'veth-x' '="generic"')" 1

	pins=$(echo /sys/fs/bpf/baleen/ns*-if"$(ip -n "$B" -o link show veth-x | cut -d: -f1)"/*/rule0)
	# shellcheck disable=SC2046 # bytes
	check "damage it" bpftool map update pinned "$pins" key 0 0 0 0 value \
		hex $(printf '5a %.0s' {1..64})
	fresh
	is "a damaged rule says so" "$(value baleen_rule_sound 'veth-x')" 0
	is "it has its counters" "$(value baleen_rule_packets_total 'veth-x')" 0
	is "it has no entries" "$(grep -c 'baleen_rule_entries.*veth-x' metrics)" 0
	is "the first device is whole" "$(values baleen_rule_sound) $(values baleen_rule_stored_keys)" \
		"1 1 1 2 256 2"

	check "pins that are missing" rm "$pins"
	fresh
	is "cannot be read" "$(value baleen_device_attached 'veth-x') $(value baleen_device_state \
		'veth-x' '="unreadable"')" "0 1"
	is "the first device is told of" "$(values baleen_device_attached)" 1

	check "the device goes" ip -n "$B" link del veth-x
	fresh
	is "what is left of it is not in force" "$(value baleen_device_attached | sort | paste -s -d ' ')" \
		"0 1"
	fresh veth-b lo nosuch
	is "devices that are asked for" "$(value baleen_device_attached | paste -s -d ' ')" "1 0 0"
	is "one without a filter" "$(value baleen_device_state '"lo"' '="absent"')" 1
	is "one that is not there" "$(value baleen_device_state '"nosuch"' '="absent"')" 1
}

# A device that is gone, and a new one of its name.
try_name_twice()
{
	ip -n "$B" link add veth-x type veth peer name veth-y || bail "no veth"
	check "attach" baleen attach veth-x --drop bad.txt
	check "delete it" ip -n "$B" link del veth-x
	fresh
	is "it is gone" "$(value baleen_device_state 'veth-x' '="gone"')" 1
	ip -n "$B" link add veth-x type veth peer name veth-y || bail "no veth"
	check "attach one of that name" baleen attach veth-x --drop bad.txt
	fresh
	is "the new one has the name" "$(value baleen_device_attached 'veth-x')" 1
	is "no series is there twice" "$(grep -v '^#' metrics | sed 's/ [^ ]*$//' | sort | uniq -d)" ""
	check "that is all" baleen detach veth-x
}

# --- what is kept ----------------------------------------------------------

# since NAME LABEL...: are the times of these samples of the last minutes?
since()
{
	local at now

	now=$(date +%s)
	[ -n "$(value "$@")" ] || return
	for at in $(value "$@"); do
		[ "$at" -le "$now" ] && [ "$at" -gt $((now - 600)) ] || return
	done
}

# expired: waits for an entry to have ended, by looking at the state again and again
expired()
{
	local deadline=$((SECONDS + 60))

	while fresh && [ "$(value baleen_expired_entries_total)" != 1 ]; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		baleen add veth-b:bad --exist 203.0.113.7 --origin other || return 1
	done
}

try_state()
{
	local port pins url

	coproc SERVER { exec nsenter "--net=/run/netns/$B" "$ROOT/build/tools/feed_server" "$TMP"; }
	read -r -t 30 -u "${SERVER[0]}" port || bail "the server does not start"
	url=http://u:secret@127.0.0.1:$port/bad.txt
	check "detach" baleen detach veth-b
	mkdir -p "$BALEEN_CONF_DIR"
	printf '%s\n' "rule bad drop" "  special keep" "  feed $url?key=secret every 1h" "  feed $url?key=other" \
		"rule good allow" "  feed $TMP/good.txt" >"$BALEEN_CONF_DIR/veth-b.conf"
	check_status "apply" 3 baleen apply veth-b
	fresh
	is "each feed is told of, without secrets" \
		"$(sed -n 's/^baleen_feed_entries{.*rule="\(.*\)",feed="\(.*\)"} \(.*\)/\1 \2 \3/p' metrics)" \
		"bad http://127.0.0.1:$port/bad.txt 2
bad http://127.0.0.1:$port/bad.txt#2 2
good $TMP/good.txt 1"
	is "no secret anywhere" "$(grep -c secret metrics)" 0
	is "how often it is fetched" "$(value baleen_feed_interval_seconds)" 3600
	check "it was fetched now" since baleen_feed_success_timestamp_seconds 'txt"'
	check "and has changed now" since baleen_feed_change_timestamp_seconds 'txt"'
	is "without errors" "$(value baleen_feed_consecutive_errors | sort -u)" 0
	check "applied now" since baleen_apply_success_timestamp_seconds
	check "its image was made now" since baleen_rule_image_timestamp_seconds 'rule="bad"'
	is "nothing has expired" "$(value baleen_expired_entries_total)" 0

	mv bad.txt away.txt
	check_status "an update fails" 1 baleen update veth-b
	fresh
	is "errors of the feeds that failed" "$(value baleen_feed_consecutive_errors | paste -s -d ' ')" \
		"1 1 0"
	check "it has failed now" since baleen_feed_failure_timestamp_seconds 'txt"'
	is "the good one has not" "$(grep -c 'baleen_feed_failure.*good.txt' metrics)" 0
	mv away.txt bad.txt

	check "a ban" baleen add veth-b:bad 203.0.113.1 203.0.113.2 --origin fail2ban --ttl 1h
	check "another" baleen add veth-b:bad 203.0.113.1
	check "a short one" baleen add veth-b:bad 203.0.113.3 --origin other --ttl 10ms
	check "which ends" expired
	is "entries by origin" "$(sed -n 's/^baleen_single_entries{.*origin="\(.*\)"} /\1 /p' metrics)" \
		"fail2ban 2
manual 1
other 1"
	is "all of them are in the rule" "$(value baleen_rule_entries 'device="veth-b",rule="bad"') \
$(value baleen_rule_stored_keys 'device="veth-b",rule="bad"')" "8 5"

	pins=$(echo /sys/fs/bpf/baleen/ns*-if"$(ip -n "$B" -o link show veth-b | cut -d: -f1)")
	check "what the kernel has goes" rm -r "$pins"
	fresh
	is "what is kept is not in force" "$(values baleen_device_attached) $(value \
		baleen_device_state '"veth-b"' '="absent"')" "0 1"
	is "feeds are told of all the same" "$(grep -c '^baleen_feed_entries' metrics)" 3
	check_status "apply again" 3 baleen apply veth-b
}

# --- output ----------------------------------------------------------------

try_output()
{
	local user=(setpriv --reuid 65534 --regid 65534 --clear-groups --)

	prints "-o" "" baleen metrics -o node.prom
	is "is for everybody" "$(stat -c %a node.prom)" 644
	fresh
	is "holds what is printed" "$(diff node.prom metrics)" ""
	prints "again" "" baleen metrics -o node.prom --openmetrics
	is "the other format" "$(tail -n 1 node.prom)" "# EOF"
	prints "and back" "" baleen metrics -o node.prom
	refuses "a list is not overwritten" "bad.txt: exists and holds no metrics: not overwritten" \
		baleen metrics -o bad.txt
	refuses "no such directory" "nosuch/x.prom: No such file or directory" \
		baleen metrics -o nosuch/x.prom
	expect "a full disk" 1 "" "baleen: /dev/full: No space left on device" \
		baleen metrics -o /dev/full
	refuses "not root" "CAP_BPF is missing: run this as root" \
		in_ns "$B" "${user[@]}" "$TMP/baleen" metrics
	expect "no such option" 2 "" "baleen: unrecognized option '--frobnicate'
baleen: see 'baleen help metrics'" baleen metrics --frobnicate
	check "promtool" promtool check metrics <node.prom
	is "has nothing to say" "$(cat out err)" ""
}

# --- Prometheus ------------------------------------------------------------

# serve: what it scrapes, by the busybox that is there for the virtual machines
serve()
{
	mkdir -p www
	baleen metrics -o www/old.prom && baleen metrics --openmetrics -o www/new.om ||
		bail "no metrics to serve"
	cat >httpd.conf <<-END
		.prom:text/plain; version=0.0.4; charset=utf-8
		.om:application/openmetrics-text; version=1.0.0; charset=utf-8
	END
	nsenter --net="/run/netns/$B" -- busybox httpd -f -p 127.0.0.1:8080 -h www -c "$PWD/httpd.conf" &
	cat >prometheus.yml <<-END
		global: { scrape_interval: 1s, scrape_timeout: 1s }
		rule_files: [ $ROOT/user/prometheus/baleen.rules.yml ]
		scrape_configs:
		  - { job_name: old, metrics_path: /old.prom, static_configs: [ { targets: [ "127.0.0.1:8080" ] } ] }
		  - { job_name: new, metrics_path: /new.om, static_configs: [ { targets: [ "127.0.0.1:8080" ] } ] }
	END
	nsenter --net="/run/netns/$B" -- prometheus --config.file=prometheus.yml --storage.tsdb.path=tsdb \
		--web.listen-address="127.0.0.1:$PORT" --log.level=error >prometheus.log 2>&1 &
}

# query EXPRESSION: its samples, one a line, without the time
query()
{
	in_ns "$B" promtool query instant "http://127.0.0.1:$PORT" "$1" 2>>query.err |
		sed 's/ @\[[0-9.]*\]$//'
}

# until_query EXPRESSION WANT: waits for Prometheus to have scraped; a bounded
# number of questions, and what came last
until_query()
{
	local i got=

	for ((i = 0; i < 600 && SECONDS < deadline; i++)); do
		got=$(query "$1")
		[ "$got" != "$2" ] || break
	done
	echo "$got"
}

try_prometheus()
{
	local deadline=$((SECONDS + 120)) expr n=0

	serve
	is "Prometheus takes both" "$(until_query 'count(up == 1)' '{} => 2')" "{} => 2"
	is "as many samples as we wrote" "$(query 'count({job="new",__name__=~"baleen_.+"})')" \
		"{} => $(grep -vc '^#' www/new.om)"
	is "packets of a rule" "$(query 'baleen_rule_packets_total{job="new",device="veth-b",rule="bad"}')" \
		'baleen_rule_packets_total{action="drop", device="veth-b", instance="127.0.0.1:8080", job="new", rule="bad"} => 2'
	is "both formats say the same" \
		"$(diff <(query '{job="old",__name__=~"baleen_.+"}' | sed 's/"old"/"new"/' | sort) \
			<(query '{job="new",__name__=~"baleen_.+"}' | sort))" ""
	is "types are known" "$(in_ns "$B" busybox wget -q -O - \
		"http://127.0.0.1:$PORT/api/v1/targets/metadata?metric=baleen_rule_packets_total" |
		jq -r '.data[].type' | sort | uniq -c | sed 's/^ *//')" "1 counter"
	: >query.err
	while IFS= read -r expr; do
		query "$expr" >answer && [ ! -s query.err ] && n=$((n + 1))
	done < <(jq -r '.panels[].targets // [] | .[].expr' "$ROOT/user/grafana/dashboard.json" |
		sed 's/\$__rate_interval/1m/g; s/"\$[a-z]*"/".*"/g')
	is "it answers the dashboard" "$n $(<query.err)" \
		"$(jq '[.panels[].targets // [] | .[]] | length' "$ROOT/user/grafana/dashboard.json") "
}

make_pair
cp "$BALEEN" "$TMP/baleen" && chmod 0711 "$TMP"
try_values
try_large
try_others
try_name_twice
try_output
try_prometheus
try_state
