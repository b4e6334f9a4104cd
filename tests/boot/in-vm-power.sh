# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Inside the machine of power.sh: what comes before each power cut, and after.

# shellcheck source=tests/boot/guest.sh
source tests/boot/guest.sh

N_ACKED=5

FILTERED=$'lan0 DPDDP\neth0 PD'

# What is asked while the machine boots; the answers are to be $FILTERED.
write_asked()
{
	echo "lan0 $(tail -n 1 /lists/bad/two.list) $(head -n 1 /lists/friends.list)" \
		"$(head -n 1 /lists/rows) $(head -n 1 /lists/banned) $(head -n 1 /lists/unlisted)"
	echo "eth0 $(head -n 1 /lists/friends.list) $(head -n 1 /lists/unlisted)"
}

note_status()
{
	comparable lan0 >"$NOTES/lan0"
	comparable eth0 >"$NOTES/eth0"
}

# status_is_noted: what is in force is what was before the cut
status_is_noted()
{
	local device

	for device in lan0 eth0; do
		comparable "$device" >"$TMP/$device"
		check "$device: status -j equals the one before" diff "$NOTES/$device" "$TMP/$device"
	done
}

# storm: single entries, one after the other; those acknowledged are noted
storm()
{
	local address

	while read -r address; do
		"$BALEEN" add lan0:storm "$address" --ttl 1d --origin storm --reason cut &&
			echo "$address" >>"$NOTES/acked"
	done </lists/storm
}

acked()
{
	[ "$(wc -l <"$NOTES/acked")" -ge "$N_ACKED" ]
}

before()
{
	local short

	write_asked >/vm/asked
	sync /vm/asked
	check_status "apply changes lan0" 3 "$BALEEN" apply lan0
	check_status "apply changes eth0" 3 "$BALEEN" apply eth0
	check_status "applied twice, nothing changes" 0 "$BALEEN" apply
	ban_all
	judges "before"
	note_status
	short=$(tail -n 1 /lists/storm)
	check "a ban of a second" "$BALEEN" add lan0:storm "$short" --ttl 1s
	nice "$TRAFFIC" --from far:far0 --to main:lan0 --listed /lists/listed \
		--unlisted /lists/unlisted --loop --expect >/dev/null &
	storm >/dev/null 2>"$NOTES/refused" &
	until_true acked || not_ok "entries are acknowledged" "$(cat "$NOTES/refused")"
	echo "not synced" >/root/lost
	cut_the_power
}

# storm_verdicts: a letter for each address of the storm, a line each
storm_verdicts()
{
	# shellcheck disable=SC2046 # several
	build/tools/verdict lan0 $(cat /lists/storm) | fold -w 1
}

# unfiltered FILE: what it has seen that was neither filtered nor without frames
unfiltered()
{
	grep -vxF -e "$FILTERED" -e "lan0 down" -e "eth0 down" "$1"
}

after()
{
	check "what was not synced is lost, so the power was cut" test ! -s /root/lost
	check "the network is configured" systemctl start network-online.target
	check "both devices are up" tests/boot/seen online
	is "frames fare as before" "$(cat /run/seen.online)" "$FILTERED"
	is "before a socket unit listened" "$(unfiltered /run/seen.socket)" ""
	is "before a service listened" "$(unfiltered /run/seen.service)" ""
	is "no device was ever up without its filter" "$(unfiltered_links </run/links)" ""
	status_is_noted
	judges "after"
	paste -d ' ' /lists/storm <(storm_verdicts) | awk '$2 == "D" { print $1 }' >"$TMP/dropped"
	is "no entry that was acknowledged is lost" \
		"$(sort "$NOTES/acked" | comm -23 - <(sort "$TMP/dropped"))" ""
	sort "$TMP/dropped" | comm -23 - <(sort "$NOTES/acked") >"$TMP/others"
	is "at most one is there that was not" "$(tail -n +2 "$TMP/others")$(cat "$NOTES/refused")" ""
	is "the short ban has ended" "$(tail -n 1 /lists/storm | grep -cxf "$TMP/dropped")" 0
	is "no unit failed" "$(failed_units)" ""
}

# change: the last thing before the power goes
change()
{
	head -n 100 /lists/unlisted >/lists/bad/three.list
	check_status "update takes a new feed" 3 "$BALEEN" update lan0:bad
	check "a batch" "$BALEEN" feed lan0:bans - < <(
		sed 's/.*/add & ttl=2h origin=batch/' /lists/storm && echo "del $(head -n 1 /lists/banned)")
	note_status
	cut_the_power
}

changed()
{
	status_is_noted
	sort /lists/bad/three.list /lists/listed | grep -vxF "$(head -n 1 /lists/banned)" \
		>"$TMP/listed"
	tail -n +101 /lists/unlisted >"$TMP/unlisted"
	check "changes right before the cut are in force" "$TRAFFIC" --from far:far0 \
		--to main:lan0 --listed "$TMP/listed" --unlisted "$TMP/unlisted" --expect
}

# A device that appears while networkd starts. baleend, which hears of it, too, stands
# by.
appear_at_start()
{
	local n

	systemctl stop baleend.service systemd-networkd.{socket,service}
	mkdir -p /run/udev/rules.d
	sed "s|/usr/sbin/baleen|$PWD/tests/boot/slow|" /usr/lib/udev/rules.d/85-baleen.rules \
		>/run/udev/rules.d/85-baleen.rules
	udevadm control --reload
	ip link del lan0
	ip link set eth0 down
	n=$(wc -l </run/links)
	check "lan0 appears" tests/boot/lan
	check "networkd, which starts meanwhile, takes it up" until_true is_up
	is "it was never up without its filter" \
		"$(tail -n +"$((n + 1))" /run/links | unfiltered_links)" ""
}

case $VM_BOOT in
1) before ;;
2)
	after
	change
	;;
3)
	changed
	appear_at_start
	;;
esac
