#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Reads a page of `--html` without a browser:

    page_text.py data PAGE         the JSON in it
    page_text.py wrong PAGE...     what must not be in pages, a line each
    page_text.py states PAGE       the cells of the drawing at each step, a line each: what they hold, and
                              in which paint, when any: e (empty), u, m (moved), s (stuck)
    page_text.py steps PAGE        the steps
"""
import base64
import hashlib
import html.parser
import json
import re
import sys

# What our own pages are made of.
TAGS = set("html head meta title style body h1 nav button label input output noscript p form main div svg text rect "
           "path g ol li script".split())


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.wrong, self.scripts, self.steps, self.cells, self.policy = [], [], [], [], ""
        self.data = self.at = self.inside = self.cell = None

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in TAGS:
            self.wrong.append(f"an element {tag}")
        for name, value in attributes.items():
            if name.startswith("on") or name in ("src", "href", "action", "srcdoc"):
                self.wrong.append(f"an attribute {name} of {tag}")
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        if tag == "g":
            self.at = tuple(map(int, attributes["data-at"].split()))
        if tag == "rect":
            self.cell = None
            if "data-p" in attributes:
                self.cell = {"at": self.at, "name": attributes["data-p"], "text": "",
                             "paint": attributes["class"].split()[0]}
                self.cells.append(self.cell)
        if tag == "script":
            self.inside = "data" if attributes.get("id") == "data" else "script"
        elif tag == "text":
            self.inside = "text"
        elif tag == "li":
            self.inside = "li"
            self.steps.append("")

    def handle_endtag(self, tag):
        self.inside = None
        if tag == "g":
            self.at = None

    def handle_data(self, data):
        if self.inside == "data":
            self.data = json.loads(data)
        elif self.inside == "script":
            self.scripts.append(data)
        elif self.inside == "text" and self.cell:
            self.cell["text"] = data.strip()
            self.cell = None
        elif self.inside == "li":
            self.steps[-1] += data


def complaints(page, text):
    yield from page.wrong
    yield from re.findall(r"https?:[^\s\"']*", text)
    for script in page.scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        if f"'sha256-{digest}'" not in page.policy:
            yield "a script that the policy does not allow"
        yield from re.findall(r"\beval\b|innerHTML|outerHTML|insertAdjacentHTML|document\.write|new Function", script)
    if len(page.scripts) != 2:
        yield f"{len(page.scripts)} scripts"
    if "default-src 'none'" not in page.policy or "unsafe-eval" in page.policy:
        yield "another policy"


def read(name):
    text = open(name, encoding="utf-8").read()
    page = Page()
    page.feed(text)
    return page, text


if sys.argv[1] == "wrong":
    for name in sys.argv[2:]:
        for complaint in complaints(*read(name)):
            print(f"{name}: {complaint}")
    sys.exit()
page, _ = read(sys.argv[2])
if sys.argv[1] == "data":
    print(json.dumps(page.data, indent=1, sort_keys=True))
elif sys.argv[1] == "steps":
    print(*page.steps, sep="\n")
else:
    for i in range(len(page.steps)):
        shown = [cell for cell in page.cells if not cell["at"] or cell["at"][0] <= i <= cell["at"][1]]
        names = [tuple(map(int, cell["name"].split("-"))) for cell in shown]
        if len(set(names)) < len(names):
            print("a cell that is drawn twice")
        print(*(cell["paint"] + cell["text"] for _, cell in sorted(zip(names, shown), key=lambda one: one[0])))
