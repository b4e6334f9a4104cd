#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# README.md, CONTRIBUTING.md, SECURITY.md and docs/ name only what exists: files, functions, targets,
# manual pages, commands and their options; their links resolve; README is one screen.

# shellcheck disable=SC2016 # backquotes are those of Markdown
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

DOCS=(README.md CONTRIBUTING.md SECURITY.md docs/*.md)

# code FILE: fenced and indented lines, and what stands in backquotes, a line each
code()
{
	awk '/^```/ { fence = !fence; next }
		fence || /^    / { print; next }
		{ while (match($0, /`[^`]+`/)) {
			print substr($0, RSTART + 1, RLENGTH - 2)
			$0 = substr($0, RSTART + RLENGTH)
		} }' "$1"
}

# text FILE: without fenced and indented lines
text()
{
	awk '/^```/ { fence = !fence; next } !fence && !/^    /' "$1"
}

# anchors FILE: of its headings, as GitHub makes them
anchors()
{
	text "$1" | sed -n 's/^#\+ //p' | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

# bad_links FILE
bad_links()
{
	local link path anchor

	while read -r link; do
		case $link in
		http://* | https://*) continue ;;
		esac
		path=${link%%#*} anchor=${link#"$path"}
		path=${path:+$(dirname "$1")/$path}
		if [ ! -e "${path:-$1}" ]; then
			echo "$link"
		elif [ -n "$anchor" ] && ! anchors "${path:-$1}" | grep -qxF -- "${anchor#\#}"; then
			echo "$link"
		fi
	done < <(text "$1" | grep -o '](\([^)]*\))' | sed 's/^](//; s/)$//')
}

# A path in a text is of the repository, or of one of these directories.
ROOTS=(. user/lib user/cli)
NAMES=$(find bpf include kmod user tests -type f -printf '%f\n' | sort -u)
CALLS=$(grep -rhoE '\<[a-z_][a-z_0-9]*\(' --include='*.[ch]' include bpf kmod user tests | sort -u)

# bad_paths FILE: names of files and directories that are nowhere. Other words with a
# slash begin with no directory and end in no suffix of ours.
bad_paths()
{
	local path root known

	while read -r path; do
		known=
		for root in "${ROOTS[@]}"; do
			compgen -G "$root/$path" >/dev/null && continue 2
			[ ! -d "$root/${path%%/*}" ] || known=yes
		done
		[[ -z $known && ! $path =~ \.(c|h|sh|md)$ ]] || echo "$path"
	done < <(code "$1" | grep -oE '(^|[ (])[a-z_.]+/[][A-Za-z0-9_.*/-]+' | tr -d ' (' |
		sed 's/[.]$//' | grep -vE '^(./)?build/' | sort -u)
	code "$1" | grep -xE '[a-z0-9_-]+\.(c|h|sh|bash)' | sort -u | grep -vxF "$NAMES"
}

