# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""baleen-textbook(7) with what its commands print now.

textbook.py PAGE >PAGE.new    runs the lines of the displays that begin with "$ ", and those
                              behind a backslash, all in one shell, and puts the output
                              behind each
"""
import subprocess
import sys
from pathlib import Path

MARK = "@next@"


def plain(command):
    return "\n".join(command)[2:].replace("\\e", "\\")


def roff(line):
    line = line.replace("\\", "\\e")
    return "\\&" + line if line[:1] in (".", "'") else line


def run(commands):
    """The lines that each command prints, errors too."""
    script = "".join(f"{{ {command}\n}} 2>&1\necho {MARK}\n" for command in commands)
    done = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, text=True, check=True)
    return [part.split("\n")[:-1] for part in done.stdout.split(MARK + "\n")[:-1]]


def pieces_of(page):
    """Lines as they are, and commands, each a list of lines; what they print is left out."""
    is_display = False
    command = []
    for line in page:
        is_display = line.startswith(".Bd") or (is_display and not line.startswith(".Ed"))
        if command or (is_display and line.startswith("$ ")):
            command.append(line)
            if not line.endswith("\\e"):
                yield command
                command = []
        elif not is_display or line.startswith(".Bd"):
            yield line


def main(path):
    pieces = list(pieces_of(path.read_text().split("\n")))
    printed = iter(run([plain(piece) for piece in pieces if isinstance(piece, list)]))
    lines = []
    for piece in pieces:
        if isinstance(piece, str):
            lines.append(piece)
            continue
        output = next(printed)
        command = plain(piece)
        if "|" in command and ">" not in command and not output:
            sys.exit(f"prints nothing: {command}")
        lines += piece
        lines += [roff(line) for line in output]
    return "\n".join(lines)


sys.stdout.write(main(Path(sys.argv[1])))
