# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Which configurations are counted, on both sides of the virtual machine. Sourced.

# is_counted CONFIGURATION RELEASE: in `make check` few with as many rules as there can be, for
# an attach of these takes an emulated machine 12 to 20 seconds: that of every day, and that
# which costs the verifier most, but not under 6.1. With COUNT_ALONE=1 what has one rule.
is_counted()
{
	[[ ${COUNT_ALONE-} != 1 || $1 =~ ^(object|icp|ip4|ip6|both-(cuckoo|classic|counting|quotient)) ]] || return
	[ "${TEST_ALL-}" != 1 ] || return 0
	case $1:$2 in
	rules-16-quotient:6.1.*) return 1 ;;
	rules-16-both:* | rules-16-quotient:*) ;;
	rules-16-*) return 1 ;;
	esac
}
