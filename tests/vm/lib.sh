# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the two kinds of virtual machine share: $image, the kernel's tree; $root,
# the initramfs in the making; $work, the directory of this run; the emulator.

# VM_ARCH=arm64 in the environment makes it a machine of arm64: programs and libraries are those of
# tests/arm64/sysroot then, which is $sysroot, and empty where they are this machine's own.

# shellcheck disable=SC2034,SC2154 # of those who source this
machine=
sysroot=
[ "${VM_ARCH-}" != arm64 ] || sysroot=$(tests/arm64/sysroot)

# A signal ends a wait at once, and only a wait.
end()
{
	[ -z "$machine" ] || kill "$machine" 2>/dev/null || true
	rm -rf "$work"
}

# add_libraries FILE: what a program loads, at the same paths as here
add_libraries()
{
	local file

	[ -z "$sysroot" ] || { add_libraries_of_sysroot "$1"; return; }
	for file in $(ldd "$1" 2>/dev/null | grep -o '/[^ ]*'); do
		mkdir -p "$root${file%/*}"
		cp -L "$file" "$root$file"
	done
}

# add_libraries_of_sysroot FILE: the same where ldd cannot run it; at once what they load
add_libraries_of_sysroot()
{
	local name file

	for name in $(aarch64-linux-gnu-objdump -p "$1" 2>/dev/null | awk '$1 == "NEEDED" { print $2 }') ld-linux-aarch64.so.1; do
		for file in "$sysroot"/usr/lib/aarch64-linux-gnu/{,*/}"$name"; do
			[ -e "$file" ] && [ ! -e "$root${file#"$sysroot"}" ] || continue
			mkdir -p "$root$(dirname "${file#"$sysroot"}")"
			cp -L "$file" "$root${file#"$sysroot"}"
			add_libraries_of_sysroot "$file"
		done
	done
	[ -e "$root/lib/ld-linux-aarch64.so.1" ] || cp -L "$sysroot/lib/ld-linux-aarch64.so.1" "$root/lib/"
}

# program NAME: where it is
program()
{
	local directory

	[ -n "$sysroot" ] || { command -v "$1"; return; }
	for directory in bin sbin; do
		[ ! -e "$sysroot/usr/$directory/$1" ] || { echo "$sysroot/usr/$directory/$1"; return; }
	done
	return 1
}

# module_files MODULE...: what they depend on and they, in the order of loading
module_files()
{
	local release

	release=$(basename "$image"/lib/modules/*)
	[ -f "$image/lib/modules/$release/modules.dep" ] || depmod -b "$image" "$release"
	modprobe -d "$image" -S "$release" --show-depends -a "$@" |
		awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

# copy_module FILE DIRECTORY: unpacked, since not every insmod can do that
copy_module()
{
	mkdir -p "$2"
	cp "$1" "$2/"
	case $1 in *.xz) unxz "$2/${1##*/}" ;; esac
}

# add_modules MODULE...: to be loaded by init
add_modules()
{
	local path

	for path in $(module_files "$@"); do
		copy_module "$path" "$root/modules"
		path=${path##*/}
		echo "/modules/${path%.xz}" >>"$root/modules.load"
	done
}

# pack FILE: the initramfs; not compressed, since unpacking costs the emulated
# processor more than reading
pack()
{
	(cd "$root" && find . | cpio --quiet -o -H newc) >"$1"
}

# emulate LOG INITRAMFS ARGUMENTS OPTION...: starts the machine, whose process is
# $machine. Its first serial port is the kernel's and writes LOG; ARGUMENTS are the
# kernel's, which puts TEST_ALL into the environment of init. The software watchdogs,
# the check of the timer and that of RCU measure how busy this host is, so they are off.
# One thread for both processors: with one each the emulator ran a stale int3 of
# the kernel's own code patching (Oops in bpf_dispatcher_xdp_func), and once
# left cmpxchg16b half done. Nor does the kernel check that its timer ticks in time:
# on a busy host it does not, and the kernel panics as it starts. The processor is of
# x86-64-v2, with SMAP, which finds wrong accesses to user memory: with all that "max"
# has chain.sh takes 63 s in place of 41, and hook.sh 64 in place of 48. One of arm64 has all that the
# emulator knows, but signs pointers in a simple way: that of the architecture takes half of its time.
# It has one serial port, so that of the script is on PCI.
emulate()
{
	local arguments="loglevel=6 panic=-1 oops=panic nowatchdog rcupdate.rcu_cpu_stall_suppress=1 no_timer_check${TEST_ALL:+ TEST_ALL=$TEST_ALL} $3"

	if [ -n "$sysroot" ]; then
		# shellcheck disable=SC2086 # words
		timeout --foreground --kill-after=5 "${VM_TIMEOUT:-600}" \
			qemu-system-aarch64 -nodefaults -no-user-config -display none -no-reboot \
			-M virt -accel tcg,thread=single -cpu max,pauth-impdef=on \
			-smp 2 -m "${VM_MEMORY:-2048}" \
			-kernel "$image"/boot/vmlinuz-* -initrd "$2" \
			-append "console=ttyAMA0 vm.port=ttyS0 $arguments" -serial "file:$1" \
			-chardev stdio,id=script,signal=off -device pci-serial,chardev=script "${@:4}" \
			${VM_EMULATOR-} </dev/null &
		machine=$!
		return
	fi
	# shellcheck disable=SC2086 # words
	timeout --foreground --kill-after=5 "${VM_TIMEOUT:-600}" \
		qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot \
		-accel tcg,thread=single -cpu qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt,+smap,+smep \
		-smp 2 -m "${VM_MEMORY:-2048}" \
		-kernel "$image"/boot/vmlinuz-* -initrd "$2" \
		-append "console=ttyS0 vm.port=ttyS1 $arguments" \
		-serial "file:$1" \
		-chardev stdio,id=script,signal=off -serial chardev:script "${@:4}" \
		${VM_EMULATOR-} </dev/null &
	machine=$!
}

# verdict LOG: the status of the script, if the kernel has nothing to add
verdict()
{
	local status

	tr -d '\r' <"$1" >"$1.txt"
	status=$(sed -n 's/.*vm: script ended with status \([0-9]*\)$/\1/p' "$1.txt")
	if [ -z "$status" ]; then
		echo "# vm: the machine ended before the script did"
	elif grep -qwE 'BUG|WARNING|Oops|UBSAN|suspected memory leaks' "$1.txt"; then
		echo "# vm: the kernel complained"
	else
		return "$status"
	fi
	sed 's/^/# /' "$1.txt"
	return 125
}
