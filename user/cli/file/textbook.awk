# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The sections of baleen-textbook(7) as an array in C: the title of each, and its commands,
# behind those of the sections that a comment says it needs:
#
#	.\" needs Example 12

/^\.\\" needs / { needs = needs all[substr($0, length(".\\\" needs ") + 1)] }

/^\.S[hs] / {
	end_section()
	title = substr($0, 5)
}

/^\.Bd/ { in_display = 1 }
/^\.Ed/ { in_display = 0 }

# Behind a command its next lines, until it prints.
!goes_on { in_command = /^\$ / || (in_command && /^> /) }

in_display && (goes_on || in_command) {
	line = $0
	sub(/^[$>] /, "", line)
	goes_on = line ~ /\\e$/
	gsub(/\\e/, "\\", line)
	gsub(/\\-/, "-", line)
	sub(/^\\&/, "", line)
	commands = commands line "\n"
}

END { end_section() }

# As a literal of C, a line each. Awks differ in what gsub() makes of a backslash.
function literal(text,    i, byte, made)
{
	for (i = 1; i <= length(text); i++) {
		byte = substr(text, i, 1)
		if (byte == "\n")
			byte = "\\n\"\n\t  \""
		else if (byte == "\\" || byte == "\"")
			byte = "\\" byte
		made = made byte
	}
	return made
}

# A section is needed by the first words of its title, before the colon.
function end_section(    name, text)
{
	if (commands != "") {
		name = title
		sub(/:.*/, "", name)
		all[name] = needs commands
		text = literal(needs commands)
		printf "\t{ \"%s\",\n\t  \"%s\" },\n", title, text
	}
	commands = needs = ""
}
