# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the tests of booting share on this side: the disk of the machine with
# Baleen on it, and the results of the script that runs there.
#
#      virtual machine                             namespace far
#      +--------------------------------+          +------------------+
#      | lan0  10.66.0.2/24             |   veth   | far0             |
#      |       echo.socket, port 7      |==========| 10.66.0.1/24     |
#      |       server.service, port 8080|          +------------------+
#      | eth0  10.66.1.2/24, a virtio device that leads nowhere
#      +--------------------------------+

# shellcheck source=tests/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

TREE=$TMP/tree
VM_TOOLS=(build/tools/{traffic,verdict,session})

# enable UNIT TARGET
enable()
{
	mkdir -p "$TREE/etc/systemd/system/$2.wants"
	ln -s "../$1" "$TREE/etc/systemd/system/$2.wants/"
}

# make_tree: the machine of the picture, without Baleen
make_tree()
{
	mkdir -p "$TREE/etc/baleen"
	cp -a tests/boot/tree/. "$TREE/"
	enable lan.service sysinit.target
	enable links.service sysinit.target
	enable echo.socket sockets.target
	enable server.service multi-user.target
	enable systemd-networkd-wait-online.service network-online.target
}

# install_baleen: as make install does it
install_baleen()
{
	make -s --no-print-directory install DESTDIR="$TREE" prefix=/usr ||
		bail "make install failed"
}

# enable_baleen: as the package does it
enable_baleen()
{
	local unit

	for unit in "$TREE"/usr/lib/systemd/system/baleen*; do
		systemctl --root="$TREE" --quiet enable "${unit##*/}" || bail "cannot enable $unit"
	done
}

# make_lists: below /lists of the machine; listed and unlisted are what lan0 is
# to drop and to pass, banned and storm are for single entries
make_lists()
{
	local lists=$TREE/lists

	mkdir -p "$lists/bad"
	make_list "$lists/bad/one.list" 500 100 401
	make_list "$lists/bad/two.list" 500 100 402
	make_list "$lists/rows" 50 0 403
	make_list "$lists/banned" 20 5 404
	make_list "$lists/storm" 500 0 405
	{
		echo "network,country"
		sed 's/$/,BR/' "$lists/rows"
		make_list "$TMP/elsewhere" 50 0 406
		sed 's/$/,NL/' "$TMP/elsewhere"
	} >"$lists/table.csv"
	head -n 20 "$lists/bad/one.list" >"$lists/friends.list"
	{
		tail -n +21 "$lists/bad/one.list"
		cat "$lists/bad/two.list" "$lists/rows" "$lists/banned"
	} >"$lists/listed"
	cat "$lists"/{bad/*.list,rows,banned,storm} >"$TMP/avoid"
	make_list "$lists/unlisted" 500 100 407 --avoid "$TMP/avoid"
	cat "$lists/friends.list" "$TMP/elsewhere" >>"$lists/unlisted"
}

# in_machine KERNEL SCRIPT FILE...: shows its results as they come, numbered on
in_machine()
{
	local line

	while IFS= read -r line; do
		case $line in
		"1.."*) ;;
		"ok "*) ok "${line#*- }" ;;
		"not ok "*) not_ok "${line#*- }" ;;
		*) echo "$line" ;;
		esac
	done < <(tests/vm/boot "$1" "$2" --tree "$TREE" tests/lib.sh tests/boot/{lan,seen,slow,guest.sh} \
		"${VM_TOOLS[@]}" "${@:3}" 2>"$TMP/err"; echo $? >"$TMP/status")
	is "$1: the script ended, the kernel log is clean" "$(cat "$TMP/status" "$TMP/err")" 0
}
