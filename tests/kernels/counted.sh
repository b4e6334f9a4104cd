# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Which configurations are counted, on both sides of the virtual machine. Sourced.

# is_counted CONFIGURATION: in `make check` two with as many rules as there can be, for an
# attach of these takes an emulated machine 12 seconds: that of every day, and that which
# costs the verifier most
is_counted()
{
	[ "${TEST_ALL-}" != 1 ] || return 0
	case $1 in
	rules-16-both | rules-16-quotient) ;;
	rules-16-*) return 1 ;;
	esac
}
