#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# soak.sh [MINUTES]: baleend for a minute, or as long as is asked for (30), under all
# at once: feeds that change, bans that end, snapshots, swaps of a rule by apply,
# watchers, scrapes. Afterwards there is not one program, map or link more than there
# was, and no more memory in baleend than it took for its work in the first third.
#
# Programs, maps and links are those that are pinned in this test's bpffs: the
# kernel's others are not ours. What baleend holds besides are files it has open.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/baleend.sh
source "$ROOT/tests/baleend.sh"
make_pair
FOR_S=$((${1:-1} * 60))
mkdir "$TMP/conf" "$TMP/feeds"
CONF=$TMP/conf/veth-b.conf
FRAME=$ROOT/build/tools/frame
VERDICT=$ROOT/build/tools/verdict
# Growth of baleend that is none: of its heap while it is used now and then. By
# the first third all that is ever kept was allocated.
RSS_SLACK_KB=512

baleen() { in_ns "$B" timeout 120 "$BALEEN" "$@"; }

pins() { find /sys/fs/bpf/baleen -type f | wc -l; }

rss_kb() { awk '/^VmRSS/ { print $2 }' "/proc/$baleend_pid/status"; }

# open_files: between two looks at the ring buffer, for which it opens some
open_files()
{
	for _ in $(seq 50); do
		find "/proc/$baleend_pid/fd" -mindepth 1 2>/dev/null | wc -l
	done | sort -n | head -1
}

# kernel TYPE: how many the kernel has of those that are pinned here
kernel()
{
	bpftool -f -j "$1" show 2>/dev/null |
		jq --arg here /sys/fs/bpf/baleen '[.[] | select(any(.pinned[]?;
			startswith($here)))] | length'
}

configure()
{
	printf '%s\n' "sample 100/s" \
		"rule bad drop" "  feed $TMP/feeds/one every 3s" "  feed $TMP/feeds/two every 5s" \
		"rule banned drop" "  capacity $1" >"$CONF.new"
	mv "$CONF.new" "$CONF"
}

# feed NAME N SEED: N addresses that no other has
feed()
{
	seq -f "$3.%.0f" "$2" | awk -F. '{ printf "%d.%d.%d.%d\n", 20 + $1 % 40, $2 / 65536,
		$2 / 256 % 256, $2 % 256 }' >"$TMP/feeds/$1.new"
	mv "$TMP/feeds/$1.new" "$TMP/feeds/$1"
}

# --- the work: each in a loop of its own until $TMP/end is there ----------------------

goes_on() { [ ! -e "$TMP/end" ]; }
count() { echo >>"$TMP/did-$1"; }
did() { [ -f "$TMP/did-$1" ] && wc -l <"$TMP/did-$1" || echo 0; }

change_feeds()
{
	local n=0

	while goes_on; do
		n=$((n + 1))
		feed one $((2000 + n % 7 * 100)) $((n % 9))
		feed two $((3000 + n % 5 * 100)) $((n % 11 + 9))
		count feeds
		sleep 2
	done
}

ban()
{
	local n=0

	while goes_on; do
		n=$((n + 1))
		seq -f "add 100.%.0f.1.1 ttl=2s origin=soak reason=soak" $((n % 100)) $((n % 100 + 20)) |
			sed 's/100\.\([0-9]*\)\.1\.1/9.\1.1.1/' |
			baleen feed veth-b:banned - >/dev/null && count bans
		baleen add veth-b:banned "2a00:$n::1" --ttl 1s --exist --origin soak6 >/dev/null 2>&1 &&
			count bans
		printf '%s\n' begin "add 9.200.$((n % 250)).1 ttl=1h" "add 9.200.1.2" commit |
			baleen feed veth-b:banned - --origin snap >/dev/null && count snapshots
		sleep 0.5
	done
}

apply()
{
	local n=0

	while goes_on; do
		n=$((n + 1))
		configure $((4096 + n % 8 * 4096))
		baleen apply veth-b >/dev/null
		[ $? -ne 3 ] || count applies
		sleep 3
	done
}

