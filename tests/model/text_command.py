# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Random tables of every kind of the textbooks, made by the command and by text_tables.py; after
each change the bytes of the image are compared, so every slot, bit and counter.
"""
import os
import random
import subprocess

from text_hash import Positions, Text, permute32
from text_tables import Bloom, Chains, Counting, Cuckoo, Quotient

HEADER_BYTES = 512
IP4, WORD, TUPLE = 0, 2, 3


class Difference(Exception):
    """The command has other bytes, or another answer."""


class Image:
    """What the header says of one table, and the body behind it."""

    def __init__(self, path, domain):
        with open(path, "rb") as file:
            data = file.read()
        at = 256 + 32 * domain
        self.slot_bits, self.n_hashes, self.shape = data[at + 1:at + 4]
        self.n_buckets = int.from_bytes(data[at + 12:at + 16], "little")
        self.n_keys = int.from_bytes(data[at + 16:at + 24], "little")
        self.extra = int.from_bytes(data[at + 24:at + 28], "little")
        self.seed = [int.from_bytes(data[i:i + 8], "little") for i in range(96, 192, 8)]
        self.body = data[HEADER_BYTES:]


class Command:
    """Runs baleen in a directory of its own, and counts."""

    def __init__(self, baleen):
        self.baleen = os.path.abspath(baleen)
        self.n_runs = 0

    def run(self, *words, text="", may_fail=False):
        self.n_runs += 1
        done = subprocess.run([self.baleen, *words], input=text.encode(), capture_output=True,
                              check=False)
        if done.returncode and not (may_fail and done.returncode == 1):
            raise Difference(f"baleen {' '.join(words)}: {done.stderr.decode().strip()}")
        return done

    def build(self, out, options, keys):
        self.run("build", "--allow-empty", "-o", out, *options,
                 text="".join(f"{key}\n" for key in keys))

    def match(self, image, keys):
        """Those that are maybe in it."""
        return self.run("match", image, *keys, may_fail=True).stdout.decode().split()

    def add(self, image, key):
        """Whether it found room."""
        return not self.run("add", "--fixed", "--exist", image, key, may_fail=True).returncode

    def delete(self, image, key):
        """Whether it was there."""
        return not self.run("del", image, key, may_fail=True).returncode


def same(what, want, got):
    if want != got:
        first = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b),
                     min(len(want), len(got)))
        raise Difference(f"{what}: {len(got)} bytes, not {len(want)}; the first that differs is "
                         f"{first}: {got[first:first + 8].hex()}, not {want[first:first + 8].hex()}")


def same_answers(what, table, keys, found):
    want = [key for key in keys if table.has(key)]
    if want != found:
        raise Difference(f"{what}: finds {found}, not {want}")


# --- quotient -------------------------------------------------------------------

class Prints:
    """A quotient table under the keys that are typed: 32 bits, of which it takes the first."""

    def __init__(self, table):
        self.table = table

    def fold(self, key):
        return int(key, 2) >> 32 - self.table.q - self.table.r

    def insert(self, key):
        self.table.insert(self.fold(key))

    def delete(self, key):
        return self.table.delete(self.fold(key))

    def has(self, key):
        return self.table.has(self.fold(key))


def quotient_image(path, table, what):
    """Compares; where the command has taken another size, so does the table."""
    image = Image(path, WORD)
    q = image.n_buckets.bit_length() - 1
    if q + image.slot_bits != table.q + table.r:
        raise Difference(f"{what}: q + r = {q + image.slot_bits}, not {table.q + table.r}")
    if q != table.q:
        table = table.resized(q)
    same(what, table.body(), image.body)
    if image.n_keys != len(table.fingerprints()):
        raise Difference(f"{what}: {image.n_keys} keys, not {len(table.fingerprints())}")
    return table


def quotient(command, rng):
    q, r, copies = rng.randrange(1, 8), rng.randrange(4, 12), rng.random() < 0.6
    # Few prefixes of few bits, so that runs are long and fingerprints coincide.
    near = [rng.getrandbits(32) for _ in range(rng.randrange(1, 6))]

    def draw():
        key = rng.choice(near) ^ rng.getrandbits(rng.choice((32, 30, 28, 24)))
        return f"{key:032b}"

    options = ["--key", "fingerprint", "--kind", "quotient", "--remainder-bits", str(r), "--load",
               "1", "--capacity", str(rng.choice((1 << q, (1 << q) - 1)))]
    options += ["--copies"] if copies else []
    keys = [draw() for _ in range(rng.randrange(0, 1 << q))]
    keys += rng.choices(keys, k=min(len(keys), (1 << q) - 1 - len(keys))) if keys else []
    command.build("a.bln", options, keys)
    prints = Prints(Quotient(q, r, copies))
    for key in keys:
        prints.insert(key)
    prints.table = quotient_image("a.bln", prints.table, "build")
    more = [draw() for _ in range(rng.randrange(1, 4))] + rng.choices(keys or [draw()], k=1)
    command.run("add", "a.bln", *more)
    room = Image("a.bln", WORD).n_buckets.bit_length() - 1
    if room != prints.table.q:
        prints.table = prints.table.resized(room)
    for key in more:
        prints.insert(key)
    prints.table = quotient_image("a.bln", prints.table, "add")
    if copies:
        for key in [rng.choice(keys + more), draw()]:
            if command.delete("a.bln", key) != prints.delete(key):
                raise Difference(f"del {key}: was it there?")
            prints.table = quotient_image("a.bln", prints.table, "del")
    asked = [draw() for _ in range(5)] + more
    same_answers("match", prints, asked, command.match("a.bln", asked))
    n_keys = len(prints.table.fingerprints())
    command.run("resize", "--capacity", str(max(1, n_keys * rng.choice((1, 2, 3)))), "-o", "b.bln",
                "a.bln")
    quotient_image("b.bln", prints.table, "resize")
    others = [draw() for _ in range(rng.randrange(1, 1 << q))]
    command.build("c.bln", options, others)
    other = Prints(Quotient(q, r, copies))
    for key in others:
        other.insert(key)
    other.table = quotient_image("c.bln", other.table, "build another")
    command.run("merge", "-o", "d.bln", "a.bln", "c.bln")
    size = Image("d.bln", WORD).n_buckets.bit_length() - 1
    quotient_image("d.bln", prints.table.merged(other.table, size), "merge")


# --- planes of bits --------------------------------------------------------------

def draw_positions(rng):
    """Positions, and the options that ask for them."""
    name = rng.choice(("murmur3", "murmur3", "murmur3-fnv1a", "bip37"))
    m, k = rng.choice((8, 10, 64, 95, 200, 512, 700)), rng.randrange(1, 9)
    form = {"bip37": (("unsigned", "hex"), ("unsigned",)),
            "murmur3": ((), ("unsigned",), ("quoted",), ("unsigned", "quoted"), ("hex",)),
            "murmur3-fnv1a": ((), ("unsigned", "quoted"), ("quoted",))}[name]
    form = rng.choice(form)
    seed = rng.choice((0, 42, rng.getrandbits(32)))
    if name == "murmur3-fnv1a":
        k = 2
    options = ["--key", "string", "--hash", name, "--bits", str(m), "--hashes", str(k),
               "--hash-seed", str(seed)]
    words = [word for word in form if not (name == "bip37" and word == "unsigned")]
    if words:
        options += ["--hash-form", ",".join(words)]
    return Positions(m, k, name, seed, form), options


def draw_texts(rng, form, n):
    letters = "0123456789abcdef" if "hex" in form else "abcdefghijklmnopqrstuvwxyz"
    return ["".join(rng.choices(letters, k=2 * rng.randrange(1, 9))) for _ in range(n)]


def bloom(command, rng):
    positions, options = draw_positions(rng)
    options += ["--kind", "classic"]
    tables = []
    for path in ("a.bln", "b.bln"):
        keys = draw_texts(rng, positions.form, rng.randrange(1, 30))
        command.build(path, options, keys)
        table = Bloom(positions)
        for key in keys:
            table.insert(key)
        same("build", table.body(), Image(path, TUPLE).body)
        tables.append(table)
    more = draw_texts(rng, positions.form, 3)
    command.run("add", "--exist", "a.bln", *more)
    for key in more:
        tables[0].insert(key)
    same("add", tables[0].body(), Image("a.bln", TUPLE).body)
    asked = keys[:3] + more + draw_texts(rng, positions.form, 5)
    same_answers("match", tables[0], asked, command.match("a.bln", asked))
    for name, both in (("merge", False), ("intersect", True)):
        command.run(name, "-o", "c.bln", "a.bln", "b.bln")
        same(name, tables[0].combined(tables[1], both).body(), Image("c.bln", TUPLE).body)


def counting(command, rng):
    positions, options = draw_positions(rng)
    options += ["--kind", "counting"]
    options += ["--copies"] if rng.random() < 0.5 else []
    tables = []
    for path in ("a.bln", "b.bln"):
        keys = draw_texts(rng, positions.form, rng.randrange(1, 40))
        if "--copies" in options:
            keys += rng.choices(keys, k=5)
        command.build(path, options, keys)
        table = Counting(positions)
        for key in keys if "--copies" in options else dict.fromkeys(keys):
            table.insert(key)
        same("build", table.body(), Image(path, TUPLE).body)
        tables.append(table)
    table, other = tables
    for key in [*draw_texts(rng, positions.form, 1), rng.choice(keys)]:
        command.run("add", "a.bln", key)
        table.insert(key)
        same("add", table.body(), Image("a.bln", TUPLE).body)
        asked = [key, *draw_texts(rng, positions.form, 3)]
    for key in [key, *draw_texts(rng, positions.form, 2)]:
        if command.delete("a.bln", key) != table.delete(key):
            raise Difference(f"del {key}: was it there?")
        same("del", table.body(), Image("a.bln", TUPLE).body)
    same_answers("match", table, asked, command.match("a.bln", asked))
    command.run("merge", "-o", "c.bln", "a.bln", "b.bln")
    same("merge", table.combined(other).body(), Image("c.bln", TUPLE).body)


# --- cuckoo ----------------------------------------------------------------------

def draw_text(rng):
    """A hash of texts, and the options that ask for it."""
    form = rng.choice(((), ("unsigned",), ("quoted",), ("unsigned", "quoted"), ("hex",)))
    seed = rng.choice((0, 42, rng.getrandbits(32)))
    options = ["--key", "string", "--hash", "murmur3", "--hash-seed", str(seed)]
    return Text(seed, form), options + (["--hash-form", ",".join(form)] if form else [])


def cuckoo(command, rng):
    m, b, p = rng.choice((4, 8, 10, 16, 32, 50)), rng.randrange(1, 5), rng.randrange(4, 33)
    copies = rng.random() < 0.6
    text, options = draw_text(rng)
    options += ["--partner", "xor", "--kind", "cuckoo", "--buckets", str(m), "--bucket-slots",
                str(b), "--slot-bits", str(p)]
    options += ["--copies"] if copies else []
    table = Cuckoo(m, b, p, text, copies)
    keys = draw_texts(rng, text.form, rng.randrange(0, max(2, int(0.9 * m * b))))
    keys = [key for key in keys if table.insert(key)] if m & m - 1 == 0 else keys[:m // 2]
    keys += rng.choices(keys, k=2) if keys and copies else []
    table, fits = Cuckoo(m, b, p, text, copies), True
    for key in keys:
        fits = fits and table.insert(key)
    if not fits:
        if not command.run("build", "-o", "a.bln", *options, text="\n".join(keys) + "\n",
                           may_fail=True).returncode:
            raise Difference("build: finds room where there is none")
        return
    command.build("a.bln", options, keys)
    same("build", table.body(), Image("a.bln", TUPLE).body)
    for key in draw_texts(rng, text.form, 2) + rng.choices(keys, k=1) if keys else []:
        if command.add("a.bln", key) != table.insert(key):
            raise Difference(f"add {key}: was there room?")
        same("add", table.body(), Image("a.bln", TUPLE).body)
    if copies:
        for key in draw_texts(rng, text.form, 1) + (rng.choices(keys, k=1) if keys else []):
            if command.delete("a.bln", key) != table.delete(key):
                raise Difference(f"del {key}: was it there?")
            same("del", table.body(), Image("a.bln", TUPLE).body)
    asked = list(dict.fromkeys(keys[:5] + draw_texts(rng, text.form, 5)))
    same_answers("match", table, asked, command.match("a.bln", asked))
    for words in (("resize", "--capacity", "1000", "-o", "b.bln", "a.bln"),
                  ("merge", "-o", "b.bln", "a.bln", "a.bln")):
        if not command.run(*words, may_fail=True).returncode:
            raise Difference(f"{words[0]}: fingerprints of {p} bits keep too little of a key")


# --- chains ----------------------------------------------------------------------

class Values:
    """A table of chains under the keys that are typed."""

    def __init__(self, table, value_of):
        self.table, self.value_of = table, value_of

    def insert(self, key):
        return self.table.insert(self.value_of(key))

    def delete(self, key):
        return self.table.delete(self.value_of(key))

    def has(self, key):
        return self.table.has(self.value_of(key))


def chains_image(path, domain, table, what, others=()):
    """Compares; where the command has taken another size, so does the table."""
    image = Image(path, domain)
    if (image.n_buckets, image.extra) != (table.m, table.room) or others:
        table = table.rebuilt(image.n_buckets, image.extra, others)
    same(what, table.body(), image.body)
    if image.n_keys != len(table.value):
        raise Difference(f"{what}: {image.n_keys} keys, not {len(table.value)}")
    return table


def change_chains(command, rng, domain, options, draw, make):
    """make(path, keys): the table that a build of them is."""
    copies = "--copies" in options
    keys = draw(rng.randrange(1, 30))
    keys += rng.choices(keys, k=3) if copies else []
    command.build("a.bln", options, keys)
    values = make("a.bln")
    # A list of addresses is sorted before it is built of.
    for key in sorted(keys, key=lambda key: [int(part) for part in key.split(".")]) \
            if domain == IP4 else keys:
        values.insert(key)
    values.table = chains_image("a.bln", domain, values.table, "build")
    more = draw(1) + rng.choices(keys, k=1)
    for key in more:
        if command.add("a.bln", key) != values.insert(key):
            raise Difference(f"add {key}: was there room?")
        values.table = chains_image("a.bln", domain, values.table, "add")
    if copies:
        for key in draw(1) + rng.choices(keys, k=2):
            if command.delete("a.bln", key) != values.delete(key):
                raise Difference(f"del {key}: was it there?")
            values.table = chains_image("a.bln", domain, values.table, "del")
    asked = list(dict.fromkeys(keys[:4] + draw(4)))
    same_answers("match", values, asked, command.match("a.bln", asked))
    return keys, values


def compact(command, rng):
    bits, copies = rng.randrange(4, 33), rng.random() < 0.6
    text, options = draw_text(rng)
    options += ["--kind", "compact", "--slot-bits", str(bits)]
    options += ["--buckets", str(rng.randrange(1, 20))] if rng.random() < 0.6 else []
    options += ["--copies"] if copies else []
    options += ["--capacity", str(rng.randrange(35, 50))]

    def make(path):
        image = Image(path, TUPLE)
        return Values(Chains(image.n_buckets, bits, image.extra, copies),
                      lambda key: text.of(key) >> 32 - bits)

    _, values = change_chains(command, rng, TUPLE, options,
                              lambda n: draw_texts(rng, text.form, n), make)
    command.run("resize", "--capacity", str(rng.randrange(40, 99)), "-o", "b.bln", "a.bln")
    resized = chains_image("b.bln", TUPLE, values.table, "resize")
    command.run("merge", "-o", "c.bln", "a.bln", "b.bln")
    chains_image("c.bln", TUPLE, values.table, "merge", [resized])


def chained(command, rng):
    """A dictionary of addresses, in chains of what the seed permutes them to."""
    options = ["--kind", "chained", "--copies", "--capacity", "40", "--seed", "1"]
    options += ["--buckets", str(rng.randrange(1, 20))] if rng.random() < 0.6 else []

    def draw(n):
        return [".".join(str(rng.randrange(1, 224)) for _ in range(4)) for _ in range(n)]

    def make(path):
        image = Image(path, IP4)
        return Values(Chains(image.n_buckets, 32, image.extra, True),
                      lambda key: permute32(image.seed, int.from_bytes(
                          bytes(map(int, key.split("."))), "big")))

    change_chains(command, rng, IP4, options, draw, make)


KINDS = {"bloom": bloom, "counting": counting, "quotient": quotient, "cuckoo": cuckoo,
         "compact": compact, "chained": chained}


def check(baleen, n_tables, only=None):
    """Prints each table that differs; returns how many. The directory is a scratch one."""
    command, n_wrong = Command(baleen), 0
    for name, kind in KINDS.items():
        if only and name != only:
            continue
        wrong = 0
        for seed in range(n_tables):
            try:
                kind(command, random.Random(f"{name} {seed}"))
            except Difference as difference:
                wrong += 1
                if wrong < 4:
                    print(f"{name}, seed {seed}: {difference}")
        print(f"tables: {wrong} of {n_tables} of kind {name} differ")
        n_wrong += wrong
    print(f"tables: {command.n_runs} commands")
    return n_wrong
