#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A module asks a filter through the symbols that baleen.ko exports.
#
# Not executable, because it is for the machines of asker.sh.

source "$(dirname "$0")/../lib.sh"
source tests/kmod/vm.sh
PARAMETERS=/sys/module/asker/parameters

# answers ADDRESS: 1, 0 or an error
answers() { echo "$1" >$PARAMETERS/ask && cat $PARAMETERS/answer; }
row() { awk '$1 == "large"' /dev/baleen; }

load_module
cat large.bln >/dev/baleen || bail "the device does not take an image"
# The status of busybox is the errno.
check_status "it does not start without its filter: ENOENT" 2 insmod asker.ko filter=nobody
check_status "nor with a name that is too long: ENAMETOOLONG" 36 \
	insmod asker.ko filter=0123456789abcdef0123456789abcdef
check "it starts with its filter" insmod asker.ko filter=large
is "a listed address" "$(answers 0xc0000201)" 1
is "another" "$(answers 0xc0000202)" 0
large=$(cat $PARAMETERS/large_pages) small=$(cat $PARAMETERS/small_pages)
echo "# $(stat -c %s large.bln) bytes in $large pages of 2 MiB and $small of 4 KiB"
# The kernel may have to take small ones, but not here: nothing has used memory yet.
is "the image is mapped by large pages" "$((large >= 30 && small <= 512))" 1
check_status "the module does not go while another needs it" 1 rmmod baleen
is "both were counted" "$(row | grep -cw 2)" 1
check "the other module goes" rmmod asker
test_gone
