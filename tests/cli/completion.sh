#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What bash offers after a tab: commands, options, devices, live rules, files.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

# The command as it is, but for what is live.
mkdir "$TMP/bin" "$TMP/files"
cat >"$TMP/bin/baleen" <<END
#!/bin/sh
if [ "\$1" = status ]; then
	cat "$TMP/status"
elif [ "\$*" = "info -j kmod:" ]; then
	cat "$TMP/kmod"
elif [ "\$*" = "icp status -j" ]; then
	cat "$TMP/icp"
else
	exec "$BALEEN" "\$@"
fi
END
chmod +x "$TMP/bin/baleen"
cat >"$TMP/status" <<'END'
[
  {
    "device": "eth7",
    "device_at_attach": "eth7",
    "rules": [
      {
        "name": "office",
        "action": "allow"
      },
      {
        "name": "bad",
        "action": "drop"
      }
    ]
  },
  {
    "device": "wan",
    "rules": [
      {
        "name": "bad",
        "action": "drop"
      }
    ]
  }
]
END
cat >"$TMP/kmod" <<'END'
[
  {
    "file": "kmod:bogon",
    "kind": "cuckoo"
  },
  {
    "file": "kmod:two words",
    "kind": "cuckoo"
  }
]
END
cat >"$TMP/icp" <<'END'
[
  {
    "device": "eth7",
    "feed": {
      "device": "lo",
      "port": 3131
    },
    "siblings": [
      {
        "name": "north",
        "feeders": []
      },
      {
        "name": "south",
        "feeders": []
      }
    ]
  }
]
END
touch "$TMP/files/list.txt" "$TMP/files/list.bln"

# shellcheck disable=SC2016 # of the inner bash
COMPLETE='source "$1"; COMP_LINE=$2 COMP_POINT=${#2}; COMP_WORDBREAKS=$3; _baleen
	printf "%s\n" "${COMPREPLY[@]}" | sort | paste -sd " "'

# offers NAME LINE WANT [WORDBREAKS]: at the end of this line
offers()
{
	is "$1" "$(cd "$TMP/files" && PATH="$TMP/bin:$PATH" bash -c "$COMPLETE" - \
		"$ROOT/user/completion/baleen" "$2" "${4-}")" "$3"
}

# offers_some NAME LINE WORD...: these among others
offers_some()
{
	local word got

	got=$(cd "$TMP/files" && PATH="$TMP/bin:$PATH" bash -c "$COMPLETE" - \
		"$ROOT/user/completion/baleen" "$2" "")
	for word in "${@:3}"; do
		check "$1: $word" grep -qw -- "$word" <<<"$got"
	done
}

commands=$("$BALEEN" help | sed -n 's/^  baleen \([a-z]*\) .*/\1/p' | sort -u)

check "it is bash" bash -n user/completion/baleen
offers "every command" "baleen " "$(sort <<<"$commands"$'\nhelp' | paste -sd ' ')"
offers "what begins so" "baleen me" "merge metrics"
offers "commands to be helped with" "baleen help res" "resize restore"
offers "long options" "baleen build --k" "--key --kind"
offers "an option that has a short one" "baleen match --inv" "--invert"
for command in $commands; do
	# shellcheck disable=SC2046 # words
	offers_some "$command" "baleen $command -" \
		$("$BALEEN" help "$command" | sed -nE 's/^ {2}( {4})?(-[a-z], )?(--[a-z0-9-]+).*/\3/p')
done
offers "values of an option" "baleen attach lo --mode " "auto generic native"
offers "kinds" "baleen build --kind b" bloom
offers "a file for -o" "baleen build -o l" "list.bln list.txt"
offers "nothing for a number" "baleen build --capacity " ""

offers "a device first" "baleen attach l" lo
# shellcheck disable=SC2046 # words
offers_some "the devices" "baleen status " $(ls /sys/class/net)
offers "lists and rules then" "baleen attach lo --drop li" "list.bln list.txt"
offers "live rules where images go" "baleen info eth7:" "eth7:bad eth7:office"
offers "and their rest, as readline has it" "baleen info eth7:" "bad office" ":"
offers "live rules where only they go" "baleen swap " \
	"eth7:bad eth7:office kmod:bogon wan:bad"
offers "filters of the module" "baleen info kmod:" kmod:bogon
offers "and the rest of one" "baleen info kmod:b" bogon ":"
offers "where only they go" "baleen detach kmod" kmod:bogon
offers "a list for a swap" "baleen swap eth7:bad list.b" list.bln
offers "of a rule the verbs" "baleen rule " "add del move"
offers "its device" "baleen rule add l" lo
offers "its rule" "baleen rule del wan:" wan:bad
offers_some "the verbs of icp" "baleen icp " attach detach resync status
offers_some "the verbs of set" "baleen set " keygen publish verify show diff
offers "a verb of set to be helped with" "baleen help set pub" publish
offers "options of publish" "baleen set publish --na" --name
offers "a manifest" "baleen set verify list.t" list.txt
offers "a verb to be helped with" "baleen help icp att" attach
offers "options of a verb" "baleen icp attach lo --as" --asker
offers "those of no other verb" "baleen icp detach --as" ""
offers "a device for a verb" "baleen icp detach l" lo
offers "live siblings" "baleen icp resync " "eth7:north eth7:south"
offers "hashes" "baleen icp attach lo --hash sq" squid
offers "qualifiers" "baleen attach lo --drop list.txt tc" tcp-syn
offers "the mark of a rule" "baleen attach lo --drop list.txt ba" "ban bans"
offers "what a rule does with special-purpose ranges" "baleen attach lo --drop list.txt spec" special
offers "a device or a rule of one" "baleen list eth7:" "eth7:bad eth7:office"
offers "options of a ban" "baleen ban 192.0.2.1 1h --rea" --reason
offers "a device or a list for replay" "baleen replay l" "list.bln list.txt lo"
offers "a capture for replay" "baleen replay list.bln l" "limit list.bln list.txt lo"
offers "nothing for no command" "baleen frob " ""
printf '[]\n' >"$TMP/status"
printf '[]\n' >"$TMP/kmod"
offers "no rule where none is" "baleen swap " ""
