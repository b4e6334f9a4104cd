#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The manual pages and the help, which is printed from the tables of the options, say the
# same: a page for each command, with the options that its help has, and no others in its
# synopsis.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

MAN=user/man

# commands: those of the help
commands()
{
	"$BALEEN" help | sed -n 's/^  baleen \([a-z]*\) .*/\1/p' | sort -u
}

# help_options: those that a help on stdin tells of, short and long, a line each
help_options()
{
	sed -nE 's/^  (-[A-Za-z0-9])(, | |$)(.*)/\1\n\3/p; s/^ {2}( {4})?(--.*)/\2/p' |
		sed -nE 's/^(-[A-Za-z0-9]|--[a-z0-9-]+)(,? .*|$)/\1/p' | sort -u
}

# page_options PAGE: of the lines that begin what is said of an option
page_options()
{
	sed -nE 's/^\.It (Fl .*)/\1/p' "$1" | grep -oE 'Fl [-A-Za-z0-9]+' | sed 's/^Fl /-/' | sort -u
}

# synopsis_options PAGE: those of its synopsis, short and long, a line each
synopsis_options()
{
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' "$1" | grep -oE 'Fl [-A-Za-z0-9]+' |
		sed 's/^Fl /-/' |
		awk '/^-[^-]/ { for (i = 2; i <= length($0); i++) print "-" substr($0, i, 1); next } 1' |
		sort -u
}

# references PAGE: to pages of Baleen
references()
{
	sed -nE 's/^\.(It )?Xr ((lib)?baleen[a-z.-]*) ([1-9]).*/\2.\4/p' "$1" | sort -u
}

for command in $(commands); do
	page=$MAN/baleen-$command.8
	if [ ! -e "$page" ]; then
		not_ok "$command has a page"
		continue
	fi
	is "$command: options of the page are those of the help" "$(page_options "$page")" \
		"$("$BALEEN" help "$command" | help_options)"
	is "$command: options of its synopsis are those of the help" \
		"$(comm -23 <(synopsis_options "$page") <("$BALEEN" help "$command" | help_options))" ""
	check "$command: is shown as it is typed" grep -q "^\.Nm baleen $command" "$page"
	check "$command: its page is named in the overview" \
		grep -q "^\.It Xr baleen-$command 8$" "$MAN/baleen.8"
done
is "baleen.8 and the help have the same groups of commands in the same order" \
	"$(sed -n '/^\.Sh COMMANDS/,/^\.Sh LISTS/ { s/^\.Ss \(.*\)/\1:/p; s/^\.It Xr baleen-\(.*\) 8$/\1/p }' "$MAN/baleen.8")" \
	"$("$BALEEN" help | sed -n 's/^\([A-Z][A-Za-z, ]*:\)$/\1/p; s/^  baleen \([a-z]*\) .*/\1/p' | uniq)"
# That of the module is about no command.
is "no page tells of a command that is not there" \
	"$(find "$MAN" -name 'baleen-*.8' ! -name baleen-kmod.8 -printf '%f\n' | sed 's/^baleen-//; s/\.8$//' | sort)" "$(commands)"

exits=$(sed -n '/^\.Sh EXIT STATUS/,/^\.Pp/ s/^\.It \([0-9]\)$/\1/p' "$MAN/baleen.8")
is "baleen.8 has the exit codes that commands end with" "$exits" \
	"$(sed -n 's/^\tEXIT_[A-Z]* = \([0-9]\).*/\1/p' user/cli/common/cli.h)"
# answers COLUMN: of the table of answers, a line each
answers()
{
	sed -n '/has one of these answers/,/^\.El/ s/^\.It \([a-z]\|\\&\)/\1/p' "$MAN/baleen.8" |
		awk -F ' Ta ' -v "column=$1" '{ print $column }'
}
is "which has all of them" "$(answers 1 | grep -vxF '\&' | paste -sd ,)" "ok,unchanged,narrowed,refused,bad,not kept,behind,failed"
while read -r word; do
	check "an answer to a line of feed: $word" grep -q "\"${word%% WHY}[\" ]" user/cli/ban/feed.c
	check "which its page has, too" grep -q "^\.Ql \"*$word" "$MAN/baleen-feed.8"
done < <(answers 3 | grep -v '^ok, ' | sed 's/, /\n/')
for word in $(answers 4 | sed 's/ Ta.*//; s/,/ /g; s/-//'); do
	check "an answer in JSON: $word" grep -rq "\"$word\"" user/cli/ban
done
is "each ends with one of the codes" "$(answers 6 | sort -u | xargs)" "0 1 4 5"

for page in "$MAN"/*; do
	# Lines of a source may be longer than 80, and other pages need not be installed here.
	is "${page##*/}: has nothing that mandoc minds" "$(mandoc -Tlint -Wstyle "$page" 2>/dev/null |
		grep -vE 'STYLE: (operating system explicitly specified|input text line longer|referenced manual not found|possible typo in section name: Sh NAMES)')" ""
	is "${page##*/}: nor groff: each line can be broken, no word is a macro" \
		"$(groff -k -Tutf8 -mandoc "$page" 2>&1 >/dev/null)" ""
	is "${page##*/}: groff prints no empty quotes, and no name of another system" \
		"$(groff -Tutf8 -mandoc -P-c "$page" | grep -E '‘’|BSD .*Manual|^BSD ')" ""
	for reference in $(references "$page"); do
		check "${page##*/}: $reference is there" test -e "$MAN/$reference"
	done
done

# --- the page of the daemon ---

if [ -d user/daemon ]; then
	is "baleend: options of the page are those of the help" "$(page_options "$MAN/baleend.8")" \
		"$(build/baleend --help | help_options)"
fi

# --- the page of the configuration ---

statements=$(sed -n 's/^\t{ "\([a-z-]*\)", \(OF\|BEGINS\)_.*/\1/p' user/lib/deploy/conf_*.c
	sed -n '/ feed_words\[\]/,/;/p' user/lib/deploy/conf_*.c | grep -o '"[a-z-]*"' | tr -d '"')
is "baleen.conf.5 has the statements that are read" \
	"$(sed -n '/^\.It Cm icp [a-z]/d; s/^\.It Cm \([a-z-]*\).*/\1/p' "$MAN/baleen.conf.5" | sort)" \
	"$(sort <<<"$statements")"
is "and each of those about caches" \
	"$(sed -n 's/^\.It Cm icp \([a-z][a-z]*\).*/\1/p' "$MAN/baleen.conf.5" | sort)" \
	"$(sed -n 's/^\t{ "\([a-z]*\)", .*, put_[a-z]* },$/\1/p' user/lib/deploy/conf_icp.c | sort)"

# --- the page of the library ---

# shellcheck disable=SC2013 # words
for function in $(sed -n 's/^\t\(baleen_.*\);$/\1/p' user/api/libbaleen.map); do
	check "libbaleen.3 tells of $function" grep -q "^\.Fn $function\|^\.Fo $function$" "$MAN/libbaleen.3"
done