# functions FILE: `SOURCE FUNCTION`, a line each: the last source that a paragraph, an item
# or a row names before it; `-` when there is none
functions()
{
	text "$1" | awk '
		/^ *$/ || /^[|]/ || /^ *(-|[0-9]+[.]) / { source = "-" }
		{
			while (match($0, /`[^`]+`/)) {
				word = substr($0, RSTART + 1, RLENGTH - 2)
				$0 = substr($0, RSTART + RLENGTH)
				if (word ~ /^[a-z_]+\/[A-Za-z0-9_.\/]+[.][ch]$/)
					source = word
				else if (word ~ /^[a-z_0-9]+\(\)$/)
					print source, substr(word, 1, length(word) - 2)
			}
		}'
}

# bad_functions FILE: each is in its source, or, where none is named, in any of them
bad_functions()
{
	local source function root

	while read -r source function; do
		for root in "${ROOTS[@]}"; do
			[ ! -f "$root/$source" ] || ! grep -qE "\<$function\(" "$root/$source" || continue 2
		done
		[[ $source == - && $'\n'$CALLS$'\n' == *$'\n'"$function("$'\n'* ]] || echo "$source: $function()"
	done < <(functions "$1")
}

# bad_targets FILE: of `make TARGET`
bad_targets()
{
	local target

	code "$1" | sed 's/#.*//; s/[;&]\+/\n/g' | sed -n 's/^ *make //p' | tr ' ' '\n' |
		grep -vE '^$|^-|=' | sort -u | while read -r target; do
			grep -qE "^([a-z-]+ )*$target( [a-z-]+)*:( |$)" Makefile || echo "$target"
		done
}

# bad_pages FILE: of `man PAGE`
bad_pages()
{
	local page

	code "$1" | sed -nE 's/^man ([a-z.-]+)$/\1/p' | sort -u |
		while read -r page; do
			compgen -G "user/man/$page.[1-9]" >/dev/null || echo "$page"
		done
}

COMMANDS=$("$BALEEN" help | sed -n 's/^  baleen \([a-z]*\) .*/\1/p' | sort -u)
# Of each command its options, with a blank before and behind each.
declare -A OPTIONS
for command in $COMMANDS "icp "{attach,status,detach,seed,resync,serve,ask,demo}; do
	# shellcheck disable=SC2086 # words
	OPTIONS[$command]=" $("$BALEEN" help $command | grep -oE -- '(^|[][ |,{])--?[a-zA-Z][a-z0-9-]*' |
		sed 's/^[^-]//' | sort -u | paste -s -d ' ') "
done

# bad_options FILE: `baleen COMMAND ... --option`, with or without the first word, and a
# lone `--option`, which some command must have
bad_options()
{
	local line command option rest

	while read -r line; do
		case $line in
		"baleen "*) line=${line#baleen } ;;
		--*)
			[[ ${OPTIONS[*]} == *" ${line%%[ =]*} "* ]] || echo "$line"
			continue
			;;
		esac
		command=${line%% *} rest=" ${line#* }"
		grep -qx -- "$command" <<<"$COMMANDS" || continue
		if [ "$command" = icp ]; then
			rest=${rest# } command="icp ${rest%% *}"
		fi
		# shellcheck disable=SC2013 # words
		for option in $(grep -oE -- ' (--[a-z-]+|-[a-z])\>' <<<"$rest"); do
			[[ ${OPTIONS[$command]-} == *" $option "* ]] || echo "$command: $option"
		done
	done < <(code "$1" | sed "s/[^\\\\]#.*//; s/\"[^\"]*\"/TEXT/g; s/'[^']*'/TEXT/g; s/^# //" |
		sed 's/ *\(&&\|[|;]\) */\n/g' | sed 's/^ *//; s/^nsenter .* -- //; s/^nsenter [^ ]* //')
}

# bad_commands FILE: `baleen COMMAND`
bad_commands()
{
	code "$1" | sed -nE 's/^(.*[ ;&|])?baleen ([a-z]+)($|[] ].*)/\2/p' | sort -u |
		grep -vxF -e help -e "$COMMANDS"
}

most=150
lines=$(wc -l <README.md)
check "README has $lines lines, of at most $most" test "$lines" -le "$most"
is "its table has every command" \
	"$(sed -n '/^## Commands/,/^## /p' README.md | grep '^| `' | cut -d '|' -f 2 | grep -o '[a-z]*' | sort)" \
	"$COMMANDS"
for doc in "${DOCS[@]}"; do
	is "$doc: no code goes over the end of a line" "$(text "$doc" | awk -F '`' 'NF && NF % 2 == 0')" ""
	for what in links paths functions targets pages commands options; do
		is "$doc: its $what exist" "$("bad_$what" "$doc")" ""
	done
	is "$doc: README, or what it links, leads to it" \
		"$(cat README.md docs/*.md | grep -c "](\(docs/\)\?${doc##*/}[)#]" | sed 's/^[1-9].*/some/')" \
		"$([ "$doc" = README.md ] && echo 0 || echo some)"
done
# Whoever reads bytes by the one finds those that the other makes.
is "the example of docs/fleet.md is that of tests/unit/test_fleet_batch.c" \
	"$(sed -n '/^    424c4e46/,/^    \.\.\./p' docs/fleet.md | sed 's/^ *//; s/  .*//; s/^\.\.\.//' | tr -d ' \n')" \
	"$(sed -n '/example_hex\[\] = {/,/^};/p' tests/unit/test_fleet_batch.c | grep -oE '"[0-9a-f]+"' | tr -d '"\n')"
# Longer ones lintian minds.
is "descriptions of packages have lines of 80 characters at most" \
	"$(awk '/^[^ ]|^$/ { is_in = /^Description:/; next } is_in && length > 80' debian/control)" ""
