# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Reference vectors: small tables of every kind, hash form and width, with the bytes of the table
after each operation. docs/vectors.md describes the files.
"""
import json
import os

from text_command import IP4, WORD, TUPLE, Command, Difference, Image, same
from text_hash import (BlockedPositions, Keyed, KeyedPositions, Positions, Text, fnv1a, in_form,
                       murmur3, splitmix64)
from text_tables import Bloom, Chains, Counting, Cuckoo, OwnCuckoo, Quotient

CAPITALS = ("Copenhagen", "Lisbon", "Paris", "Stockholm", "Zagreb", "Warsaw")
DIGITS = ("99108ad8ed9bb6274d3980bab5a85c048f0950c8", "b5a2c786d9ef4658287ced5914b37a1b4aa32eee",
          "b9300670b4c5366e95b2699e8b18bc75e5f729c5", "00")
ADDRESSES = ("192.0.2.1", "198.51.100.7", "203.0.113.255", "10.0.0.1")
FORMS = ((), ("unsigned",), ("quoted",), ("unsigned", "quoted"), ("hex",), ("unsigned", "hex"))
SEED = 1


def keyed():
    return Keyed(splitmix64(SEED, 12))


class Case:
    """A table, what is done to it, and the options by which `baleen build` makes it empty."""

    def __init__(self, kind, geometry, options, domain, table, of=None, positions=None):
        self.kind, self.geometry, self.options = kind, geometry, options
        self.domain, self.table = domain, table
        self.of = of or (lambda key: key)
        self.positions = positions
        self.operations = []
        self.note()

    def note(self, **operation):
        self.operations.append(operation | {"body": self.table.body().hex()})

    def insert(self, *keys):
        for key in keys:
            self.table.insert(self.of(key))
            told = {"positions": self.positions(key)} if self.positions else {}
            self.note(insert=key, **told)
        return self

    def delete(self, *keys):
        for key in keys:
            self.table.delete(self.of(key))
            self.note(delete=key)
        return self

    def described(self):
        return {"geometry": self.geometry, "options": self.options,
                "seed": [f"{word:016x}" for word in splitmix64(SEED, 12)]
                if "--seed" in self.options else None,
                "operations": self.operations}


def texts(form):
    return DIGITS if "hex" in form else CAPITALS


def form_options(form, name):
    words = [word for word in form if not (name == "bip37" and word == "unsigned")]
    return ["--hash-form", ",".join(words)] if words else []


def plane_cases(kind, make):
    for m, k in ((10, 2), (95, 6), (512, 3), (700, 8)):
        for name, forms in (("murmur3", FORMS), ("murmur3-fnv1a", FORMS[:4]),
                            ("bip37", (("unsigned",), ("unsigned", "hex")))):
            for form in forms:
                k = 2 if name == "murmur3-fnv1a" else k
                positions = Positions(m, k, name, 42, form)
                options = ["--kind", kind, "--key", "string", "--hash", name, "--hash-seed", "42",
                           "--bits", str(m), "--hashes", str(k), *form_options(form, name)]
                geometry = {"bits": m, "hashes": k, "hash": name, "hash_seed": 42,
                            "form": list(form)}
                yield Case(kind, geometry, options, TUPLE, make(positions),
                           positions=positions.of), texts(form)
        positions = KeyedPositions(m, k, keyed())
        options = ["--kind", kind, "--hash", "keyed", "--seed", str(SEED), "--bits", str(m),
                   "--hashes", str(k)]
        yield Case(kind, {"bits": m, "hashes": k, "hash": "keyed"}, options, IP4,
                   make(positions), positions=positions.of), ADDRESSES


def blocked_cases(kind, make):
    for k in (2, 4, 6, 8):
        positions = BlockedPositions(1, k, keyed())
        options = ["--kind", kind, "--seed", str(SEED), "--hashes", str(k), "--fpp", "0.5",
                   "--capacity", "4"]
        yield Case(kind, {"blocks": 1, "hashes": k, "hash": "blocked"}, options, IP4,
                   make(positions), positions=positions.of), ADDRESSES


def bloom():
    for case, keys in blocked_cases("bloom", Bloom):
        yield case.insert(*keys)


def classic():
    for case, keys in plane_cases("classic", Bloom):
        yield case.insert(*keys)


def counting():
    for case, keys in plane_cases("counting", Counting):
        yield case.insert(*keys, keys[0]).delete(keys[0], keys[1])
    for case, keys in blocked_cases("counting", Counting):
        yield case.insert(*keys, keys[0]).delete(keys[0], keys[1])


def quotient():
    named = ("10001:001010", "10011:100111", "10011:111111", "10100:101101", "10100:111110",
             "10100:000000")
    for q, r in ((5, 6), (3, 1), (3, 8), (4, 7), (2, 30), (6, 26), (7, 13)):
        bits = q + r
        if (q, r) == (5, 6):
            keys = named
        else:
            # Runs that wrap around: the highest quotients, and copies.
            keys = [f"{key:0{bits}b}" for key in
                    ((1 << bits) - 1, (1 << bits) - 2, (1 << bits) - 1, 0, 1 << bits - 1)][:(1 << q) - 1]
        for copies in (False, True):
            options = ["--kind", "quotient", "--key", "fingerprint", "--remainder-bits", str(r),
                       "--load", "1", "--capacity", str((1 << q) - 1)]
            options += ["--copies"] if copies else []
            case = Case("quotient", {"quotient_bits": q, "remainder_bits": r, "copies": copies},
                        options, WORD, Quotient(q, r, copies),
                        lambda key: int(key.replace(":", ""), 2))
            case.insert(*keys)
            yield case.delete(keys[1], keys[0]) if copies else case
    for form in FORMS:
        for r in (5, 13, 29):
            text = Text(42, form)
            options = ["--kind", "quotient", "--key", "string", "--hash", "murmur3", "--hash-seed",
                       "42", "--remainder-bits", str(r), "--load", "1", "--capacity", "7",
                       *form_options(form, "murmur3")]
            geometry = {"quotient_bits": 3, "remainder_bits": r, "copies": False,
                        "hash": "murmur3", "hash_seed": 42, "form": list(form)}
            yield Case("quotient", geometry, options, TUPLE, Quotient(3, r),
                       lambda key, text=text, r=r: text.of(key) >> 29 - r).insert(*texts(form))
    for r in (4, 13, 29):
        options = ["--kind", "quotient", "--seed", str(SEED), "--remainder-bits", str(r), "--load",
                   "1", "--capacity", "7"]
        yield Case("quotient", {"quotient_bits": 3, "remainder_bits": r, "copies": False,
                                "hash": "keyed"}, options, IP4, Quotient(3, r),
                   lambda key, r=r: keyed().permuted(key) >> 29 - r).insert(*ADDRESSES)


def cuckoo():
    for m, b, p in ((10, 1, 16), (8, 1, 16), (4, 2, 8), (8, 3, 12), (4, 4, 32), (16, 4, 5),
                    (8, 2, 27), (4, 4, 16)):
        for form in FORMS if (m, b) == (10, 1) else FORMS[3:4]:
            text = Text(42, form)
            options = ["--kind", "cuckoo", "--key", "string", "--partner", "xor", "--hash-seed",
                       "42", "--buckets", str(m), "--bucket-slots", str(b), "--slot-bits", str(p),
                       "--copies", *form_options(form, "murmur3")]
            geometry = {"buckets": m, "bucket_slots": b, "slot_bits": p, "partner": "xor",
                        "copies": True, "hash": "murmur3", "hash_seed": 42, "form": list(form)}
            table = Cuckoo(m, b, p, text, copies=True)
            keys = texts(form)[:4]
            yield Case("cuckoo", geometry, options, TUPLE, table,
                       positions=lambda key, table=table: list(table.place(key))).insert(
                           *keys).delete(keys[1])
    for m, b, width, exact, semi in ((4, 4, 32, True, False), (5, 4, 32, True, False),
                                     (4, 2, 32, True, False), (4, 1, 32, True, False),
                                     (8, 4, 8, False, False), (7, 4, 4, False, False),
                                     (6, 3, 13, False, False), (5, 2, 21, False, False),
                                     (4, 4, 27, False, False), (9, 4, 9, False, True),
                                     (4, 4, 32, False, True)):
        options = ["--kind", "cuckoo", "--seed", str(SEED), "--buckets", str(m), "--bucket-slots",
                   str(b), "--slot-bits", str(width)] + (["--semi-sort"] if semi else [])
        geometry = {"buckets": m, "bucket_slots": b, "slot_bits": width, "exact": exact,
                    "semi_sorted": semi, "hash": "keyed"}
        table = OwnCuckoo(m, b, width, keyed(), exact, semi)
        case = Case("cuckoo", geometry, options, IP4, table,
                    positions=lambda key, table=table: list(table.place(key)))
        yield case.insert(*ADDRESSES[:3])


def compact():
    for bits in (4, 8, 13, 24, 32):
        for form in FORMS if bits == 13 else FORMS[3:4]:
            text = Text(42, form)
            options = ["--kind", "compact", "--key", "string", "--hash", "murmur3", "--hash-seed",
                       "42", "--slot-bits", str(bits), "--buckets", "5", "--capacity", "9",
                       "--copies", *form_options(form, "murmur3")]
            geometry = {"buckets": 5, "value_bits": bits, "room": 9, "copies": True,
                        "hash": "murmur3", "hash_seed": 42, "form": list(form)}
            keys = texts(form)
            yield Case("compact", geometry, options, TUPLE, Chains(5, bits, 9, True),
                       lambda key, text=text, bits=bits: text.of(key) >> 32 - bits).insert(
                           *keys, keys[0]).delete(keys[0], keys[2])


def chained():
    options = ["--kind", "chained", "--seed", str(SEED), "--buckets", "3", "--capacity", "9",
               "--copies"]
    yield Case("chained", {"buckets": 3, "value_bits": 32, "room": 9, "copies": True,
                           "hash": "keyed"}, options, IP4, Chains(3, 32, 9, True),
               keyed().permuted).insert(*ADDRESSES, ADDRESSES[0]).delete(*ADDRESSES[:2])


KINDS = {"bloom": bloom, "classic": classic, "counting": counting, "quotient": quotient,
         "cuckoo": cuckoo, "compact": compact, "chained": chained}


def hashes():
    """Of texts in every form, under three seeds."""
    rows = []
    for form in FORMS:
        for text in texts(form):
            data = in_form(text, form)
            rows += [{"text": text, "form": list(form), "seed": seed,
                      "murmur3": murmur3(data, seed), "fnv1a": fnv1a(data)}
                     for seed in (0, 42, 0xffffffff)]
    return rows


def write(directory):
    """One file a kind, and hashes.json; the same bytes each time."""
    os.makedirs(directory, exist_ok=True)
    files = {"hashes": hashes()}
    files |= {name: [case.described() for case in kind()] for name, kind in KINDS.items()}
    for name, content in files.items():
        with open(os.path.join(directory, f"{name}.json"), "w", encoding="utf-8") as file:
            json.dump({"format": 1, "kind": name, "cases": content}, file, indent=1)
            file.write("\n")
    return sum(len(content) for content in files.values())


def replay(command, case):
    command.run("build", "--allow-empty", "-o", "a.bln", *case.options)
    for step in case.operations:
        if "insert" in step:
            command.run("add", "--fixed", "--exist", "a.bln", step["insert"])
        if "delete" in step:
            command.run("del", "a.bln", step["delete"])
        same(str({word: step[word] for word in ("insert", "delete") if word in step}),
             bytes.fromhex(step["body"]), Image("a.bln", case.domain).body)
    words = splitmix64(SEED, 12)
    if "--seed" in case.options and Image("a.bln", case.domain).seed != words:
        raise Difference("the words of the seed are others")


def check(baleen):
    """Prints each case in which the command has other bytes; returns how many."""
    command, n_wrong, n_cases = Command(baleen), 0, 0
    for name, kind in KINDS.items():
        for case in kind():
            n_cases += 1
            try:
                replay(command, case)
            except Difference as difference:
                n_wrong += 1
                print(f"{name} {case.options}: {difference}")
    print(f"vectors: {n_wrong} of {n_cases} cases differ from what the command makes")
    return n_wrong
