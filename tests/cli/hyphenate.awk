# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The words that few patterns hyphenate otherwise than all of them do: awk -v most=4 -f
# hyphenate.awk PATTERNS WORDS; few are those of at most so many letters. Of all patterns that are
# part of a word the highest number between two letters counts, and an odd one is a hyphen; not
# within two letters of the start and three of the end (Liang, "Word Hy-phen-a-tion by
# Com-put-er", 1983).

function letters_of(text) {
	gsub(/[0-9]/, "", text)
	return text
}

# What a pattern says of the places from @at on.
function apply(pattern, at, is_short,    i, c) {
	for (i = 1; i <= length(pattern); i++) {
		c = substr(pattern, i, 1)
		if (c !~ /[0-9]/) {
			at++
			continue
		}
		if (c > all[at])
			all[at] = c
		if (is_short && c > few[at])
			few[at] = c
	}
}

function is_exception(word,    n, i, length_of) {
	n = length(word)
	split("", all)
	split("", few)
	for (i = 1; i <= n; i++)
		for (length_of = 2; length_of <= longest && i + length_of <= n + 1; length_of++)
			if ((part = substr(word, i, length_of)) in patterns)
				apply(patterns[part], i, length_of <= most)
	for (i = 4; i <= n - 3; i++)
		if (all[i] % 2 != few[i] % 2)
			return 1
	return 0
}

NR == FNR && /^[a-z0-9.]+$/ {
	part = letters_of($0)
	patterns[part] = $0
	if (length(part) > longest)
		longest = length(part)
}

NR != FNR && is_exception("." $0 ".")
