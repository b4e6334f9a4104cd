#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Numbered frames through a live device while it is changed: of two sets of sources one is
listed all the time and the other never. No frame of the first may arrive, and each of the
second must, in order.

    BALEEN=path/to/baleen python3 flux.py [--seconds N] [--seed S] [--kill P] [-- ATTACH OPTION...]

With --kill P a share P of the commands is killed at a random moment. Runs as root, in
namespaces of its own, as model.py does.

Exit: 0 all frames fared as they should; 1 some did not; 2 it could not run.
"""
import argparse
import json
import multiprocessing
import os
import random
import shutil
import socket
import struct
import sys
import tempfile
import time

from frames import DST_MAC
from machine import DEV, Machine
from sets import CannotRun, to_text

N_SOURCES = 64
ALWAYS4 = [0x07070700 + i for i in range(N_SOURCES)]
NEVER4 = [0x09090900 + i for i in range(N_SOURCES)]
ALWAYS6 = [0x2a07 << 112 | i << 64 | 5 for i in range(N_SOURCES)]
NEVER6 = [0x2a09 << 112 | i << 64 | 5 for i in range(N_SOURCES)]

# Half of the sources as hosts, half by a prefix.
LISTED = [to_text(4, x) for x in ALWAYS4[:32]] + ["7.7.7.32/27"] + \
    [to_text(6, x) for x in ALWAYS6[:32]] + ["2a07:0:0:20::/59"]

# What covers the listed sources and no other.
AROUND = ["7.7.0.0/16", "2a07::/16"]

SO_RCVBUFFORCE, SOL_PACKET, PACKET_STATISTICS, PACKET_OUTGOING = 33, 263, 6, 4


def frame(fam, source, number):
    payload = struct.pack("!HHHH", 1000, 2000, 24, 0) + b"FLUX" + struct.pack("!Q", number) + b"\0" * 4
    if fam == 4:
        head = struct.pack("!BBHHHBBHII", 0x45, 0, 20 + len(payload), 0, 0, 64, 17, 0, source,
                           0x0a630001)
    else:
        head = struct.pack("!IHBB", 6 << 28, len(payload), 17, 64) + \
            source.to_bytes(16, "big") + (0xfd99 << 112 | 1).to_bytes(16, "big")
    ethertype = struct.pack("!H", 0x0800 if fam == 4 else 0x86dd)
    return DST_MAC + b"\x02\0\0\0\0\x02" + ethertype + head + payload


class Flux:
    """Bits 0 and 1 of a frame's number: is it never listed, is it IPv6; then it counts up."""

    def __init__(self, machine):
        self.machine = machine
        self.stop = multiprocessing.Value("i", 0)
        self.sent, self.arrived, self.listed_arrived, self.missing, self.overrun = (
            multiprocessing.Value("q", 0) for _ in range(5))
        self.processes = [multiprocessing.Process(target=target)
                          for target in (self.receive, self.send)]

    def send(self):
        n = 0
        while not self.stop.value:
            for _ in range(32):
                i = n % N_SOURCES
                for bits, fam, source in ((0, 4, ALWAYS4[i]), (1, 4, NEVER4[i]),
                                          (2, 6, ALWAYS6[i]), (3, 6, NEVER6[i])):
                    self.machine.sender.send(frame(fam, source, n << 2 | bits))
                n += 1
            self.sent.value = n
            time.sleep(0.0008)

    def receive(self):
        tap = self.machine.tap
        tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 256 << 20)
        tap.settimeout(1)
        expected = {1: 0, 3: 0}
        while True:
            try:
                data, address = tap.recvfrom(256)
            except socket.timeout:
                if self.stop.value:
                    break
                continue
            at = data.find(b"FLUX")
            if at < 0 or address[2] == PACKET_OUTGOING:
                continue
            number, = struct.unpack("!Q", data[at + 4:at + 12])
            n, bits = number >> 2, number & 3
            if not bits & 1:
                self.listed_arrived.value += 1
                continue
            self.arrived.value += 1
            self.missing.value += abs(n - expected[bits])
            expected[bits] = n + 1
        self.missing.value += sum(self.sent.value - n for n in expected.values())
        _, self.overrun.value = struct.unpack("II", tap.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))

    def __enter__(self):
        for process in self.processes:
            process.start()
            time.sleep(0.3)
        return self

    def __exit__(self, *_):
        self.stop.value = 1
        for process in reversed(self.processes):
            process.join()


