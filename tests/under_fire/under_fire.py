#!/usr/bin/env python3
"""Once, under fire: kill -9, sleep and lost databases at every step between intent and reply.

usage: under_fire.py BINARIES [--trials N] [--seed N] [--world N] [--lanes N] [--every-step] [--keep FOLDER]
                     [--broken HOW | --can-fail]

Real processes, SQLite and PostgreSQL. Effects are counted at the tool, by a server that writes them down: never two
for one key or one row, and what ledger, queue, evidence and replies say in the end is what was done. Trials come in
worlds of 20; what a world does follows from the seed and its number, so that `--seed S --world W` does it again, as
far as processes that race can.

--every-step  fail unless every step was found at least once when a process was killed
--broken HOW  no-keys: the catalogue knows no keys; twice: the tool has each effect twice; forgetful: the ledger loses
              its claims after each trial; no-fire: nothing is stopped
--can-fail    whether each of these is found
--keep FOLDER the worlds with faults are copied there

500 trials, or 10,000 with REMIT_NIGHTLY=1, which fail as well unless every step was found.
"""

import argparse
import collections
import contextlib
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import trials  # noqa: E402 (the path must be set first)
from databases import Postgres, PostgresServer, Sqlite  # noqa: E402
from world import Session, Stop, World, told  # noqa: E402

TRIALS_OF_A_WORLD = 20
KINDS = {"calls": trials.Calls, "work": trials.Work, "approved": trials.Approved}
# What the worlds of each database are about, in turn.
MIXTURE = ["calls", "work", "work", "calls", "approved", "work", "calls"]
# What each way of being broken has to be found as.
BROKEN = {"no-keys": "two effects of one key", "twice": "two effects of one key",
          "forgetful": "two effects of one key", "no-fire": "never found when a process was killed"}
MOST_FAULTS_SHOWN = 40
HARMLESS = ("passed", "undetermined", "not_exercised")


def a_folder():
    memory = "/dev/shm"  # thousands of syncs: what dies here is a process, and the kernel keeps what it wrote
    return tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None)


class Report:
    """What all lanes found; shared, so under a lock."""

    def __init__(self, say):
        self.say = say  # at once: the night is long
        self.lock = threading.Lock()
        self.trials = self.killed = self.effects = self.worlds = 0
        self.steps = collections.Counter()
        self.fates = collections.Counter()
        self.told = collections.Counter()
        self.faults = []

    def add_trial(self, database, found):
        with self.lock:
            self.trials += 1
            self.killed += found.was_killed
            self.fates[found.fate] += 1
            self.told.update(found.told)
            if found.was_killed:
                self.steps[(database, found.step)] += 1

    def add_world(self, effects, faults):
        with self.lock:
            self.worlds += 1
            self.effects += effects
            for fault in faults:
                self.add_fault(fault)

    def add_fault(self, fault):
        self.faults.append(fault)
        if len(self.faults) <= MOST_FAULTS_SHOWN:
            self.say(f"FAULT: {fault}")

    def missing_steps(self, databases):
        """Steps that no killed process was found in: on one of the databases, or with one of the tools."""
        tools = {"pay": {*trials.CALL_STEPS, *trials.WORK_STEPS}, "note": {*trials.PLAIN_STEPS}}
        for step in sorted(tools["pay"] | tools["note"]):
            for database in databases:
                if not any(self.steps[(database, f"{tool}: {step}")] for tool in tools):
                    yield f"{step}, on {database}"
            for tool, steps in tools.items():
                if step in steps and not any(self.steps[(database, f"{tool}: {step}")] for database in databases):
                    yield f"{step}, with {tool}"

    def show(self, databases, seconds):
        print(f"{self.trials} trials in {self.worlds} worlds, {self.killed} of them killed, {self.effects} effects, "
              f"{seconds:.0f} s")
        print("fates: " + ", ".join(f"{fate} {count}" for fate, count in sorted(self.fates.items())))
        print("told: " + ", ".join(f"{words} {count}" for words, count in sorted(self.told.items())))
        print("found when killed" + "".join(f"{database:>12}" for database in databases))
        for step in sorted({step for _, step in self.steps}):
            print(f"  {step:24}" + "".join(f"{self.steps[(database, step)]:>12}" for database in databases))


def measure(binaries, database_for):
    """How many calls that count a process makes from its first step of interest to its end."""
    lengths = {}
    with a_folder() as place:
        world = World(place, binaries, database_for(place))
        session = Session(world, Stop(0, "count", trials.AFTER_CALL))
        numbers = session.call("pay", "o", ["k"])
        session.read_until(lambda: session.has_answered(numbers))
        assert told(session.answers[numbers[0]]) == "done", session.answers
        session.end()
        lengths[f"calls {world.database.name}"] = int((world.folder / "count").read_text())
        world.enqueue("pay", "p")
        work = trials.Work(world, random.Random(0), {f"work {world.database.name}": 0}, None)
        _, worker = work.worker(Stop(0, "count", trials.AFTER_RUN))
        assert worker.wait() == 0
        lengths[f"work {world.database.name}"] = int((world.folder / "count").read_text())
        world.database.close()
    assert min(lengths.values()) > 10, f"the program is not stopped: {lengths}"
    return lengths


