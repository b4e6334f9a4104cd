#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What `baleen icp demo` runs: a host that asks, and one that is answered for by XDP from a
# filter, though no cache runs there. Nothing is left of it.
#
#      this namespace: ask0 192.0.2.10 ---- eth0 192.0.2.20 :host of the cache

set -u
baleen=$1
export PATH=$PATH:/usr/sbin:/sbin LC_ALL=C
cache=192.0.2.20
site=http://www.example.com

fail()
{
	echo "baleen: icp demo: $1" >&2
	exit 1
}

[ "$(id -u)" -eq 0 ] || fail "it makes network namespaces: run this as root"
for program in ip nsenter unshare; do
	command -v "$program" >/dev/null ||
		fail "$program is not installed: apt-get install iproute2 util-linux"
done
if [ "${BALEEN_DEMO-}" != $$ ]; then
	export BALEEN_DEMO=$$
	exec unshare --mount --net --propagation private -- "$0" "$@"
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
export BALEEN_RUN_DIR=$dir/run BALEEN_STATE_DIR=$dir/state BALEEN_CONF_DIR=$dir/conf
mkdir "$dir"/{run,state,conf}
cd "$dir" || exit 1

# show HOST ARGUMENT...: baleen on a host, with what is typed
show()
{
	echo "$1# baleen ${*:2}"
	if [ "$1" = cache ]; then
		nsenter --net=/run/netns/demo-cache -- "$baleen" "${@:2}"
	else
		"$baleen" "${@:2}"
	fi | sed 's/^/    /'
	return "${PIPESTATUS[0]}"
}

make_wire()
{
	mkdir -p /run/netns
	mount -t tmpfs none /run/netns && mount -t bpf none /sys/fs/bpf &&
		ip netns add demo-cache &&
		ip link add ask0 type veth peer name eth0 netns demo-cache &&
		ip link set ask0 up && ip address add 192.0.2.10/24 dev ask0 &&
		ip -n demo-cache link set lo up && ip -n demo-cache link set eth0 up &&
		ip -n demo-cache address add $cache/24 dev eth0
}

make_wire || fail "cannot make network namespaces"
for ((n = 1; n <= 1000; n++)); do
	echo "$site/$n"
done >urls.txt
echo "No cache runs on $cache, and nobody answers for one:"
show asker icp ask --timeout 200ms $cache $site/7
echo "A filter of 1,000 URLs answers in XDP. Without a cache to feed and to confirm it, it always does:"
show cache icp attach eth0 --sibling a=$cache,mode=answer,image=urls.txt --asker 192.0.2.10 \
	--stale never --confirm never || exit 1
show asker icp ask $cache $site/7 $site/1000 $site/1001
mapfile -t urls < <(head -n 500 urls.txt; sed 's/$/-not/' urls.txt | head -n 500)
echo "Now 1,000 questions, half of them for what it has:"
"$baleen" icp ask $cache "${urls[@]}" >answers.txt
awk '{ n[$1]++; us[$1] += $2 } END { for (answer in n)
	printf "    %d times %s, in %.0f us on average\n", n[answer], answer, us[answer] / n[answer] }' answers.txt |
	sort
show cache icp status eth0
[ "$(grep -c '^hit' answers.txt) $(grep -c '^miss' answers.txt)" = "500 500" ] ||
	fail "these are not the answers that the filter has"
echo "All $(($(wc -l <answers.txt) + 3)) answers came from XDP: there is no cache."
