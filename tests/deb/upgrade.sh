#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Debian 12 becomes Debian 13 by `apt full-upgrade` while a filter is attached, the packages
# of Baleen follow, `baleen refresh` puts their program in: what is listed is dropped all the while.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/deb/debian.sh
source tests/deb/debian.sh
# shellcheck source=/dev/null
source /etc/os-release
RELEASE=$(sed -n '1s/^baleen (\(.*\)) .*/\1/p' debian/changelog)
NEXT=$RELEASE+deb13

# packages_of DEBIAN RELEASE: built there; their directory
packages_of()
{
	if [ "$1" = "$VERSION_CODENAME" ]; then
		debian/build "$2" >&2 && echo build/deb
	else
		tests/releases/in --build "$1" debian/build "$2" >&2 && echo "build/releases/$1/deb"
	fi
}

# apt COMMAND...: in the chroot, with the host's network
apt()
{
	chroot "$DEBIAN" env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		-o Dpkg::Options::=--force-confold -o Dpkg::Options::=--force-unsafe-io "$@"
}

older=$(packages_of bookworm "$RELEASE" 2>"$TMP/err") || bail "packages of Debian 12: $(tail "$TMP/err")"
newer=$(packages_of trixie "$NEXT" 2>"$TMP/err") || bail "packages of Debian 13: $(tail "$TMP/err")"
check "a Debian 12" make_debian bookworm "$older"/*_"$RELEASE"_*.deb "$newer"/*_"$NEXT"_*.deb
# shellcheck disable=SC2119 # the default pair
make_pair
make_list "$LISTED" 1000 0 1
check "the packages install" install_release "$RELEASE"
printf "rule list drop\n\tfeed /root/list.txt\n" >"$DEBIAN/etc/baleen/veth-b.conf"
check_status "a configuration is applied" 3 debian baleen apply veth-b
check "an address is banned" debian baleen add --ttl 1h veth-b:list 198.51.100.77
program=$(xdp_id "$B" veth-b)
start_traffic

# --- Debian 13 --------------------------------------------------------------

tests/releases/mirror trixie >"$TMP/sources"
[ -s "$TMP/sources" ] || sed 's/bookworm/trixie/' "$DEBIAN/etc/apt/sources.list" >"$TMP/sources"
cp "$TMP/sources" "$DEBIAN/etc/apt/sources.list"
check "lists of Debian 13" apt update
check "full-upgrade" apt full-upgrade
is "it is Debian 13" "$(sed -n 's/^VERSION_CODENAME=//p' "$DEBIAN/etc/os-release")" trixie
is "with its libbpf" "$(chroot "$DEBIAN" dpkg-query -Wf '${Version}' libbpf1 | cut -d . -f 1-2)" "1:1.5"
is "the program is the same" "$(xdp_id "$B" veth-b)" "$program"
check "the old baleen manages it" debian baleen add --ttl 1h veth-b:list 198.51.100.78
check "the packages of Debian 13 install" apt install "/root/baleen_${NEXT}_amd64.deb" "/root/libbaleen0_${NEXT}_amd64.deb"
is "baleen runs" "$(debian baleen --version)" "baleen $NEXT"
is "the program is the same still" "$(xdp_id "$B" veth-b)" "$program"
before=$(sample)
check "refresh" debian baleen refresh veth-b
check "it is another program" test "$(xdp_id "$B" veth-b)" != "$program"
check "its counters go on" not_less "$before" "$(sample)"
is "entries are the same" "$(debian baleen match veth-b:list 198.51.100.77 198.51.100.78)" \
	$'198.51.100.77\n198.51.100.78'
check_status "apply has nothing to do" 0 debian baleen apply veth-b
stop_traffic "all the while, all listed dropped, all others passed"
