# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Bans that are committed first, and devices that follow: every order of steps, killed anywhere.

    protocol.py [WITHOUT]
    protocol.py --steps      what can be taken away

Without an argument the protocol is as deploy/bans.c, bans_put.c and deploy.c have it; WITHOUT takes
one of its steps away: then an order is to be found in which a device is left wrong.

    behind    a device that is not held is not marked in the transaction of the ban
    changing  a device is not marked while its filter is changed in place
    news      a device that came, or began to take bans, since the search is not marked
    moved     a rule that begins to take bans does not look whether the book has moved meanwhile
    wait      who looks whether it has moved does not wait for whoever writes it
    order     the mark of who is behind goes after it has read the book, not before
    early     the mark of a rule that begins to take bans goes before it looks
    blind     who finds a mark of a change does not wait for whoever writes the book

Two devices: one takes bans from the start, the other has a filter that takes none, and begins to.
Killed means -9: the kernel lets locks go and undoes the transaction, files of marks stay.
"""
import sys
from collections import deque, namedtuple

World = namedtuple("World", "book version behind changing maps takes stamp devices lock procs kills")
Proc = namedtuple("Proc", "todo kind key held late stamps derived version")

STEPS = ("behind", "changing", "news", "moved", "wait", "order", "early", "blind")
HALF = "#"  # what a filter has between the writes of one change
KILLS = 2


def at(tuple_, index, value):
    return tuple_[:index] + (value,) + tuple_[index + 1:]


class Machine:
    def __init__(self, without):
        self.without = without

    def ban_start(self, key, puts):
        return Proc((("find",),), "ban" if puts else "unban", key, (), (), (), (), 0)

    def apply_start(self, device):
        end = (("moved", device), ("unmark", device))
        if self.without == "early":
            end = end[::-1]
        return Proc((("lock", device), ("repair", device), ("version",), ("derive", device),
                     ("mark", device), ("switch", device), ("take", device)) + end +
                    (("unlock", device), ("reply",)), "apply", device, (), (), (), (), 0)

    def repairs(self, world, device):
        """The steps by which an opened device is mended."""
        if not world.takes[device]:
            return ()
        if world.behind[device]:
            if self.without == "order":
                return (("mark", device), ("waited",), ("derive", device), ("unbehind", device),
                        ("switch", device), ("unmark", device))
            return (("mark", device), ("unbehind", device), ("waited",), ("derive", device),
                    ("switch", device), ("unmark", device))
        if world.changing[device]:
            steps = (("derive", device), ("switch", device), ("unmark", device))
            return steps if self.without == "blind" else (("waited",),) + steps
        return ()

    def step(self, world, i):
        """The world after the next step of a process; None where it waits."""
        proc = world.procs[i]
        op, rest = proc.todo[0], proc.todo[1:]
        device = op[1] if len(op) > 1 else None

        def go(todo=rest, world=world, **changes):
            return world._replace(procs=at(world.procs, i, proc._replace(todo=todo, **changes)))

        name = op[0]
        if name == "find":
            found = tuple(d for d in (0, 1) if world.takes[d])
            return go(tuple(("try", d) for d in found) + (("write",),), stamps=world.stamp)
        if name == "try":
            if world.devices[device] is not None:
                return go(late=proc.late + (device,))
            return go((("repair", device),) + rest, held=proc.held + (device,),
                      world=world._replace(devices=at(world.devices, device, i)))
        if name == "lock":
            if world.devices[device] is not None:
                return None
            return go(world=world._replace(devices=at(world.devices, device, i)))
        if name == "unlock":
            return go(world=world._replace(devices=at(world.devices, device, None)))
        if name == "repair":
            return go(self.repairs(world, device) + rest)
        if name == "write":
            if world.lock is not None:
                return None
            return go((("marks",),), world=world._replace(lock=i))
        if name == "marks":
            return self.marks(world, i, go, proc)
        if name == "commit":
            book = world.book | {proc.key} if proc.kind == "ban" else world.book - {proc.key}
            todo = ()
            for d in proc.held:
                todo += (("half", d), ("whole", d), ("unmark", d))
            if proc.late:
                todo += tuple(("unlock", d) for d in proc.held)
                for d in proc.late:
                    todo += (("lock", d), ("repair", d), ("unlock", d))
            else:
                todo += tuple(("unlock", d) for d in proc.held)
            return go(todo + (("reply",),), world=world._replace(book=book, lock=None,
                                                                version=world.version + 1))
        if name == "half":
            return go(world=world._replace(maps=at(world.maps, device,
                                                   world.maps[device] | {HALF})))
        if name == "whole":
            held = world.maps[device] - {HALF} if HALF in world.maps[device] else world.maps[device]
            held = held | {proc.key} if proc.key in world.book else held - {proc.key}
            return go(world=world._replace(maps=at(world.maps, device, held)))
        if name == "mark":
            return go(world=world._replace(changing=at(world.changing, device, True)))
        if name == "unmark":
            return go(world=world._replace(changing=at(world.changing, device, False)))
        if name == "unbehind":
            return go(world=world._replace(behind=at(world.behind, device, False)))
        if name == "waited":
            return None if world.lock is not None else go()
        if name == "version":
            return go(version=world.version)
        if name == "derive":
            return go(derived=world.book)
        if name == "switch":
            return go(world=world._replace(maps=at(world.maps, device, proc.derived)))
        if name == "take":
            return go(world=world._replace(takes=at(world.takes, device, True),
                                           stamp=at(world.stamp, device, world.stamp[device] + 1)))
        if name == "moved":
            if self.without == "moved":
                return go()
            if world.lock is not None and self.without != "wait":
                return None
            if world.version == proc.version:
                return go()
            return go((("derive", device), ("switch", device)) + rest)
        assert name == "reply"
        return go(())

    def marks(self, world, i, go, proc):
        """Within the transaction: who is held is marked as changing, others as behind."""
        behind, changing, late = world.behind, world.changing, proc.late
        for d in (0, 1):
            if d in proc.held:
                if self.without != "changing":
                    changing = at(changing, d, True)
            elif d in proc.late:
                if self.without != "behind":
                    behind = at(behind, d, True)
            elif self.without != "news" and world.stamp[d] != proc.stamps[d] and world.takes[d]:
                behind = at(behind, d, True)
                late += (d,)
        return go((("commit",),), late=late,
                  world=world._replace(behind=behind, changing=changing))

    def killed(self, world, i):
        dead = world.procs[i]._replace(todo=(), kind="dead")
        return world._replace(procs=at(world.procs, i, dead), kills=world.kills + 1,
                              lock=None if world.lock == i else world.lock,
                              devices=tuple(None if d == i else d for d in world.devices))

    def wrong(self, world):
        """Devices that are not what the book says, when all is over: now, and once mended."""
        for d in (0, 1):
            if not world.takes[d]:
                continue
            if not world.kills and world.maps[d] != world.book:
                return "nobody was killed, and device %d is not what the book says" % d
            mended = world.book if world.behind[d] or world.changing[d] else world.maps[d]
            if mended != world.book:
                return "device %d is not mended by who opens it next" % d
        return None

    def lost(self, world):
        """A ban that was answered, and a device without it, which nobody has at hand."""
        for proc in world.procs:
            if proc.kind != "ban" or proc.todo or proc.key not in world.book:
                continue
            for d in (0, 1):
                if world.takes[d] and world.devices[d] is None and not world.behind[d] and \
                        not world.changing[d] and proc.key not in world.maps[d]:
                    return "ban %s was answered, and device %d has it not" % (proc.key, d)
        return None

    def explore(self, start):
        before = {start: None}
        queue = deque([start])
        ends = 0
        while queue:
            world = queue.popleft()
            fault = self.lost(world)
            is_end = True
            for i, proc in enumerate(world.procs):
                if not proc.todo:
                    continue
                after = self.step(world, i)
                others = [] if after is None else [after]
                is_end &= after is None
                if world.kills < KILLS:
                    others.append(self.killed(world, i))
                for other in others:
                    if other not in before:
                        before[other] = (world, i, proc.todo[0], other.kills > world.kills)
                        queue.append(other)
            if is_end:
                ends += 1
                if any(proc.todo for proc in world.procs):
                    fault = fault or "processes wait for each other"
                else:
                    fault = fault or self.wrong(world)
            if fault:
                return fault, self.trace(before, world), len(before), ends
        return None, (), len(before), ends

    @staticmethod
    def trace(before, world):
        steps = []
        while before[world]:
            world, i, op, is_kill = before[world]
            steps.append("%d %s%s" % (i, "killed before " if is_kill else "", " ".join(map(str, op))))
        return steps[::-1]


def main():
    without = sys.argv[1] if len(sys.argv) > 1 else None
    if without == "--steps":
        print("\n".join(STEPS))
        return 0
    if without and without not in STEPS:
        print("no such step:", without, file=sys.stderr)
        return 2
    machine = Machine(without)
    book = frozenset("a")
    # Two writers and one that begins to take bans; then one that is configured again beside a ban.
    worlds = (
        (machine.ban_start("b", True), machine.ban_start("a", False), machine.apply_start(1)),
        (machine.ban_start("b", True), machine.apply_start(0), machine.apply_start(1)),
    )
    n_states = n_ends = 0
    for procs in worlds:
        start = World(book, 0, (False, False), (False, False), (book, frozenset()), (True, False),
                      (0, 0), (None, None), None, procs, 0)
        fault, steps, n, ends = machine.explore(start)
        n_states += n
        n_ends += ends
        if fault:
            print(fault + ":", "; ".join(steps))
            return 1
    print("%d states, %d ends: all is as the book says" % (n_states, n_ends))
    return 0


if __name__ == "__main__":
    sys.exit(main())
