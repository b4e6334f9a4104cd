# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A Debian in a chroot that has neither compiler nor headers, beside the receiving end of the
# pair, and traffic that goes on while packages change. Sourced after tests/lib.sh.

# A file system of this test's mount namespace: nothing has to be removed.
DEBIAN=/mnt
LISTED=$DEBIAN/root/list.txt
traffic=

cleanup()
{
	[ -z "$traffic" ] || kill "$traffic" 2>/dev/null
}

# debian COMMAND...: in the chroot, beside the receiving end of the pair
debian()
{
	in_ns "$B" chroot "$DEBIAN" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"
}

# make_debian RELEASE PACKAGE...: of the smallest kind, the packages are in /root
make_debian()
{
	local tree

	# Nobody removes it while it is mounted.
	tree=$(tests/releases/tree "$1") && exec 6<"$tree" && flock -s 6 && mkdir "$TMP/over" &&
		mount -t tmpfs -o size=1G baleen-debian "$TMP/over" && mkdir "$TMP"/over/{upper,work} &&
		mount -t overlay baleen-debian "$DEBIAN" \
			-o "lowerdir=$tree,upperdir=$TMP/over/upper,workdir=$TMP/over/work" &&
		mount -t proc proc "$DEBIAN/proc" &&
		mount --rbind /sys "$DEBIAN/sys" &&
		mount --bind /dev/null "$DEBIAN/dev/null" &&
		mkdir -p build/vm/archives/partial &&
		mount --bind build/vm/archives "$DEBIAN/var/cache/apt/archives" &&
		cp "$TMP/resolv.conf.host" "$DEBIAN/etc/resolv.conf" &&
		cp "${@:2}" "$DEBIAN/root"
}

# install RELEASE: as a person would, but that the network is the host's; lists of
# packages are only read when what is needed is not there yet
install_release()
{
	set -- "/root/baleen_$1_amd64.deb" "/root/libbaleen0_$1_amd64.deb"
	chroot "$DEBIAN" apt-get -q -y --no-download install "$@" && return
	chroot "$DEBIAN" apt-get -q update &&
		chroot "$DEBIAN" apt-get -q -y --no-install-recommends install "$@"
}

start_traffic()
{
	local line

	mkfifo "$TMP/fifo"
	"$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --listed "$LISTED" --random 1000 \
		--loop --expect -j >"$TMP/fifo" 2>"$TMP/traffic.err" &
	traffic=$!
	exec 3<"$TMP/fifo"
	read -r line <&3
	is "traffic runs" "$line" running
}

stop_traffic()
{
	kill -INT "$traffic"
	cat <&3 >"$TMP/result"
	wait "$traffic"
	is "$1" "$?$(cat "$TMP/traffic.err")" 0
	traffic=
}

# sample: the counters of the rule and of what passed, as jq sorts them
sample()
{
	debian baleen status -j veth-b | jq -c '.[0] | [ .rules[0].packets, .unmatched ]'
}

# not_less A B
not_less()
{
	# shellcheck disable=SC2016 # of jq
	jq -ne --argjson a "$1" --argjson b "$2" '[range($a | length) | $a[.] <= $b[.]] | all'
}
