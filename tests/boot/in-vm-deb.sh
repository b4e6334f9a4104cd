# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Inside the machine of deb.sh: two commands from nothing to a filter, and the
# upgrade of the package while frames arrive.

# shellcheck source=tests/boot/guest.sh
source tests/boot/guest.sh

# shellcheck disable=SC2016 # of jq
NEVER_DECREASES='length > 1 and
	all(range(1; length) as $i | range(5) as $k | .[$i][$k] >= .[$i - 1][$k]; .)'

program()
{
	xdp_id main lan0
}

sample()
{
	counters main lan0 >>"$TMP/samples"
}

# install FILE
install_package()
{
	check "apt install $1" apt-get -q -y -o Dpkg::Use-Pty=0 install "/packages/$1"
}

# A program of the package that is running is the one that is installed.
is_replaced()
{
	! readlink /proc/[0-9]*/exe | grep -q '^/usr/sbin/baleen.* (deleted)'
}

upgrade()
{
	local traffic id line

	mkfifo "$TMP/fifo"
	id=$(program)
	sample
	"$TRAFFIC" --from far:far0 --to main:lan0 --listed /lists/listed \
		--unlisted /lists/unlisted --loop --expect -j >"$TMP/fifo" 2>"$TMP/traffic.err" &
	traffic=$!
	exec 3<"$TMP/fifo"
	read -r line <&3
	is "traffic runs" "$line" running
	sample
	install_package later.deb
	is "the upgrade leaves the program on the device" "$(program)" "$id"
	sample
	check "the daemon is of the later release" until_true is_replaced
	check "the later release manages it" "$BALEEN" add lan0:bad 203.0.114.1
	check "refresh" "$BALEEN" refresh lan0
	is "now it is the program of the later release" "$([ "$(program)" != "$id" ] && echo yes)" yes
	sample
	kill -INT "$traffic"
	cat <&3 >"$TMP/result"
	wait "$traffic"
	is "all listed dropped, all others passed" "$?$(cat "$TMP/traffic.err")" 0
	sample
	check "no counter ever decreases" jq -se "$NEVER_DECREASES" "$TMP/samples"
}

install_package baleen.deb
check "baleen attach --drop" "$BALEEN" attach lan0 --drop /lists/listed
judges "two commands"
check "detach" "$BALEEN" detach lan0
check "the daemon runs" systemctl --quiet is-active baleend
check_status "apply" 3 "$BALEEN" apply lan0
ban_all
upgrade
check "apt remove" apt-get -q -y remove baleen
judges "a filter outlives the package"
is "no unit failed" "$(failed_units)" ""