class Changes:
    def __init__(self, machine, rng, directory):
        self.machine, self.rng, self.dir = machine, rng, directory
        self.n = 0
        self.kinds = {
            "add": lambda: ["add", "--exist", "--force", "va:bad"] + self.noise(3),
            "add atomic": lambda: ["add", "--exist", "--atomic", "--force", "va:bad"] + self.noise(3),
            "add listed": lambda: ["add", "--exist", "--force", "va:bad"] + self.some_listed(),
            "del": lambda: ["del", "--exist", "--force", "va:bad"] + self.noise(3),
            "del listed": lambda: ["del", "--exist", "--force", "va:bad"] + self.some_listed() + AROUND,
            "swap": lambda: ["swap", "--force", "va:bad", self.list_file(rng.choice((5, 200, 5000)))],
            "merge": lambda: ["merge", "--force", "va:bad", self.list_file(20)],
            "rule add": self.rule_add,
            "rule del": self.rule_del,
            "rule move": lambda: ["rule", "move", "--force", "va:bad",
                                  rng.choice(("--first", "--last"))],
            "policy": lambda: ["policy", DEV] + rng.choice((["--sample", "50/s"], ["--no-sample"],
                                                            ["--default", "pass"])),
            "resize": lambda: ["resize", "--capacity", rng.choice((500, 5000, 20000)), "va:bad"],
            "refresh": lambda: ["refresh", "--force", DEV],
            "feed": lambda: ["feed", "--origin", "f", "va:bad", "-"],
        }

    def noise(self, n):
        """Entries that cover no source that is never listed."""
        rng, out = self.rng, []
        for _ in range(n):
            area, kind = rng.choice((11, 12, 13)), rng.random()
            if kind < 0.5:
                out.append("%d.%d.%d.%d" % (area, rng.randrange(256), rng.randrange(256),
                                            rng.randrange(256)))
            elif kind < 0.7:
                out.append("%d.%d.0.0/%d" % (area, rng.randrange(256), rng.randrange(16, 28)))
            elif kind < 0.9:
                out.append("2a11:%x::/%d" % (rng.randrange(65536), rng.choice((40, 48, 56, 64))))
            else:
                out.append(rng.choice(AROUND))
        return out

    def some_listed(self):
        """They stay: the list holds them, too."""
        return [to_text(4, self.rng.choice(ALWAYS4)),
                "2a07:0:0:%x::/64" % self.rng.randrange(N_SOURCES)]

    def write(self, lines):
        self.n += 1
        path = os.path.join(self.dir, "list%d" % (self.n % 8))
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
        return path

    def list_file(self, n):
        return self.write(LISTED + self.noise(n))

    def rule_add(self):
        lines = [line for line in self.noise(30) if line not in AROUND]
        return ["rule", "add", DEV, "--force", self.rng.choice(("--first", "--last")),
                self.rng.choice(("--count", "--drop", "--allow")),
                "x%d=%s" % (self.n, self.write(lines))]

    def rule_del(self):
        _, out, _ = self.machine.run("status", "-j", DEV)
        names = [rule["name"] for rule in json.loads(out)[0]["rules"] if rule["name"] != "bad"]
        if not names:
            return ["refresh", "--force", DEV]
        return ["rule", "del"] + ["va:" + name
                                  for name in self.rng.sample(names, min(len(names), 4))]

    def make(self, kill):
        """(what it was, exit status, what it said)"""
        what = self.rng.choice(sorted(self.kinds))
        words = self.kinds[what]()
        stdin = "".join("add %s ttl=1h\n" % x for x in self.noise(30)) if what == "feed" else None
        after = self.rng.random() * 0.09 if self.rng.random() < kill else None
        status, _, err = self.machine.run(*words, stdin=stdin, kill_after=after)
        return what, status, err.strip()


def run(options, directory):
    rng = random.Random(options.seed)
    machine = Machine(os.path.abspath(os.environ["BALEEN"]), directory)
    changes = Changes(machine, rng, directory)
    status, _, err = machine.run("attach", DEV, "--drop", "bad=" + changes.list_file(50),
                                 "--capacity", "2000", *options.attach)
    if status:
        raise CannotRun(err)
    n, killed, end = 0, 0, time.time() + options.seconds
    with Flux(machine) as flux:
        while time.time() < end:
            what, status, err = changes.make(options.kill)
            n += 1
            killed += status == -9
            # A rule too many, and sizes that are too small.
            if status not in (0, -9) and what not in ("resize", "rule add", "rule del"):
                print("%s: exit %d: %s" % (what, status, err[:300]))
    print("seed %d: %d commands, %d of them killed; 4 x %d frames: %d listed arrived, %d of %d "
          "others arrived, %d lost by the socket" % (
              options.seed, n, killed, flux.sent.value, flux.listed_arrived.value,
              flux.arrived.value, 2 * flux.sent.value, flux.overrun.value))
    lost = flux.missing.value - flux.overrun.value
    return 1 if flux.listed_arrived.value or lost > 0 or not flux.sent.value else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kill", type=float, default=0.0)
    parser.add_argument("attach", nargs="*", help="more options of attach")
    options = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="baleen-flux.")
    try:
        return run(options, directory)
    except CannotRun as why:
        print("flux.py: %s" % why, file=sys.stderr)
        return 2
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
