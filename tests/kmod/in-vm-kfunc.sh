#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bpf_baleen_test(): what it answers, which calls the verifier refuses, the sample
# programs on a device, and what the module does while a program uses it.
#
# Not executable, because it is for the machines of kfunc.sh.

source "$(dirname "$0")/../lib.sh"
source tests/kmod/vm.sh
KFUNC=build/kmod-test/kfunc
LISTED=$TMP/listed OTHER=$TMP/other FREE=$TMP/free
PORT=9
guard=

cleanup()
{
	[ -z "$guard" ] || kill "$guard" 2>/dev/null
}

# Three lists without a common address. A file's name is the filter's.
make_filters()
{
	make_list "$LISTED" 300 100 1
	make_list "$OTHER" 300 100 2 --avoid "$LISTED"
	sort "$LISTED" "$OTHER" >"$TMP/both"
	make_list "$FREE" 300 100 3 --avoid "$TMP/both"
	mkdir "$TMP/swap"
	if ! "$BALEEN" build -o "$TMP/guard.bln" "$LISTED" >/dev/null ||
		! "$BALEEN" build -o "$TMP/both.bln" "$TMP/both" >/dev/null ||
		! "$BALEEN" build -o "$TMP/swap/guard.bln" "$OTHER" >/dev/null; then
		bail "cannot build"
	fi
}

# --- the sample programs ------------------------------------------------------

# start_guard NAMESPACE ARGUMENT...: it stays until stop_guard
start_guard()
{
	local line

	mkfifo "$TMP/in" "$TMP/out.guard"
	in_ns "$1" "$KFUNC/guard" "${@:2}" <"$TMP/in" >"$TMP/out.guard" &
	guard=$!
	exec 4>"$TMP/in" 5<"$TMP/out.guard"
	read -r line <&5
	[ "$line" = there ] || bail "guard does not start"
}

# stop_guard NAME WANT: and what it says at its end
stop_guard()
{
	local line

	exec 4>&-
	read -r line <&5
	exec 5<&-
	wait "$guard"
	guard=
	rm "$TMP/in" "$TMP/out.guard"
	is "$1" "$line" "$2"
}

# drops NAME LISTED: of the sources all listed ones are dropped, no other is
drops()
{
	check "$1" "$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --listed "$2" --unlisted "$FREE" \
		--expect
}

passes()
{
	check "$1" "$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --unlisted "$2" --expect
}

test_samples()
{
	make_pair
	start_guard "$B" xdp veth-b guard $PORT
	drops "XDP: listed sources are dropped, others pass" "$LISTED"
	cat "$TMP/swap/guard.bln" >/dev/baleen || bail "cannot swap"
	drops "XDP: after a swap it is the other list" "$OTHER"
	stop_guard "XDP: what the program was answered" "listed 800 unlisted 800 no-filter 0"
	start_guard "$B" xdp veth-b guard $((PORT + 1))
	passes "XDP: another port is the program's own policy" "$OTHER"
	stop_guard "XDP: and the filter is not asked" "listed 0 unlisted 0 no-filter 0"
	start_guard "$A" tc veth-a guard 0
	drops "TC: listed sources are dropped, others pass" "$OTHER"
	stop_guard "TC: what the program was answered" "listed 400 unlisted 400 no-filter 0"
	start_guard "$B" xdp veth-b nobody $PORT
	passes "no such filter: all pass" "$OTHER"
	stop_guard "no such filter: the program knows" "listed 0 unlisted 0 no-filter 400"
}

# --- while a program uses it ----------------------------------------------------

users() { cat /sys/module/baleen/refcnt; }

# The kernel frees a program some time after it is closed.
await_users()
{
	local i

	for ((i = 0; i < 600; i++)); do
		[ "$(users)" -ne "$1" ] || return 0
		sleep 0.05
	done
	return 1
}

test_unload()
{
	await_users 0 || bail "programs of before are still there"
	start_guard "$B" xdp veth-b guard $PORT
	check_status "the module does not go while a program is loaded" 1 rmmod baleen
	drops "and the program goes on" "$OTHER"
	stop_guard "it was answered all the time" "listed 400 unlisted 400 no-filter 0"
	check "the last program is gone: the module has no user" await_users 0
}

# --- kernels that do not take it -----------------------------------------------

test_without()
{
	is "the log says so in one line" "$(dmesg | grep -c 'baleen: no bpf_baleen_test()\|kfunc')" 1
	check_status "the sample is not loaded" 1 in_ns "$B" "$KFUNC/guard" xdp veth-b guard $PORT
	check "the filters are there" grep -q guard /dev/baleen
}

load_module
make_filters
cat "$TMP/guard.bln" >/dev/baleen || bail "the device does not take an image"
if [ -e /sys/kernel/btf/baleen ]; then
	run calls "$KFUNC/calls" guard "$LISTED" "$OTHER"
	run changes "$KFUNC/changes" "$TMP/guard.bln" "$TMP/both.bln" "$(head -n 1 "$LISTED")" \
		"$(head -n 1 "$FREE")"
	test_samples
	test_unload
else
	make_pair
	test_without
fi
test_gone
