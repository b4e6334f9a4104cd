#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# How the code reads: files of 500 lines and functions of 60 at the most, unless a comment on
# top begins its reason with "Above 500 lines" or "Above 60 lines"; comments that begin
# with the subject of a sentence; files that are opened in one way; no function in a header of
# the library that nobody calls; no command that prints past say() and complain().
# What is given instead of the tree are files to try the checks on.

set -u
cd "$(dirname "$0")/../.." || exit 2

n=0 failed=0

# result NAME [DIAGNOSTICS]: passes when there are no diagnostics
result()
{
	n=$((n + 1))
	if [ -z "${2-}" ]; then
		echo "ok $n - $1"
	else
		failed=$((failed + 1))
		echo "not ok $n - $1"
		sed 's/^/# /' <<<"$2"
	fi
}

# is NAME WANT GOT: passes when both are the same
is()
{
	result "$1" "$([ "$2" = "$3" ] || printf 'want: %s\ngot:  %s\n' "$2" "$3")"
}

sources()
{
	find include bpf kmod user -name "*.[ch]" | LC_ALL=C sort
}

long_files()
{
	awk 'FNR == 1 { reason = 0 }
		FNR <= 15 && /Above 500( lines|$)/ { reason = 1 }
		FNR == 501 && !reason { print FILENAME " has more than 500 lines" }' "$@"
}

# A function begins with `{` in the first column. The reason stands in the comment that ends
# right above its name.
long_functions()
{
	awk '/^\/\*/ { reason = 0 }
		/^[a-z].*\(/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
		/Above 60 lines/ { reason = 1 }
		/^{$/ { start = FNR }
		/^}/ {
			if (start && FNR - start + 1 > 60 && !reason)
				print FILENAME ": " name "() has " FNR - start + 1 " lines"
			start = reason = 0
		}' "$@"
}

# "What is there" names its subject last. "What is there?" is a question and reads well.
headless_comments()
{
	awk '/^[ \t]*\/\*\*?$/ { first = 1; next }
		{ text = "" }
		/\/\*/ { text = $0; sub(/.*\/\*+[ \t]*/, "", text) }
		first { text = $0; sub(/^[ \t]*\*[ \t]*/, "", text); first = 0 }
		text ~ /^(What|Who|Whose|Whom|Of)[ ,]/ && text !~ /\?/ { print FILENAME ":" FNR ": " text }' "$@"
}

# uncalled FILE...: baleen_NAME() of a header that only one file of C names
uncalled()
{
	awk '{
			line = $0
			while (match(line, /baleen_[a-z0-9_]+/)) {
				word = substr(line, RSTART, RLENGTH)
				line = substr(line, RSTART + RLENGTH)
				if (FILENAME ~ /\.h$/) {
					if (/^[a-z]/ && !/^(typedef|static inline)/ && substr(line, 1, 1) == "(")
						shown[word] = FILENAME
					else if (/^\t/)
						files[word]++
				} else if (!((word, FILENAME) in seen)) {
					seen[word, FILENAME] = 1
					files[word]++
				}
			}
		}
		END {
			for (word in shown)
				if (files[word] < 2)
					print shown[word] ": " word "() is called in no other file"
		}' "$@"
}

