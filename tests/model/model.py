#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Stateful property test of baleen: random commands on a live device, held step by step
against a model that shares no code with it.

    BALEEN=path/to/baleen python3 model.py --steps N --seed S [--mode hand|kept|bare]
                                           [--kill P] [--daemon path/to/baleend]

Runs as root, in a mount namespace and two network namespaces of its own, with its own
bpffs and directories (BALEEN_CONF_DIR, BALEEN_STATE_DIR, BALEEN_RUN_DIR).

The model knows, of each rule: what its lists are, by spans of addresses; the single
entries with origin; qualifiers and order; the policy. After each command it asks
  - the live program, by BPF_PROG_TEST_RUN, for the ends of every span and beside them,
    in frames with VLANs, options, extension headers, fragments, other protocols;
  - the veth pair, with some of these frames sent for good;
  - `baleen why -j`: verdict, rule, whether each rule holds the address, `differs`;
  - `baleen match DEV:RULE` and `baleen dump DEV:RULE`;
  - `baleen status -j`: order, actions, policy, and each counter to the packet.
With --kill P a share P of the commands is killed (SIGKILL) at a random moment: what is
live then must be old or new for each address, and the same command again must bring the
new state.

Exit: 0 no disagreement; 1 one was found (seed, step, commands and the difference are
printed); 2 it could not run.
"""
import argparse
import ipaddress
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

from checks import Checks
from commands import Commands
from conf_steps import ConfSteps
from draw import Draw
from entry_steps import EntrySteps
from machine import HOST4, HOST6, RESOLVER, Machine
from rule_steps import RuleSteps
from rules import World
from sets import CannotRun, Disagreement, net_span


class Test(Draw, Checks, Commands, RuleSteps, EntrySteps, ConfSteps):
    def __init__(self, machine, rng, mode, options):
        self.m, self.rng, self.mode, self.options = machine, rng, mode, options
        self.world = World()
        self.world.withheld = [net_span(a) for a in (HOST4, HOST6, RESOLVER)]
        self.ident = 0
        self.counter = 0
        self.n = {"frames": 0, "sent": 0, "why": 0, "match": 0, "dump": 0, "status": 0,
                  "refused": 0, "guarded": 0, "killed": 0, "old": 0, "new": 0}
        self.ops = {}
        self.saved = None
        self.areas4 = [rng.randrange(11, 223) << 24 | rng.getrandbits(12) << 12
                       for _ in range(5)] + [int(ipaddress.ip_address("192.0.2.0")),
                                             int(ipaddress.ip_address("100.64.0.0"))]
        self.areas6 = [0x2a00 << 112 | rng.getrandbits(20) << 92 for _ in range(3)] + \
            [0x2001 << 112 | 0xdb8 << 96]
        self.conf = None            # kept mode: the configuration
        self.expected = None

    def step(self):
        rng = self.rng
        hand = [(12, self.op_add), (8, self.op_del), (3, self.op_flush), (6, self.op_feed),
                (2, self.op_import), (4, self.op_swap), (5, self.op_set), (2, self.op_resize),
                (5, self.op_rule_add), (3, self.op_rule_del), (3, self.op_rule_move),
                (4, self.op_policy), (2, self.op_save), (2, self.op_restore),
                (1, self.op_refresh), (1, self.op_detach), (1, self.op_attach)]
        if rng.random() < 0.02:
            hand = [(1, self.op_ttl)]
        if self.mode == "kept":
            if self.conf is None:
                self.op_apply()
            elif not self.world.attached:
                self.op_apply() if rng.random() < 0.5 else self.boot()
            else:
                kept = [(8, self.op_apply), (6, self.op_update), (2, self.op_reapply),
                        (14, self.op_add), (8, self.op_del), (3, self.op_flush),
                        (6, self.op_feed), (2, self.op_import), (1, self.op_swap),
                        (2, self.op_rule_add), (1, self.op_rule_move), (1, self.op_rule_del),
                        (1, self.op_policy), (1, self.op_refresh), (2, self.op_set),
                        (1, self.op_resize), (1, self.op_detach)]
                if rng.random() < 0.02:
                    kept = [(1, self.op_ttl), (1, self.op_unconfirmed)]
                if self.m.shadow and rng.random() < 0.15:
                    kept = [(1, self.op_power)]
                self.choose(kept)
        elif not self.world.attached:
            self.op_attach() if not self.saved or rng.random() < 0.7 else self.op_restore()
        else:
            self.choose(hand)
        self.check_frames()
        if self.mode != "bare" or rng.random() < 0.5:
            self.check_sent()
        kind = rng.random()
        if kind < 0.35:
            self.check_why()
        elif kind < 0.5:
            self.check_match()
        elif kind < 0.6:
            self.check_dump()
        if rng.random() < 0.5:
            self.check_status()

    def choose(self, table):
        total = sum(w for w, _ in table)
        at = self.rng.random() * total
        for weight, op in table:
            at -= weight
            if at < 0:
                op()
                return


def start_daemon(options, baleen, directory):
    return subprocess.Popen([options.daemon, "--listen", "off", "--command", baleen],
                            stdout=subprocess.DEVNULL,
                            stderr=open(os.path.join(directory, "baleend.log"), "a"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mode", choices=("hand", "kept", "bare"))
    parser.add_argument("--kill", type=float, default=0.0)
    parser.add_argument("--fault", type=float, default=0.0,
                        help="share of commands in which a call of the system fails")
    parser.add_argument("--shim", default="./shim.so", help="for --fault: LD_PRELOAD")
    parser.add_argument("--power", action="store_true", help="mode kept: power cuts, after which "
                        "only what was synced is on the disk")
    parser.add_argument("--soft", action="store_true",
                        help="only print what a failed command changed")
    parser.add_argument("--daemon")
    parser.add_argument("--tolerate", default="", help="known deviations, with commas between: "
                        "unsourced (what intersect and subtract leave as a feed fails in update), "
                        "resize (of a rule without state: IPv6 prefixes beside a quotient table go)")
    parser.add_argument("--kill-daemon", type=float, default=0.0,
                        help="share of steps before which baleend is killed and started again")
    parser.add_argument("--log", type=int, default=80, help="lines of the log at the end")
    parser.add_argument("--keep", action="store_true", help="keep the files")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    baleen = os.path.abspath(os.environ.get("BALEEN", "build/baleen"))
    if os.geteuid() or not os.access(baleen, os.X_OK):
        print("model.py: needs root, and BALEEN=path", file=sys.stderr)
        return 2
    mode = options.mode or ("hand", "kept", "bare")[options.seed % 3]
    directory = tempfile.mkdtemp(prefix="baleen-model.")
    daemon, test, step = None, None, 0
    try:
        machine = Machine(baleen, directory)
        if options.power:
            machine.shadow, machine.shim = os.path.join(directory, "shadow"), options.shim
            machine.shadow_reset()
        if options.daemon:
            daemon = start_daemon(options, baleen, directory)
            time.sleep(0.5)
        test = Test(machine, random.Random(options.seed), mode, options)
        chance = random.Random(options.seed)
        for step in range(1, options.steps + 1):
            machine.note("--- step %d" % step)
            if daemon and chance.random() < options.kill_daemon:
                if daemon.poll() is not None:
                    raise Disagreement("baleend has ended: %s" % daemon.returncode)
                daemon.kill()
                daemon.wait()
                time.sleep(chance.random() * 0.2)
                daemon = start_daemon(options, baleen, directory)
                test.n["daemons killed"] = test.n.get("daemons killed", 0) + 1
            test.step()
            if options.verbose and step % 50 == 0:
                print("step %d, %d commands, %d frames" % (step, machine.n_commands,
                                                           test.n["frames"]), flush=True)
        print("ok: seed %d, mode %s: %d steps, %d commands, %s; %s" % (
            options.seed, mode, options.steps, machine.n_commands,
            ", ".join("%d %s" % (v, k) for k, v in test.n.items() if v),
            ", ".join("%s %d" % i for i in sorted(test.ops.items()))))
        return 0
    except Disagreement as difference:
        print("DISAGREEMENT: seed %d, mode %s, step %d (after %d frames): %s" % (
            options.seed, mode, step, test.n["frames"] if test else 0, difference))
        print("the last commands:")
        print("\n".join(machine.log[-options.log:]))
        return 1
    except CannotRun as why:
        print("model.py: %s" % why, file=sys.stderr)
        return 2
    finally:
        if daemon:
            daemon.terminate()
            daemon.wait()
        if options.keep:
            print("files: " + directory)
        else:
            shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
