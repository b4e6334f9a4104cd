#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Asks the script of pages where keys are, and compares that with what `baleen show -j` says:

    hash_js.py DIRECTORY FILE...

FILE: an output of `show -j`. Prints differences, and how many places were compared. The script is
run by duk, the command of Duktape, as a browser would run it; that of the page is compiled only.
"""
import json
import subprocess
import sys

directory, *files = sys.argv[1:]
sources = [open(f"{directory}/{name}.js", encoding="utf-8").read() for name in ("hash", "page")]
shown = [json.load(open(name, encoding="utf-8")) for name in files]
questions = [[table, one["key"], key["key"]]
             for one in shown for key in one["keys"] for table in one["tables"]]
with open("asked.js", "w", encoding="utf-8") as script:
    script.write(sources[0] + "\nprint(JSON.stringify(" + json.dumps(questions) + """.map(function (one) {
        return ask(one[0], one[1], one[2]);
    })));\nnew Function(""" + json.dumps(sources[1]) + ");\n")
run = subprocess.run(["duk", "asked.js"], capture_output=True, text=True, check=False)
if run.returncode:
    sys.exit(run.stdout + run.stderr)
answers = iter(json.loads(run.stdout))
n = 0
for name, one in zip(files, shown):
    for key in one["keys"]:
        for i, table in enumerate(one["tables"]):
            answer = next(answers)
            wanted = next((ask for ask in key["asks"] if ask["table"] == i), None)
            if table["kind"] in ("classic", "counting") and answer:
                same = set(answer["bits"]) == set(wanted["bits"])
                n += len(set(wanted["bits"]))
            else:
                same = answer and all(wanted[field] == value for field, value in answer.items())
                n += len(answer or ())
            if not same:
                print(f"{name}: {key['key']!r}: {answer}, not {wanted}")
print(n, "places")
