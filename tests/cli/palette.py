#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Reads a picture in SVG of ours, and says which of its colours cannot be told from the ground or
from each other: on light and on dark ground, with full sight of colours and without one of the
three cones (Machado, Oliveira and Fernandes 2009), as distances in CIELAB.
"""
import itertools
import math
import re
import sys

GROUND = "#ffffff", "#1a1a1a"
# The contrast that WCAG 2 asks of parts of pictures, and some ten times a difference that is just seen.
LEAST_CONTRAST = 3
LEAST_DISTANCE = 20

SIGHT = {
    "full": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(colour):
    shares = (int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5))
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]


def luminance(colour):
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(colour)))


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def lab(colour, sight):
    light = linear(colour)
    red, green, blue = (min(1, max(0, sum(w * c for w, c in zip(row, light)))) for row in SIGHT[sight])
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (
        (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047,
        0.2126 * red + 0.7152 * green + 0.0722 * blue,
        (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


text = open(sys.argv[1], encoding="utf-8").read()
light, dark = text.split("@media", 1)
for ground, rules in zip(GROUND, (light, dark)):
    colours = dict(re.findall(r"\.(\w+){color:(#[0-9a-f]{6})}", rules))
    for name, colour in colours.items():
        if contrast(colour, ground) < LEAST_CONTRAST:
            print(f"{name} {colour} on {ground}: a contrast of {contrast(colour, ground):.1f}")
    kinds = [name for name in colours if not re.fullmatch(r"k\d", name)]
    for names in kinds, [name for name in colours if name not in kinds]:
        for a, b in itertools.combinations(names, 2):
            for sight in SIGHT:
                distance = math.dist(lab(colours[a], sight), lab(colours[b], sight))
                if distance < LEAST_DISTANCE:
                    print(f"{a} and {b} on {ground}, {sight}: a distance of {distance:.1f}")
    print(len(kinds), len(colours) - len(kinds))
