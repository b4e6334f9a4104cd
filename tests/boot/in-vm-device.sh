# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Inside the machine of device.sh: lan0 goes and comes, three times, and once more
# under the name that its driver has for it, and with its state damaged.

# shellcheck source=tests/boot/guest.sh
source tests/boot/guest.sh

N_TIMES=3

is_as_before()
{
	comparable lan0 | cmp -s - "$TMP/before"
}

# go_and_come NUMBER
go_and_come()
{
	local n

	n=$(wc -l </run/links)
	check "$1: lan0 goes" ip link del lan0
	check_status "$1: it has no status" 1 "$BALEEN" status lan0
	check "$1: lan0 comes" tests/boot/lan
	until_true is_as_before
	comparable lan0 >"$TMP/now"
	check "$1: its filter is back" diff "$TMP/before" "$TMP/now"
	check "$1: it is up" until_true is_up
	is "$1: it was never up without" "$(tail -n +"$((n + 1))" /run/links | unfiltered_links)" ""
	judges "$1"
}

# baleend, which hears of a new name, too, stands by: the rule of udev is first.
come_renamed()
{
	check "renamed: lan0 goes" ip link del lan0
	check "renamed: lan0 comes as raw0" tests/boot/lan raw0
	check "renamed: it is up" until_true is_up
	check "renamed: its filter is back" is_as_before
	judges renamed
}

# No filter is no reason to be without a network, but to say so
come_damaged()
{
	mv /var/lib/baleen/lan0/state.db /root/
	echo damaged >/var/lib/baleen/lan0/state.db
	check "damaged: lan0 goes" ip link del lan0
	check "damaged: lan0 comes as raw0" tests/boot/lan raw0
	check "damaged: it is up" until_true is_up
	is "damaged: the journal says why" "$(journalctl --quiet --identifier=baleen --output=cat |
		grep -c '^baleen: .*lan0.*not a database')" 1
	mv /root/state.db /var/lib/baleen/lan0/
}

# A device that nothing was applied to gets default.conf, before it is up and without baleend.
come_new()
{
	local n

	check "new: the filter is taken off, and forgotten" "$BALEEN" detach --forget --entries lan0
	mv /etc/baleen/lan0.conf /etc/baleen/default.conf
	sed -i '1i match lan*' /etc/baleen/default.conf
	check "new: lan0 goes" ip link del lan0
	n=$(wc -l </run/links)
	check "new: lan0 comes as raw0" tests/boot/lan raw0
	check "new: it is up" until_true is_up
	check "new: it has a state" test -d /var/lib/baleen/lan0
	is "new: it was never up without" "$(tail -n +"$((n + 1))" /run/links | unfiltered_links)" ""
	ban_all
	judges new
}

check_units()
{
	local unit

	for unit in /usr/lib/systemd/system/baleen*; do
		check_status "systemd-analyze verify ${unit##*/}" 0 systemd-analyze verify --man=no "$unit"
		is "${unit##*/}: without a word" "$(cat "$TMP/err")" ""
	done
	systemd-analyze security --no-pager baleend.service | tail -n 1 | sed 's/^/# /'
}

check_status "apply" 3 "$BALEEN" apply lan0
ban_all
comparable lan0 >"$TMP/before"
judges "at first"
for ((i = 1; i <= N_TIMES; i++)); do
	go_and_come "$i"
done
check "baleend stops" systemctl stop baleend.service
come_renamed
come_damaged
come_new
check "baleend starts" systemctl start baleend.service
check_units
is "no unit failed" "$(failed_units)" ""
is "the system runs" "$(systemctl is-system-running)" running
