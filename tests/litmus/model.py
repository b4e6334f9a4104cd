#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The memory model of arm64, for the few instructions of the litmus files in this directory.

    tests/litmus/model.py FILE...    prints for each its name, and whether the state that it
                                     asks for is reached: Never or Sometimes

Every execution is tried: each thread with each value that its loads could read, each store that
could have been read, each order of the stores to one place. One is possible when no thread sees
its own accesses out of order (internal visibility), each atomic is whole, and nothing is observed
before itself (external visibility). Source: Arm Architecture Reference Manual (DDI 0487), B2.3,
"Definition of the Arm memory model"; Deacon's aarch64.cat, which herd7 has, says the same:

    obs   a load reads another thread's store; what overwrites what was read; the order of stores
    dob   an address or a value is made of a load; a branch on it, before a store
    aob   an atomic reads and writes
    bob   a barrier, an acquire, a release or an atomic that is both stands between

A state that no execution has is reached on no processor that keeps the architecture. It is of
the instructions in the file: that compilers and the JIT make those, a person has to look at.
"""
import itertools
import re
import sys

MAX_VALUE = 7


class Event:
    """A load (R), a store (W) or a barrier (F) of a thread."""

    def __init__(self, kind, place=None, value=None, **flags):
        self.kind, self.place, self.value = kind, place, value
        self.acquire = flags.get("acquire", False)
        self.release = flags.get("release", False)
        self.whole = flags.get("whole", False)  # half of an atomic with acquire and release
        self.address, self.data, self.control = set(), set(), set()
        self.pair = None  # the load of the atomic that this store is of
        self.thread, self.at = None, None


class Thread:
    """Runs one thread with the values that its loads are told to read."""

    def __init__(self, number, code, registers, reads):
        self.number, self.code, self.reads = number, code, list(reads)
        self.registers = {name: (value, frozenset()) for name, value in registers.items()}
        self.events, self.control = [], frozenset()
        self.is_short = False  # more loads than values to read

    def get(self, name):
        if name.startswith("#"):
            return int(name[1:]), frozenset()
        return self.registers.get(name, (0, frozenset()))

    def add(self, event, address, data=frozenset()):
        event.thread, event.at = self.number, len(self.events)
        event.address, event.data, event.control = set(address), set(data), set(self.control)
        self.events.append(event)
        return event

    def load(self, place, deps, **flags):
        if not self.reads:
            self.is_short = True
            return 0, frozenset()
        value = self.reads.pop(0)
        event = self.add(Event("R", place, value, **flags), deps)
        return value, frozenset([event])

    def place_of(self, operand):
        """[X1] or [X1,X2]: the place, and what its address is made of"""
        names = operand.strip("[]").split(",")
        place, deps = self.get(names[0])
        for name in names[1:]:
            offset, more = self.get(name)
            # To such a place nothing stores, so no execution has it.
            place = f"{place}+{offset}" if offset else place
            deps |= more
        return place, deps

    def atomic(self, name, operands):
        flags = {} if name == "STCLR" else {"acquire": True, "release": True, "whole": True}
        source, result = operands[0], None if name == "STCLR" else operands[1]
        place, deps = self.place_of(operands[-1])
        old, read = self.load(place, deps, **flags)
        if self.is_short:
            return
        new, data = self.get(source)
        if name == "CASAL":
            (expected, _), (new, data) = self.get(source), self.get(result)
            result = source
        if name == "CASAL" and old != expected:
            # Nothing is stored then, and only the load is ordered.
            for event in read:
                event.whole = False
        else:
            new = {"LDADDAL": old + new, "SWPAL": new, "CASAL": new}.get(name, old & ~new)
            store = self.add(Event("W", place, new, **flags), deps, data)
            store.pair = next(iter(read))
        if result:
            self.registers[result] = (old, read)

    def step(self, name, operands):
        """Runs one instruction; the label to go to, or None."""
        if name == "MOV":
            self.registers[operands[0]] = self.get(operands[1])
        elif name in ("EOR", "AND", "ADD"):
            (a, x), (b, y) = self.get(operands[1]), self.get(operands[2])
            if name == "ADD" and isinstance(a, str):
                assert b == 0, "an offset that is not 0"
                value = a
            else:
                value = {"EOR": a ^ b, "AND": a & b, "ADD": a + b}[name]
            self.registers[operands[0]] = (value, x | y)
        elif name == "LDR":
            place, deps = self.place_of(operands[1])
            self.registers[operands[0]] = self.load(place, deps)
        elif name in ("STR", "STLR"):
            (value, data), (place, deps) = self.get(operands[0]), self.place_of(operands[1])
            self.add(Event("W", place, value, release=name == "STLR"), deps, data)
        elif name == "DMB":
            self.add(Event("F"), frozenset())
        elif name == "CBZ":
            value, deps = self.get(operands[0])
            self.control |= deps
            return operands[1] if value == 0 else None
        else:
            self.atomic(name, operands)
        return None

    def run(self):
        at = 0
        while at < len(self.code) and not self.is_short:
            line = self.code[at]
            at += 1
            if line.endswith(":"):
                continue
            name, _, rest = line.partition(" ")
            operands = [word.strip() for word in re.findall(r"\[[^]]*\]|[^,]+", rest)]
            label = self.step(name, operands)
            if label:
                at = self.code.index(label + ":")
        return self


def has_cycle(nodes, edges):
    """By taking away what nothing leads to, until no more can be."""
    into = {node: 0 for node in nodes}
    for _, b in edges:
        into[b] += 1
    free = [node for node in nodes if not into[node]]
    n_left = len(nodes)
    after = {}
    for a, b in edges:
        after.setdefault(a, []).append(b)
    while free:
        n_left -= 1
        for b in after.get(free.pop(), ()):
            into[b] -= 1
            if not into[b]:
                free.append(b)
    return n_left > 0


class Execution:
    """Threads that ran, which store each load reads, and the order of stores to each place."""

    def __init__(self, events, read_from, order):
        self.events, self.read_from, self.order = events, read_from, order
        self.memory = [event for event in events if event.kind != "F"]

    def program_order(self):
        return [(a, b) for a, b in itertools.permutations(self.events, 2)
                if a.thread == b.thread is not None and a.at < b.at]

    def communications(self):
        """reads-from, coherence and from-reads"""
        rf = [(store, load) for load, store in self.read_from.items()]
        co = [(a, b) for stores in self.order.values() for a, b in itertools.combinations(stores, 2)]
        fr = [(load, after) for load, store in self.read_from.items()
              for before, after in co if before is store]
        return rf, co, fr

    def ordered_locally(self, po, rf):
        """dob, aob and bob"""
        edges = []
        for a, b in po:
            if a in b.address or a in b.data:
                edges.append((a, b))
                edges += [(a, load) for store, load in rf if store is b and load.thread == b.thread]
            if b.kind == "W" and a in b.control:
                edges.append((a, b))
            if b.kind == "W" and any(a in c.address and c.at < b.at
                                     for c in self.memory if c.thread == b.thread):
                edges.append((a, b))
            if b.pair is a:
                edges.append((a, b))
                edges += [(b, load) for store, load in rf
                          if store is b and load.acquire and load.thread == b.thread]
            if a.kind == "R" and a.acquire:
                edges.append((a, b))
            if b.kind == "W" and b.release:
                edges.append((a, b))
            if a.kind == "W" and a.whole:
                edges.append((a, b))
            if a.kind == "W" and a.release and b.kind == "R" and b.acquire:
                edges.append((a, b))
            if any(c.thread == a.thread and a.at < c.at < b.at and
                   (c.kind == "F" or (c.kind == "R" and c.whole and c is not a and b.pair is not c))
                   for c in self.events):
                edges.append((a, b))
        # A store before a release that is overwritten by the thread's own store.
        for a, b in po:
            if b.kind == "W" and b.release:
                edges += [(a, later) for first, later in self.communications()[1]
                          if first is b and later.thread == b.thread]
        return edges

    def is_possible(self):
        po = self.program_order()
        rf, co, fr = self.communications()
        internal = [(a, b) for a, b in po if a.place is not None and a.place == b.place]
        if has_cycle(self.memory, internal + rf + co + fr):
            return False
        for store in self.memory:
            if store.pair and any(a is store.pair and b.thread != store.thread and (b, store) in co
                                  for a, b in fr):
                return False
        external = [(a, b) for a, b in rf + co + fr if a.thread != b.thread]
        return not has_cycle(self.events, external + self.ordered_locally(po, rf))


class Test:
    """A litmus file."""

    def __init__(self, path):
        with open(path, encoding="ascii") as file:
            lines = [line.strip() for line in file if line.strip()]
        self.name = lines[0].split()[1]
        self.registers, self.memory = {}, {}
        self.read_beginning(lines[1])
        rows = [line.rstrip(";").split("|") for line in lines[2:-1]]
        self.code = [[row[i].strip() for row in rows[1:] if i < len(row) and row[i].strip()]
                     for i in range(len(rows[0]))]
        self.read_condition(lines[-1])

    def read_beginning(self, line):
        for what in line.strip("{} ").split(";"):
            if what.strip():
                name, value = what.strip().split("=")
                thread, _, register = name.rpartition(":")
                if thread:
                    self.registers.setdefault(int(thread), {})[register] = value
                else:
                    self.memory[name] = int(value)
        for registers in self.registers.values():
            for place in registers.values():
                self.memory.setdefault(place, 0)

    def read_condition(self, line):
        assert line.startswith("exists"), "only `exists`"
        text = re.sub(r"(\d+):(X\d+)=(\d+)", r"(registers[\1]['\2'] == \3)", line[len("exists"):])
        text = re.sub(r"\b([a-z]\w*)=(\d+)", r"(memory['\1'] == \2)", text)
        self.condition = compile(text.replace("/\\", " and ").replace("\\/", " or ").strip(),
                                 self.name, "eval")

    def runs_of(self, number, values):
        """A thread with each value that its loads could read."""
        runs, waiting = [], [()]
        while waiting:
            reads = waiting.pop()
            run = Thread(number, self.code[number], self.registers.get(number, {}), reads).run()
            if run.is_short:
                waiting += [reads + (value,) for value in values]
            else:
                runs.append(run)
        return runs

    def values(self):
        """All that any store could store."""
        values = set(self.memory.values())
        while True:
            more = {event.value for number in range(len(self.code))
                    for run in self.runs_of(number, values) for event in run.events
                    if event.kind == "W" and event.value <= MAX_VALUE}
            if more <= values:
                return values
            values |= more

    def executions(self, runs):
        """All that these runs could be together."""
        first = [Event("W", place, value) for place, value in self.memory.items()]
        events = first + [event for run in runs for event in run.events]
        loads = [event for event in events if event.kind == "R"]
        stores = {place: [e for e in events if e.kind == "W" and e.place == place]
                  for place in self.memory}
        sources = [[store for store in stores.get(load.place, []) if store.value == load.value]
                   for load in loads]
        orders = [[tuple(places[:1]) + rest for rest in itertools.permutations(places[1:])]
                  for places in stores.values()]
        for read_from in itertools.product(*sources):
            for order in itertools.product(*orders):
                yield Execution(events, dict(zip(loads, read_from)), dict(zip(stores, order)))

    def is_reached(self):
        values = self.values()
        for runs in itertools.product(*(self.runs_of(i, values) for i in range(len(self.code)))):
            registers = [{name: run.get(name)[0] for name in [f"X{i}" for i in range(31)]}
                         for run in runs]
            for execution in self.executions(runs):
                memory = {place: order[-1].value for place, order in execution.order.items()}
                known = {"registers": registers, "memory": memory}
                if eval(self.condition, {}, known) and execution.is_possible():
                    return True
        return False


def main(paths):
    for path in paths:
        test = Test(path)
        print(test.name, "Sometimes" if test.is_reached() else "Never", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
