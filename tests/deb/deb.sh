#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The packages in a Debian of this release that has neither compiler nor headers: they install
# and drop a list in two commands; an upgrade and a removal under traffic leave
# the filter as it is.
#
# The packages are built in a copy of the tree, in `make check-all` from nothing. What they depend on is downloaded
# once, into build/vm/archives.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/deb/debian.sh
source tests/deb/debian.sh

# shellcheck source=/dev/null
source /etc/os-release
CLONE=$TMP/clone
RELEASE=$(sed -n '1s/^baleen (\(.*\)) .*/\1/p' debian/changelog)
NEXT=$RELEASE.1

# In `make check` the packages hold what this tree has compiled; they only link it.
build_packages()
{
	local built=$CLONE/build/deb/tree/build

	mkdir "$CLONE" && tar -c --exclude=./build --exclude=./.git . | tar -x -C "$CLONE" || return
	tests_all || { mkdir -p "$built" && cp -a build/user build/late.* build/*.h build/*.bpf.o* "$built/"; } || return
	"$CLONE/debian/build" "$RELEASE" && "$CLONE/debian/build" "$NEXT"
}

# tools: what a compiler or headers would be
tools()
{
	debian sh -c 'ls -d /usr/include/linux /usr/include/stdio.h /lib/modules; command -v cc gcc clang \
		make bpftool llvm-strip' 2>/dev/null
}

# gcc, make and the like are there wherever packages are built; debhelper's parts are of the
# group deb.
is "what the build needs is what packages says" \
	"$(sed -n '/^Build-Depends:/,/^$/s/^ \([a-z0-9.+-]*\).*,$/\1/p' debian/control | grep -vE '^(debhelper|dh-)' | sort)" \
	"$(sed -n 's/^build //p' packages | grep -vxE 'gcc|make|libc6-dev|linux-libc-dev' | sort)"
check "the packages are built, and those of the next release" build_packages
check "a Debian" make_debian "$VERSION_CODENAME" "$CLONE"/build/deb/*.deb
is "has neither compiler nor headers" "$(tools)" ""
# shellcheck disable=SC2119 # the default pair
make_pair
make_list "$LISTED" 1000 0 1

# --- installed -------------------------------------------------------------

check "the packages install" install_release "$RELEASE"
is "and bring no tools" "$(tools)" ""
is "baleen runs" "$(debian baleen --version)" "baleen $RELEASE"
for page in user/man/*.[58]; do
	page=${page##*/}
	check "manual page $page" test -s "$DEBIAN/usr/share/man/man${page##*.}/$page.gz"
done
for doc in README.md CONTRIBUTING.md SECURITY.md docs/*.md; do
	check "$doc" test -s "$DEBIAN/usr/share/doc/baleen/$doc"
done
for name in $(sed -n 's/^#define .*"\(.*\)"$/\1/p' build/late.h); do
	check "$name, which is loaded at its first use" grep -qF "$name" <(debian ldconfig -p)
done
check "completion" test -s "$DEBIAN/usr/share/bash-completion/completions/baleen"
check "baleend" debian baleend --version
check "filters are put on again at boot" test -L \
	"$DEBIAN/etc/systemd/system/sysinit.target.wants/baleen.service"
check "and maintained" test -L "$DEBIAN/etc/systemd/system/multi-user.target.wants/baleend.service"
cp "$DEBIAN/usr/share/baleen/example.conf" "$DEBIAN/etc/baleen/veth-b.conf"
check_status "the example is applied as it is" 3 debian baleen apply veth-b
is "its rules" "$(debian baleen status -j veth-b | jq -c '[.[].rules[].name]')" '["office","bans"]'
check "and forgotten" debian baleen detach --forget --entries veth-b
rm "$DEBIAN/etc/baleen/veth-b.conf"
check "a list is attached by a second command" debian baleen attach veth-b --drop /root/list.txt
program=$(xdp_id "$B" veth-b)
check "what is listed is dropped, all else passes" "$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" \
	--listed "$LISTED" --random 1000 --expect

# --- the library -----------------------------------------------------------

dpkg-deb -x "$CLONE/build/deb/libbaleen-dev_${RELEASE}_amd64.deb" "$TMP/dev"
lib=$TMP/dev/usr/lib/$(gcc -print-multiarch)
dpkg-deb -x "$CLONE/build/deb/libbaleen0_${RELEASE}_amd64.deb" "$TMP/dev"
# shellcheck disable=SC2046 # words
check "a program builds against the library" gcc -o "$DEBIAN/root/ask" \
	$(PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$TMP/dev pkg-config --cflags --libs libbaleen) \
	"$TMP/dev/usr/share/doc/libbaleen-dev/examples/ask.c" -L "$lib" -lbaleen -Wl,-rpath-link,"$lib"
first=$(head -n 1 "$LISTED")
check "and asks the live rule where only the library is" debian /root/ask veth-b:list "$first"
is "as the packets do" "$(tail -n 1 "$TMP/out")" "$first listed"

# --- the module ------------------------------------------------------------

# tests/kmod/dkms.sh builds it of them.
dpkg-deb -x "$CLONE/build/deb/baleen-dkms_${RELEASE}_all.deb" "$TMP/dkms"
rm -r "$TMP/dkms/usr/share"
make -s install-dkms DESTDIR="$TMP/sources" || bail "make install-dkms"
check "the package of the module holds its sources" diff -r "$TMP/sources" "$TMP/dkms"

# --- an upgrade under traffic ----------------------------------------------

start_traffic
before=$(sample)
check "the next release installs" install_release "$NEXT"
is "and says how to move to its program" "$(grep -c "^baleen: .* 'baleen refresh'" "$TMP/out")" 1
is "and runs" "$(debian baleen --version)" "baleen $NEXT"
is "the program is the same" "$(xdp_id "$B" veth-b)" "$program"
after=$(sample)
check "its counters go on" not_less "$before" "$after"
check "it is managed by the new release" debian baleen add --ttl 1h veth-b:list 198.51.100.77
is "which reads what it adds" "$(debian baleen match veth-b:list 198.51.100.77)" 198.51.100.77

# --- removed ---------------------------------------------------------------

mkdir -p "$DEBIAN/var/lib/baleen/veth-b"
echo "# mine" >"$DEBIAN/etc/baleen/veth-b.conf"
check "the package is removed" debian dpkg --remove baleen
way_out=$(sed -n 's/^baleen: a filter stays on interface .*\. To take it off: //p' "$TMP/out")
is "and says how to take the filter off" "${way_out%%/baleen/*}" "rm -r /sys/fs/bpf"
is "which stays" "$(xdp_id "$B" veth-b)" "$program"
is "with the configuration" "$(ls "$DEBIAN/etc/baleen")" $'never.list\nveth-b.conf'
check "a purge" debian dpkg --purge baleen
is "tells of the filter, too" "$(grep -c '^baleen: filters stay' "$TMP/out")" 1
is "removes that and the state" "$(ls -d "$DEBIAN"/etc/baleen "$DEBIAN"/var/lib/baleen 2>/dev/null)" ""
is "and no filter" "$(xdp_id "$B" veth-b)" "$program"
stop_traffic "all the while, all listed dropped, all others passed"
# shellcheck disable=SC2086 # words
check "the way out" debian $way_out
is "is one" "$(xdp_id "$B" veth-b)" ""
