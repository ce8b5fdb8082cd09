"""The airline of examples/airline: what its policy says of calls, and the benchmark's recorded runs through it.

usage: airline_test.py BINARIES

REMIT_NIGHTLY=1 replays all 200 recorded runs, else those of one trial in four.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "examples" / "airline"), str(Path(__file__).resolve().parent)]
import agreement  # noqa: E402 (the path must be set first)
import make_world  # noqa: E402
import small_world  # noqa: E402

BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None
DATA = Path(os.environ.get("REMIT_SHARED_DATA", ROOT.parent / "shared" / "data")) / "tau-bench-airline"
IS_NIGHTLY = os.environ.get("REMIT_NIGHTLY") == "1"
NOW = "2024-05-15T20:00:00Z"  # 15:00 EST
REFERRING = {name for name in (
    "get_user_details", "get_reservation_details", "book_reservation", "update_reservation_flights",
    "update_reservation_baggages", "update_reservation_passengers", "cancel_reservation", "send_certificate")}
TOO_SLOW = {"resolver_unavailable", "permit_expired", "deadline_exceeded"}


def remit(*words, cwd=None, code=0):
    done = subprocess.run([BINARIES / "remit", *map(str, words)], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == code, f"exit code {done.returncode} of {words}\n{done.stdout}\n{done.stderr}"
    return done


def calls_of(report):
    return [call for run in report["runs"] for call in run["calls"]]


def patient(catalogue):
    """The same, with permits that a slow disk does not make late."""
    catalogue = re.sub(r"- \{name: (\w+),", r"- {name: \1, permit_lifetime_ms: 60000,", catalogue)
    return re.sub(r"- name: (\w+)\n", r"- name: \1\n    permit_lifetime_ms: 60000\n", catalogue)


def replay(world, callers, runs, *words, at=NOW):
    """The report. A machine that took longer than deadlines allow is asked again, by a world that is made anew."""
    for attempt in range(5):
        for name in ("evidence", "spy.jsonl"):
            subprocess.run(["rm", "-rf", world / name], check=True)
        done = remit("replay", "--config", world / "remit.yaml", "--callers", world / callers, "--at", at,
                     "--format", "json", *words, runs, "--", "cp", "fresh.db", "airline.db")
        assert "the clock is set" in done.stderr, done.stderr
        report = json.loads(done.stdout)
        if not any({call.get("reason"), call.get("error_type")} & TOO_SLOW for call in calls_of(report)):
            return report
    raise AssertionError("the machine is too slow for the boundary's deadlines")


def passed_by_strangers(report):
    return [call for call in calls_of(report) if call["tool"] in REFERRING and call["decision"] != "deny"]


def denials_of(report):
    return {(each["tool"], each["reason"], each["policies"]): each["calls"] for each in report["denials"]}


class Airline(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def world(self, name, data):
        make_world.make(data, self.folder / name)
        catalogue = self.folder / name / "bundle" / "catalogue.yaml"
        catalogue.write_text(patient(catalogue.read_text()))
        return self.folder / name

    def check_record(self, world, report):
        """The evidence is sound, and what the spy saw is what was allowed, call by call."""
        grade = json.loads(remit("grade", world / "evidence", world / "spy.jsonl", "--format", "json").stdout)
        self.assertEqual({name: verdict["value"] for name, verdict in grade["verdicts"].items()},
                         {"planning": "not_exercised", "enforcement": "passed", "execution": "passed",
                          "completeness": "passed"})
        self.assertEqual(grade["population"]["invocations"], len(calls_of(report)))
        spy = world / "spy.jsonl"
        seen = [json.loads(line) for line in spy.read_text().splitlines()] if spy.exists() else []
        self.assertEqual(sorted(one["invocation_id"] for one in seen),
                         sorted(call["invocation_id"] for call in calls_of(report) if call["decision"] == "allow"))
        self.assertEqual(report["unrecorded"], 0)

    def small(self, name):
        if not (self.folder / "data").exists():
            small_world.write(self.folder / "data")
        return self.world(name, self.folder / "data")

    def small_runs(self):
        return [word for number in range(len(small_world.DECISIONS))
                for word in ("--only", f"trajectories/task-{number}/trial-0")]

    def test_the_policy_says_of_calls_what_the_airlines_own_does(self):
        world = self.small("world")
        report = replay(world, "callers.yaml", self.folder / "data" / "trajectories.json", *self.small_runs())
        for (who, expected), run in zip(small_world.DECISIONS, report["runs"], strict=True):
            self.assertEqual(run["principal"], who)
            for (call, outcome), seen in zip(expected, run["calls"], strict=True):
                found = ((seen["decision"], seen["outcome"]) if seen["decision"] == "allow"
                         else (seen["decision"], seen["reason"], *sorted(seen["policies"])))
                self.assertEqual(found, outcome, call)
        self.check_record(world, report)

    def test_a_fresh_booking_may_be_cancelled_for_a_day(self):  # REQ-RY-022
        world = self.small("world")
        call = small_world.called("cancel_reservation", {"reservation_id": "FRESHA"})
        (self.folder / "chat.json").write_text(json.dumps({"id": "r", "messages": [call]}))
        (world / "who.yaml").write_text("callers: remit.callers/1\nruns: [{run: chat/r, principal: ana}]\n")
        for at, decision in (("2024-05-15T20:00:01Z", "deny"), ("2024-05-15T19:30:00Z", "allow")):
            report = replay(world, "who.yaml", self.folder / "chat.json", at=at)
            self.assertEqual([one["decision"] for one in calls_of(report)], [decision], at)
        shown = remit("evidence", "show", world / "evidence").stdout
        self.assertIn('"time":"2024-05-15T19:3', shown)
        self.assertIn('"environment":"replay"', shown)

    def test_each_run_has_a_world_of_its_own(self):  # REQ-RY-020, REQ-RY-021
        world = self.small("world")
        runs = [{"id": name, "messages": [small_world.called(*small_world.cancel("INSURA")),
                                          small_world.called(*small_world.flights(
                                              "BASICA", "economy", small_world.TWO)),
                                          small_world.called(*small_world.flights(
                                              "BASICA", "economy", small_world.TWO[:1]))]} for name in ("a", "b")]
        (self.folder / "chat.jsonl").write_text("".join(json.dumps(run) + "\n" for run in runs))
        (world / "who.yaml").write_text("callers: remit.callers/1\nruns: [{run: chat/a, principal: ana},"
                                        " {run: chat/b, principal: ana, label: second}]\n")
        anew = replay(world, "who.yaml", self.folder / "chat.jsonl")
        self.assertEqual([call["outcome"] for call in calls_of(anew)], ["succeeded"] * 6)
        self.assertEqual([(row["label"], row["runs"]) for row in anew["labels"]], [("", 1), ("second", 1)])

    def test_a_tool_that_is_not_as_pinned_is_unknown(self):  # REQ-RY-023
        world = self.small("world")
        pinned = world / "bundle" / "schemas" / "think.json"
        pinned.write_text(pinned.read_text().replace('"type": "object"', '"title": "t", "type": "object"', 1))
        report = replay(world, "callers.yaml", self.folder / "data" / "trajectories.json", *self.small_runs()[:2])
        reasons = {call["tool"]: call.get("reason") for call in calls_of(report)}
        self.assertEqual((reasons["think"], reasons["calculate"]), ("unknown_tool", None))

    def test_shadow_mode_lets_calls_through_and_says_so(self):  # REQ-RY-031
        world = self.small("world")
        bundle = world / "bundle" / "bundle.yaml"
        bundle.write_text(bundle.read_text().replace("mode: enforce", "mode: shadow"))
        runs = self.folder / "data" / "trajectories.json"
        report = replay(world, "callers.yaml", runs, "--only", "trajectories/task-4/trial-0")
        calls = calls_of(report)
        self.assertEqual([call["decision"] for call in calls], ["allow"] * len(calls))
        self.assertEqual(report["totals"]["would_deny"],
                         sum(outcome[0] == "deny" for _, outcome in small_world.DECISIONS[4][1]))
        self.assertEqual(report["unrecorded"], 0)

    def test_what_cannot_be_replayed_is_refused(self):  # REQ-RY-001, REQ-RY-010, REQ-RY-020, REQ-RY-032
        world = self.small("world")
        runs = self.folder / "data" / "trajectories.json"
        whole = ("replay", "--config", world / "remit.yaml", "--callers")
        only = ("--only", "trajectories/task-0/trial-0")
        (world / "nobody.yaml").write_text("callers: remit.callers/1\nruns: []\n")
        (self.folder / "silent.json").write_text('{"id": "r", "messages": []}')
        (world / "silent.yaml").write_text("callers: remit.callers/1\nruns: [{run: silent/r, principal: ana}]\n")
        (self.folder / "twice.jsonl").write_text('{"id": "r", "messages": []}\n' * 2)
        (world / "twice.yaml").write_text("callers: remit.callers/1\nruns: [{run: twice/r, principal: ana}]\n")
        cases = [
            ((*whole, world / "nobody.yaml", *only, runs), 64, "does not say who calls in the run"),
            ((*whole, world / "callers.yaml", "--only", "x", runs), 65, 'no input has the run "x"'),
            ((*whole, world / "twice.yaml", self.folder / "twice.jsonl"), 65, "two runs have the id"),
            ((*whole, world / "callers.yaml", *only, runs, "--", "false"), 65, "exited with status 1"),
            ((*whole, world / "callers.yaml", *only, runs, "--", "no-such-program"), 65, "no-such-program"),
            ((*whole, world / "callers.yaml", "--route", "back", *only, runs), 65, 'no route "back"'),
            ((*whole, world / "silent.yaml", self.folder / "silent.json"), 2, ""),
        ]
        for words, code, message in cases:
            self.assertIn(message, remit(*words, code=code).stderr)

    def test_a_server_that_ends_ends_the_replay(self):  # REQ-RY-020
        world = self.small("world")
        config = json.loads((world / "remit.yaml").read_text())
        config["upstreams"][0]["stdio"]["command"] = ["true"]
        (world / "remit.yaml").write_text(json.dumps(config))
        done = remit("replay", "--config", world / "remit.yaml", "--callers", world / "callers.yaml", "--only",
                     "trajectories/task-0/trial-0", self.folder / "data" / "trajectories.json", code=65)
        self.assertIn("airline", done.stderr)

    def test_a_policy_without_owners_is_found_out(self):
        """The search for calls that strangers get through can fail."""
        world = self.small("world")
        customers = world / "bundle" / "policies" / "customers.cedar"
        text = customers.read_text()
        customers.write_text(text[:text.index("// Profiles, reservations and payment methods alike.")])
        runs = self.folder / "data" / "trajectories.json"
        self.assertNotEqual(passed_by_strangers(replay(world, "swapped.yaml", runs, *self.small_runs())), [])

    def test_the_recorded_runs(self):
        if not DATA.parent.exists():
            print("not run, no shared data")
            self.skipTest("no shared data")
        runs = DATA / "trajectories.json"
        recorded = json.loads(runs.read_text())
        only = [] if IS_NIGHTLY else [word for run in recorded if run["trial"] == 0 for word in
                                      ("--only", f"trajectories/task-{run['task_id']}/trial-0")]
        worlds = {name: self.world(name, DATA) for name in ("own", "swapped", "expected")}
        with ThreadPoolExecutor(3) as pool:
            own = pool.submit(replay, worlds["own"], "callers.yaml", runs, *only)
            swapped = pool.submit(replay, worlds["swapped"], "swapped.yaml", runs, *only)
            wanted = pool.submit(replay, worlds["expected"], "check.yaml", worlds["expected"] / "expected.jsonl")
            own, swapped, wanted = own.result(), swapped.result(), wanted.result()
        for name, report in (("own", own), ("swapped", swapped), ("expected", wanted)):
            self.check_record(worlds[name], report)
        self.check_own(own, recorded)
        self.check_swapped(swapped, own)
        self.check_expected(wanted)

    def check_own(self, report, recorded):
        basic = ("update_reservation_flights", "forbidden", "basic-economy-keeps-its-flights")
        card = ("update_reservation_flights", "forbidden", "changed-flights-are-paid-by-card")
        cancelled = ("cancel_reservation", "forbidden", "cancel-by-age-cabin-or-insurance")
        unknown_method = ("update_reservation_flights", "resource_not_found", "")
        counts, against = agreement.agreement(recorded, report)
        figures = (report["totals"]["calls"], report["totals"]["denied"], denials_of(report), counts, against)
        task = "trajectories/task-34/trial-"
        if IS_NIGHTLY:
            self.assertEqual(figures, (1164, 48, {
                basic: 17, card: 4, cancelled: 16, unknown_method: 4, ("book_reservation", "invalid_arguments", ""): 6,
                ("book_reservation", "resource_not_found", ""): 1}, {
                1.0: dict(zip(agreement.KINDS, (76, 5, 3))), 0.0: dict(zip(agreement.KINDS, (92, 4, 20)))},
                [task + "0", task + "1", task + "3"]))
        else:
            self.assertEqual(figures, (282, 13, {basic: 8, card: 1, cancelled: 3, unknown_method: 1}, {
                1.0: dict(zip(agreement.KINDS, (19, 1, 1))), 0.0: dict(zip(agreement.KINDS, (24, 1, 4)))},
                [task + "0"]))
        print(f"tau-bench-airline: {report['runs_replayed']} runs judged: {figures[0]} calls, {figures[1]} denied")

    def check_swapped(self, report, own):
        self.assertEqual(len(report["runs"]), len(own["runs"]))
        for mine, theirs in zip(own["runs"], report["runs"]):
            self.assertNotEqual(mine["principal"], theirs["principal"])
        self.assertEqual(passed_by_strangers(report), [])
        asked = sum(call["tool"] in REFERRING for call in calls_of(report))
        self.assertEqual(report["totals"]["denied"], asked)
        print(f"tau-bench-airline, callers swapped: {asked} judged: all denied")

    def check_expected(self, report):
        """What the benchmark expects is allowed, but for two cancellations that the airline's policy text forbids,
        and a change of flights after a change of cabin whose fare no recorded run shows."""
        denied = [(run["run_id"], number) for run in report["runs"] for number, call in enumerate(run["calls"], 1)
                  if call["decision"] == "deny"]
        self.assertEqual(denied, [("expected/task-10", 1), ("expected/task-22", 5), ("expected/task-34", 6)])
        print(f"tau-bench-airline, expected calls: {report['totals']['calls']} judged: {len(denied)} denied")


if __name__ == "__main__":
    os.umask(0o077)
    unittest.main()
