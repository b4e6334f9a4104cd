#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The first of README's two commands in a Debian 12 and a Debian 13 with git and make and nothing
# else, and packages that lintian has nothing to say of. For `make check-all`.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

# bare RELEASE COMMAND: of a shell, in a Debian with git and make
bare()
{
	tests/releases/in --bare "$1" sh -ec "
		export DEBIAN_FRONTEND=noninteractive
		apt-get -q update
		apt-get -q -y install --no-install-recommends git make
		git config --global --add safe.directory '*'
		git clone -q /src /root/baleen
		cd /root/baleen
		$2"
}

if [ "$(id -u)" -ne 0 ]; then
	skip "a bare Debian" "needs root"
	exit 0
fi
for release in bookworm trixie; do
	check "$release: make demo" bare "$release" "make demo"
	is "$release: it drops what is listed" "$(grep -c "dropped" "$TMP/out")" 1
	check "$release: make deb" bare "$release" "make deb >/tmp/log 2>&1 || { tail -n 50 /tmp/log; exit 1; }
		apt-get -q -y install --no-install-recommends lintian
		lintian --fail-on error,warning --tag-display-limit 0 build/deb/*.changes"
done
