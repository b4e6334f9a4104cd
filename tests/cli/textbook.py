# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""baleen-textbook(7) with what its commands print now.

textbook.py PAGE >PAGE.new    runs the lines of the displays that begin with "$ ", with those
                              that go on behind a backslash or begin with "> ", all in one
                              shell, and puts the output behind each
textbook.py --alone PAGE      runs what `baleen help textbook` prints for each section in a
                              directory of its own; it prints last what the page says
"""
import subprocess
import sys
import tempfile
from pathlib import Path

MARK = "@next@"


def plain(command):
    lines = [line[2:] if line[:2] in ("$ ", "> ") else line for line in command]
    return "\n".join(lines).replace("\\e", "\\")


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
        if command and (command[-1].endswith("\\e") or line.startswith("> ")):
            command.append(line)
            continue
        if command:
            yield command
            command = []
        if is_display and line.startswith("$ "):
            command = [line]
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


def outputs(page):
    """What the commands of each section print, by its title."""
    found = {}
    title = ""
    is_display = goes_on = False
    for line in page:
        if line.startswith((".Ss ", ".Sh ")):
            title = line[4:]
        is_display = line.startswith(".Bd") or (is_display and not line.startswith(".Ed"))
        is_command = goes_on or line.startswith(("$ ", "> "))
        goes_on = is_display and is_command and line.endswith("\\e")
        if is_display and not line.startswith(".Bd"):
            found.setdefault(title, [])
            if not is_command:
                found[title].append(line.removeprefix("\\&").replace("\\e", "\\"))
    return found


def alone(path):
    """The sections that print something else alone."""
    failed = []
    for title, wanted in outputs(path.read_text().split("\n")).items():
        commands = subprocess.run(["baleen", "help", "textbook", title],
                                  stdout=subprocess.PIPE, text=True, check=True).stdout
        with tempfile.TemporaryDirectory(dir=".") as directory:
            done = subprocess.run(["bash"], input=commands, cwd=directory,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        printed = done.stdout.split("\n")[:-1]
        if commands.count("\n# ") or printed[len(printed) - len(wanted):] != wanted:
            failed.append("\n".join([f"--- {title}", *printed, "--- not", *wanted]))
    return "\n".join(failed)


if sys.argv[1] == "--alone":
    sys.exit(alone(Path(sys.argv[2])) or 0)
sys.stdout.write(main(Path(sys.argv[1])))
