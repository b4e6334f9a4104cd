# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The plans of the textbooks by their formulas, in 60 digits and in fractions, and the grid on
which `baleen plan -j` is held against them.

Every floor and ceiling is of an exact number or of one that is known to 50 digits and is no
integer (a logarithm of a rational that is none), so none is in doubt.
"""
import json
import subprocess
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, getcontext
from fractions import Fraction

getcontext().prec = 60
LN2 = Decimal(2).ln()

N_KEYS = (1, 2, 3, 10, 95, 1000, 1023, 1024, 1025, 65536, 10 ** 6, 6 * 10 ** 8, 10 ** 9,
          2 ** 30, 10 ** 10)
RATES = ("0.9", "0.75", "0.6", "0.5", "0.4", "0.25", "0.1", "0.02", "0.01", "0.001", "1e-4",
         "1e-6", "1e-9", "1e-12")
LOADS = {1: Fraction(1, 2), 2: Fraction(84, 100), 4: Fraction(95, 100)}


def floor(x):
    return int(x.to_integral_value(ROUND_FLOOR))


def ceil(x):
    return int(x.to_integral_value(ROUND_CEILING))


def power_above(x, or_equal):
    """The least q of 0 and more with 2^q > x, or >= x."""
    q = 0
    while not (2 ** q >= x if or_equal else 2 ** q > x):
        q += 1
    return q


def bloom(n, rate):
    """m = -n ln P / ln2 2; k = m/n ln 2; rate (1 - e^(-kn/m))^k."""
    m = floor(-n * Decimal(rate).ln() / LN2 ** 2)
    k = floor(Decimal(m) / n * LN2)
    fpp = (1 - (Decimal(-k * n) / m).exp()) ** k if k else Decimal(1)
    return {"bits": m, "hashes": k, "fpp": fpp, "fails": not k}


def counting(n, rate):
    """Four bits in the place of each."""
    plan = bloom(n, rate)
    return plan | {"bits": 4 * plan["bits"]}


def quotient(n, rate):
    """2^q > n; r = ceil(log2(-(n / 2^q) / ln(1 - P))); rate 1 - e^(-n / 2^p), p = q + r."""
    q = power_above(n, or_equal=False)
    r = ceil((-(Decimal(n) / 2 ** q) / (1 - Decimal(rate)).ln()).ln() / LN2)
    return {"quotient_bits": q, "remainder_bits": r, "load": Decimal(n) / 2 ** q,
            "bits": int(Fraction(2) ** q * (r + 3)),
            "fpp": 1 - (-n / Decimal(2) ** (q + r)).exp(), "fails": r < 1}


def cuckoo(n, rate, b):
    """m >= ceil(n / b), a power of two; p = ceil(log2(2b / P)); rate 1 - (1 - 2^-p)^2b."""
    least = -(-n // b)
    m = 2 ** power_above(least, or_equal=True)
    p = power_above(2 * b / Fraction(rate), or_equal=True)
    plan = {"buckets": m, "bucket_slots": b, "slot_bits": p, "least_buckets": least,
            "bits": m * b * p, "load": Decimal(n) / (m * b),
            "fpp": 1 - (1 - Decimal(2) ** -p) ** (2 * b), "fails": False}
    if b in LOADS:
        name = f"buckets_at_{100 * LOADS[b]}_percent"
        plan[name] = int(-(-n // (b * LOADS[b])))
        plan["fails"] = Fraction(n, m * b) > LOADS[b]
    return plan


def differences(want, told):
    """What a plan tells otherwise; rates and loads to the six digits that it prints."""
    fields = set(told) - {"bits_per_key", "reason"}
    wrong = sorted(fields ^ (set(want) - {"fails"}))
    for name in fields & set(want):
        if name in ("fpp", "load"):
            if abs(Decimal(told[name]) - want[name]) > want[name] / 10 ** 5:
                wrong.append(name)
        elif told[name] != want[name]:
            wrong.append(name)
    if want["fails"] != (told["reason"] is not None):
        wrong.append("reason")
    return wrong


def ask(baleen, n, rate, options):
    out = subprocess.run([baleen, "plan", "-j", "--key", "flow", "--capacity", str(n), "--fpp",
                          rate, *options], capture_output=True, check=True).stdout
    return json.loads(out)[0]["textbook"]


def check(baleen):
    """Prints each point that differs; returns how many, and of how many."""
    kinds = [("classic", bloom, ()), ("counting", counting, ()), ("quotient", quotient, ())]
    kinds += [("cuckoo", cuckoo, (b,)) for b in (1, 2, 3, 4)]
    wrong = total = void = 0
    for n in N_KEYS:
        for rate in RATES:
            for kind, formula, shape in kinds:
                # A counting filter of blocks is slow to plan, and its textbook is the same.
                options = ["--kind", kind] + (["--hash", "keyed"] if kind == "counting" else [])
                if shape:
                    options += ["--bucket-slots", str(shape[0])]
                want = formula(n, rate, *shape)
                told = ask(baleen, n, rate, options)
                differing = differences(want, told)
                if differing:
                    print(f"n = {n}, P = {rate}, {' '.join(options[1:])}: "
                          f"{', '.join(differing)}: {told}")
                wrong += bool(differing)
                total += 1
                void += kind == "classic" and want["fails"]
    print(f"plan: {wrong} of {total} plans differ from the texts' formulas; k = 0 at {void} of "
          f"{len(N_KEYS) * len(RATES)} points")
    return wrong