def grade_of(world):
    """The evidence as a whole, once its writers are gone: it verifies, and accuses nobody."""
    verified = world.remit("evidence", "verify", "evidence")
    if verified.returncode != 0:
        yield f"the evidence does not verify: {verified.stdout}{verified.stderr}"
    ran = world.remit("grade", "evidence", "--contract", "queued", "--format", "json")
    if not ran.stdout:
        yield f"no grade: {ran.stderr}"
        return
    grade = json.loads(ran.stdout)
    for name in ("enforcement", "execution"):
        value = grade["verdicts"][name]["value"]
        if value not in HARMLESS:
            codes = sorted({finding["code"] for finding in grade["findings"]})
            yield f"the grade of {name} is {value}: {', '.join(codes)}"


def no_plain_files(folder, names):
    """Sockets and pipes of those names, of which there are no copies."""
    return [name for name in names if not (Path(folder, name).is_file() or Path(folder, name).is_dir())]


class Lane:
    """One world after another, with one PostgreSQL server for all of them."""

    def __init__(self, options, report, number):
        self.options = options
        self.report = report
        self.lengths = {}
        self.number = number
        self.server = None

    def database_for(self, name, place):
        return Sqlite(place) if name == "sqlite" else Postgres(self.server)

    def run(self, worlds):
        try:
            if "postgres" in self.options.databases:
                self.server = PostgresServer()
            for name in self.options.databases:
                self.lengths.update(measure(self.options.binaries, lambda place: self.database_for(name, place)))
            for number in worlds:
                self.run_world(number)
        except Exception as error:  # noqa: BLE001 (a lane that breaks is a fault of its own, told with its place)
            self.report.add_world(0, [f"lane {self.number} broke: {error!r}\n{traceback.format_exc()}"])
        finally:
            if self.server is not None:
                self.server.close()

    @contextlib.contextmanager
    def kept_if_wrong(self, place, number, faults):
        """Copies the world where it has faults, or could not be judged: its seed alone repeats no race."""
        is_right = False
        try:
            yield
            is_right = not faults
        finally:
            if not is_right and self.options.keep:
                shutil.copytree(place, f"{self.options.keep}/world-{number}", dirs_exist_ok=True, ignore=no_plain_files)

    def run_world(self, number):
        options = self.options
        chance = random.Random(f"{options.seed}.{number}")
        name = options.databases[number % len(options.databases)]
        kind = MIXTURE[number // len(options.databases) % len(MIXTURE)]
        count = min(TRIALS_OF_A_WORLD, options.trials - number * TRIALS_OF_A_WORLD)
        faults = []
        with a_folder() as place, self.kept_if_wrong(place, number, faults):
            world = World(place, options.binaries, self.database_for(name, place), options.broken)
            with contextlib.closing(world.database), contextlib.closing(
                    KINDS[kind](world, chance, self.lengths, options.broken)) as trial:
                for step in range(count):
                    self.report.add_trial(name, trial.trial(step))
                faults += trial.settle()
                faults += trials.check_claims(world)
                faults += trials.check_evidence(world)
                faults += grade_of(world)
                effects = sum(trials.effects_of(world).values())
        self.report.add_world(effects, [f"world {number} ({kind}, {name}): {fault}; again by --seed {options.seed} "
                                        f"--world {number}" for fault in faults])


def read_options():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("binaries", type=lambda text: Path(text).resolve())
    parser.add_argument("--trials", type=int, default=10_000 if os.environ.get("REMIT_NIGHTLY") == "1" else 500)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("REMIT_FIRE_SEED", "0")) or
                        random.SystemRandom().randrange(1, 1 << 31))
    parser.add_argument("--world", type=int)
    parser.add_argument("--lanes", type=int, default=2)
    parser.add_argument("--broken", choices=list(BROKEN))
    parser.add_argument("--can-fail", action="store_true")
    parser.add_argument("--every-step", action="store_true")
    parser.add_argument("--keep")
    options = parser.parse_args()
    options.databases = ["sqlite", "postgres"] if PostgresServer.is_installed() else ["sqlite"]
    options.every_step = options.every_step or options.trials >= 10_000
    if options.world is not None:
        options.trials = max(options.trials, (options.world + 1) * TRIALS_OF_A_WORLD)
    return options


def run(options, say):
    worlds = [options.world] if options.world is not None else range(-(-options.trials // TRIALS_OF_A_WORLD))
    report = Report(say)
    waiting = iter(worlds)
    lock = threading.Lock()

    def next_worlds():
        while True:
            with lock:
                number = next(waiting, None)
            if number is None:
                return
            yield number

    lanes = [Lane(options, report, number) for number in range(min(options.lanes, len(worlds)))]
    threads = [threading.Thread(target=lane.run, args=(next_worlds(),)) for lane in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if options.every_step:
        for step in report.missing_steps(options.databases):
            report.add_fault(f"never found when a process was killed: {step}")
    return report


def can_fail(options):
    """Each way of being broken is found, and for what it is."""
    options.databases, options.world, options.trials = ["sqlite"], 0, 10
    missed = 0
    for options.broken, words in BROKEN.items():
        options.every_step = options.broken == "no-fire"
        report = run(options, lambda _: None)
        found = [fault for fault in report.faults if words in fault]
        missed += not found
        print(f"{options.broken}: {found[0] if found else f'NOT FOUND among {report.faults}'}")
    return 1 if missed else 0


def main():
    options = read_options()
    print(f"seed {options.seed}", flush=True)
    if options.can_fail:
        return can_fail(options)
    if options.databases == ["sqlite"]:
        print("PostgreSQL: not run, it is not installed (scripts/setup installs it)")
    began = time.monotonic()
    report = run(options, lambda words: print(words, flush=True))
    report.show(options.databases, time.monotonic() - began)
    print(f"{len(report.faults)} faults")
    return 1 if report.faults else 0


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