# opened FILE...: whoever opens a file on their own. util/input.h and util/output.h say how it is
# done. Directories, files without a name and devices of fixed names hold no surprise.
opened()
{
	awk 'FNR == 1 { call = "" }
		call == "" && match($0, /(^|[^_a-z>.])(open|openat|openat2|creat)\(|(^|[^_a-z>.])f(re)?open\(/) {
			call = substr($0, RSTART)
			line = FNR
			sub(/^[^a-z]/, "", call)
			started = 1
		}
		call != "" {
			if (!started)
				call = call $0
			started = 0
			if (call !~ /;/)
				next
			sub(/;.*/, "", call)
			if (call ~ /^f/ || call ~ /^creat/ || (call ~ /O_[RWCTE]/ &&
			    call !~ /O_DIRECTORY|O_TMPFILE|"\/dev\/null"|BALEEN_KMOD_NODE/))
				print FILENAME ":" line ": " call
			call = ""
		}' "$@"
}

# raw_prints FILE...: what commands print by printf() or as a text of somebody's; help and pictures
# are our own, and so are literals
raw_prints()
{
	grep -nE '(^|[^a-z_])v?printf\(|json_dumpf\(|fprintf\((stdout|stderr)|(^|[^a-z_])(puts\([^")]|fputs\([^"][^;]*, (stdout|stderr)\))' "$@"
}

# --- the checks find what they look for ---

tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
{ echo '/* Nothing. */'; yes '/* */' | head -500; } >"$tmp/long.c"
{ echo '/* Above 500 lines: one table. */'; yes '/* */' | head -500; } >"$tmp/reason.c"
{
	printf 'static int f(int x)\n{\n%s}\n\n' "$(yes '	x++;' | head -58)"$'\n'
	printf 'static int g(int x)\n{\n%s}\n\n' "$(yes '	x++;' | head -59)"$'\n'
	printf '/* Above 60 lines: a list. */\nstatic int h(int x)\n{\n%s}\n' "$(yes '	x++;' | head -59)"$'\n'
} >"$tmp/functions.c"
printf '%s\n' '/* What it is. */' 'int x; /* Of it. */' '/*' ' * Who is there.' ' */' '/**' ' * Whose it is' \
	' */' '/* What is it? */' '/* Office. */' 'int y; /* the owner of it */' >"$tmp/words.c"
printf '%s\n' 'int baleen_a(void);' 'int baleen_b(void);' >"$tmp/a.h"
printf '%s\n' 'int baleen_a(void)' 'int baleen_b(void)' >"$tmp/a.c"
printf '%s\n' '	baleen_a();' >"$tmp/b.c"

is "a long file without a reason is found" "$tmp/long.c has more than 500 lines" \
	"$(long_files "$tmp/long.c" "$tmp/reason.c")"
is "a long function without a reason is found" "$tmp/functions.c: g() has 61 lines" \
	"$(long_functions "$tmp/functions.c")"
is "comments that begin with What, Who, Whose or Of are found" "1 2 4 7 " \
	"$(headless_comments "$tmp/words.c" | cut -d: -f2 | tr '\n' ' ')"
is "a function that no other file calls is found" "$tmp/a.h: baleen_b() is called in no other file" \
	"$(uncalled "$tmp/a.h" "$tmp/a.c" "$tmp/b.c")"
printf '%s\n' '	fd = open(path, O_RDONLY | O_CLOEXEC);' '	FILE *file = fopen(path, "re");' \
	'	fd = openat(dir, name,' '		    O_RDONLY);' '	fd = openat(dir, name,' '		    O_DIRECTORY);' \
	'	null = open("/dev/null", O_RDWR);' '	fd = baleen_input_open(path, O_RDONLY);' \
	'	err = type->open(x, O_RDONLY);' '	file = open_memstream(&text, &n);' >"$tmp/open.c"
is "a file that is opened on its own is found" "1 2 3 " \
	"$(opened "$tmp/open.c" | cut -d: -f2 | tr '\n' ' ')"
printf '%s\n' 'printf("%s", x);' 'say("%s", x);' 'fputs(x, stderr);' 'puts(x);' 'puts("x");' 'fputs("x", stdout);' \
	'snprintf(x, n, "x");' 'json_dumpf(x, stdout, 0);' '__attribute__((format(printf, 1, 2)))' >"$tmp/prints.c"
is "what is printed raw is found" "1 3 4 8 " "$(raw_prints "$tmp/prints.c" | cut -d: -f1 | tr '\n' ' ')"

# --- the tree ---

mapfile -t files < <(sources)
is "there are hundreds of files" yes "$([ "${#files[@]}" -gt 500 ] && echo yes)"
result "a file has 500 lines at the most, or a reason" "$(long_files "${files[@]}")"
result "a function has 60 lines at the most, or a reason" "$(long_functions "${files[@]}")"
result "no comment begins with What, Who, Whose or Of" "$(headless_comments "${files[@]}")"
mapfile -t others < <(printf '%s\n' "${files[@]}" | grep '^user/' |
	grep -v '^user/lib/util/\(input\|output\|place\)\.c$')
result "files are opened by util/input.h and util/output.h" "$(opened "${others[@]}")"
result "what a header of the library shows is called in another file" \
	"$(uncalled $(find user/lib -name '*.h') $(find user tests -name '*.c' -o -name '*.cc') \
		$(find tests -name '*.h'))"
# say() and its kind stand in output.c.
mapfile -t files < <(find user/cli -name '*.c' | LC_ALL=C sort)
result "commands print by say(), complain() and print_json()" "$(raw_prints "${files[@]}")"

echo "1..$n"
[ "$failed" -eq 0 ]