watch()
{
	while goes_on; do
		"$FRAME" -v "$A:veth-a" "$B:veth-b" \
			08004500001c000000004011000009c801020a42000204d2003500080000 >/dev/null &&
			count frames
		in_ns "$B" timeout 2 "$BALEEN" watch veth-b --count 1 >/dev/null 2>&1
		count watches
		http "$B" GET /metrics | grep -q '^baleen_device_attached' && count scrapes
		sleep 1
	done
}

# measure: one line: files, programs, maps, links, RSS, descriptors
measure()
{
	echo "$(pins) $(kernel prog) $(kernel map) $(kernel link) $(rss_kb) $(open_files)"
}

# is_told: a frame of the first feed that is dropped
is_told()
{
	"$FRAME" -v "$A:veth-a" "$B:veth-b" \
		08004500001c0000000040110000150000010a42000204d2003500080000 >/dev/null
	grep -q BALEEN_SOURCE=21.0.0.1 "$TMP/systemd"
}

# quiet: no writer is at work, so nothing is in between
quiet()
{
	rm -f "$TMP/end"
	: >"$TMP/end"
	wait "${workers[@]}"
	configure 4096
	feed one 2000 1
	feed two 3000 1
	baleen apply veth-b >/dev/null
	baleen update veth-b >/dev/null
	baleen flush veth-b:banned --all >/dev/null
}

work()
{
	rm -f "$TMP/end"
	workers=()
	for job in change_feeds ban apply watch; do
		"$job" {systemd_end}>&- &
		workers+=($!)
	done
	end=$((SECONDS + $1))
	while [ "$SECONDS" -lt "$end" ]; do
		sleep 1
	done
	quiet
}

# --- it -----------------------------------------------------------------------------

play_systemd
feed one 2000 1
feed two 3000 1
configure 4096
baleen apply veth-b >/dev/null
[ $? -eq 3 ] || bail "cannot apply"
start_baleend "$B"
pid=$baleend_pid
work $((FOR_S / 3))
read -r files programs maps links rss fds < <(measure)
echo "# after a third: $files pins, $programs programs, $maps maps, $links links, RSS $rss KiB, $fds files"
work $((FOR_S - FOR_S / 3))
read -r files2 programs2 maps2 links2 rss2 fds2 < <(measure)
echo "# at the end:    $files2 pins, $programs2 programs, $maps2 maps, $links2 links, RSS $rss2 KiB, $fds2 files"
for job in feeds bans snapshots applies frames watches scrapes; do
	echo "# $job: $(did "$job")"
	is "there were $job" "$(($(did "$job") > 0))" 1
done
is "baleend is the same process" "$baleend_pid $(kill -0 "$pid" && echo alive)" "$pid alive"
is "programs" "$programs2" "$programs"
is "maps" "$maps2" "$maps"
is "links" "$links2" "$links"
is "something is pinned" "$((programs > 0 && maps > 0 && files > 0))" 1
is "pins" "$files2" "$files"
# A connection or the pipe of a child may be open at either time; a leak is one file
# for each of some dozen jobs.
is "files that baleend has open: $fds2, $fds before, at most 3 apart" \
	"$((fds2 - fds <= 3 && fds - fds2 <= 3))" 1
is "memory of baleend" "$((rss2 <= rss + RSS_SLACK_KB))" 1
updates=$(http "$B" GET /metrics |
	sed -n 's/^baleen_daemon_updates_total.*done.* \([0-9]*\)\r*$/\1/p')
echo "# feeds asked by baleend: $updates times"
is "feeds were asked by baleend" "$((updates > 0))" 1
await "drops are told" is_told
is "no error" "$(grep 'cannot\|failed' "$TMP/baleend.log" | head -3)" ""
is "the device drops what it should" "$(in_ns "$B" "$VERDICT" veth-b 21.0.0.1 8.8.8.8)" DP
stop_baleend
is "SIGTERM ends it" "$baleend_status" 0
