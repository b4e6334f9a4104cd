# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the scripts inside the virtual machine share.

# shellcheck source=tests/lib.sh
source tests/lib.sh
# shellcheck disable=SC2034 # for the scripts
BALEEN=baleen NOTES=/notes

# far COMMAND...: at the other end of lan0
far()
{
	in_ns far "$@"
}

# until_true COMMAND...: tries again until it succeeds; a bound in tries, not in time
until_true()
{
	local i

	for ((i = 0; i < 300; i++)); do
		"$@" >"$TMP/out" 2>"$TMP/err" && return 0
	done
	return 1
}

# comparable DEVICE: its status without what a reboot is allowed to change, and
# without the rule whose entries a test leaves open. Recent changes, which stand beside the
# tables, are part of these after it.
comparable()
{
	"$BALEEN" status -j "$1" | jq -MS '.[].rules |= map(select(.name != "storm")) | walk(if type == "object" then
		del(.packets, .packet_bytes, .unmatched, .vital, .unparsed, .no_filter,
			.sampled, .not_sampled, .lost, .tables, .bytes, .program_id, .program_on_device.id, .ifindex) else . end)'
}

# judges NAME: frames on lan0 fare as the lists say
judges()
{
	check "$1: who is listed is dropped, who is not passes" "$TRAFFIC" --from far:far0 \
		--to main:lan0 --listed /lists/listed --unlisted /lists/unlisted --expect
}

# ban_all: who is in /lists/banned
ban_all()
{
	local addresses

	mapfile -t addresses </lists/banned
	check "bans" "$BALEEN" add lan0:bans "${addresses[@]}" --ttl 1h --origin fail2ban --reason ssh
}

# networkd has taken lan0 up
is_up()
{
	grep -q up /sys/class/net/lan0/operstate
}

# unfiltered_links: of the changes of devices those that leave one up without a filter
unfiltered_links()
{
	awk '/ (lan0|eth0)[:@].*[<,]UP[,>]/ && !/^Deleted / && !/ xdp\/id:/'
}

failed_units()
{
	systemctl list-units --failed --plain --no-legend --no-pager
}

# cut_the_power: and it does not come back
cut_the_power()
{
	echo "vm: cut the power"
	sleep infinity
}
