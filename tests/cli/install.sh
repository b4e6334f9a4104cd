#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `make install` puts everything where it is told, and nothing else anywhere.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

# Whatever the user lets the group do.
umask 002

# installed DIRECTORY: the files below it, sorted
installed()
{
	(cd "$TMP/$1" && find . ! -type d | sed 's|^\./||' | sort)
}

# there NAME FILE: it is installed
there()
{
	check "$1" test -s "$TMP/dest/$2"
}

check "make install" make -s install DESTDIR="$TMP/dest" prefix=/usr libdir=/usr/lib/here \
	unitdir=/lib/systemd/system
there "the command" usr/sbin/baleen
is "which anybody may run" "$(stat -c %a "$TMP/dest/usr/sbin/baleen")" 755
is "it says its release" "$("$TMP/dest/usr/sbin/baleen" --version)" \
	"baleen $(sed -n '1s/^baleen (\(.*\)) .*/\1/p' debian/changelog)"
there "the program that fetches" usr/libexec/baleen/baleen-fetch
there "the library" usr/lib/here/libbaleen.so.0
there "and how to link it" usr/lib/here/pkgconfig/libbaleen.pc
there "its header" usr/include/baleen/libbaleen.h
there "the completion" usr/share/bash-completion/completions/baleen
there "addresses never to be dropped" etc/baleen/never.list
is "of which none is in force" "$(grep -c '^[^#]' "$TMP/dest/etc/baleen/never.list")" 0
is "every manual page" "$(find "$TMP/dest/usr/share/man" -type f -printf '%f\n' | sort)" \
	"$(find user/man -type f -printf '%f\n' | sort)"
# The links are held to the tree by docs.sh.
is "every document, as far from each other as in the tree" \
	"$(installed dest/usr/share/doc/baleen | grep -v '^examples/')" \
	"$(printf '%s\n' CONTRIBUTING.md README.md SECURITY.md docs/*.md | sort)"
is "every example" "$(installed dest/usr/share/doc/baleen/examples)" \
	"$(cd examples && find . \( -name '*.c' -o -name Makefile \) | sed 's|^\./||' | sort)"
there "the ioctls of the module" usr/include/linux/baleen.h
for unit in user/systemd/*.service; do
	[ ! -e "$unit" ] || there "${unit##*/}" "lib/systemd/system/${unit##*/}"
done
for file in user/adapters/* user/grafana/* user/prometheus/* user/conf/example.conf; do
	[ ! -e "$file" ] || check "${file##*/}" test -e "$TMP/dest/usr/share/baleen/${file##*/}"
done
is "the alert rules name the file that they are" \
	"$(sed -n 's/^# *rule_files: \[ \(.*\) \]$/\1/p' user/prometheus/baleen.rules.yml)" \
	"$(find "$TMP/dest" -name baleen.rules.yml -printf '/%P')"
there "the rule of udev" usr/lib/udev/rules.d/85-baleen.rules
is "nothing that all may write" "$(find "$TMP/dest" -perm /022 ! -type l)" ""

echo 192.0.2.17 >>"$TMP/dest/etc/baleen/never.list"
check "make install, once more" make -s install DESTDIR="$TMP/dest" prefix=/usr libdir=/usr/lib/here \
	unitdir=/lib/systemd/system
is "leaves the addresses that were added" "$(grep '^[^#]' "$TMP/dest/etc/baleen/never.list")" 192.0.2.17

check "other places" make -s install DESTDIR="$TMP/other" prefix=/opt/b sbindir=/opt/b/bin \
	mandir=/opt/man unitdir=/opt/units sysconfdir=/opt/etc
is "are taken" "$(installed other | grep -vE '^opt/(b|man|units|etc)/')" ""
check "there too" test -x "$TMP/other/opt/b/bin/baleen"
check "with what it starts where it looks" test -x "$TMP/other/opt/b/bin/../libexec/baleen/baleen-fetch"
is "units and adapters know" "$(grep -rlE '/usr/(sbin|share/baleen)/' "$TMP/other/opt/units" \
	"$TMP/other/opt/b/share/baleen")" ""
is "the bouncer of CrowdSec finds the adapter" "$(sed -n 's/^bin_path: //p' \
	"$TMP/other/opt/b/share/baleen/crowdsec-custom-bouncer.yaml")" /opt/b/share/baleen/baleen-crowdsec
is "and the daemon, what it runs" "$(sed -n 's/^ExecStart=//p' "$TMP/other/opt/units/baleend.service")" \
	"/opt/b/bin/baleend --command /opt/b/bin/baleen \$OPTIONS"

# --- uninstalled ---------------------------------------------------------------

echo mine >"$TMP/dest/usr/share/baleen/mine"
check "make uninstall" make -s uninstall DESTDIR="$TMP/dest" prefix=/usr libdir=/usr/lib/here \
	unitdir=/lib/systemd/system
is "leaves what is of others, and what the operator wrote" "$(installed dest)" \
	$'etc/baleen/never.list\nusr/share/baleen/mine'
check "make uninstall, elsewhere" make -s uninstall DESTDIR="$TMP/other" prefix=/opt/b \
	sbindir=/opt/b/bin mandir=/opt/man unitdir=/opt/units sysconfdir=/opt/etc
is "leaves no file but those of sysconfdir" "$(installed other)" opt/etc/baleen/never.list
is "nor a directory of its own" "$(cd "$TMP/other" && find . -type d -name 'baleen' | sort)" ./opt/etc/baleen
