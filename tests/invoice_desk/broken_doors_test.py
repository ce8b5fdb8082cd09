"""The pack finds a door of the invoice desk that is broken on purpose, and nothing at the others.

usage: broken_doors_test.py BINARIES
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None
PATIENCE = 300  # seconds for one run; it takes a few
CASES = ["allowed", "wrong-tenant", "policy-changed", "missing-identity"]


def conform(door, route):
    """Exit code of a run over one route of the desk with that door broken, and its trials by case."""
    with tempfile.TemporaryDirectory() as place:
        subject = Path(place) / "subject.yaml"
        command = json.dumps([str(BINARIES / "broken_door"), door])
        subject.write_text("subject: remit.subject/1\nname: desk\nwithout: [fan_out]\n"
                           f"driver: {{command: {command}, deadline_ms: 60000}}\n")
        ran = subprocess.run(
            [BINARIES / "remit", "conform", "run", "--subject", subject, "--routes", route, "--format", "json",
             *(word for case in CASES for word in ("--case", case))],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert ran.returncode in (0, 1, 2), ran.stderr
    trials = json.loads(ran.stdout)["trials"]
    return ran.returncode, {each["case"]: each for each in trials if each["route"] == route}


def what(trial):
    return {each["what"] for each in trial["mismatches"]}


class BrokenDoors(unittest.TestCase):
    def test_an_old_handler_that_nobody_adapted(self):
        code, trials = conform("legacy", "legacy")
        self.assertEqual(code, 1)
        self.assertEqual(trials["wrong-tenant"]["verdict"], "failed")
        self.assertLessEqual({"caller_saw", "effects", "unattributed_effect"}, what(trials["wrong-tenant"]))
        self.assertEqual(trials["missing-identity"]["verdict"], "failed")

    def test_a_command_line_that_has_the_books(self):
        code, trials = conform("admin", "admin")
        self.assertEqual(code, 1)
        self.assertLessEqual({"caller_saw", "effects"}, what(trials["missing-identity"]))

    def test_code_that_keeps_a_yes(self):
        # Every call is decided, but for those after the first yes for a tool.
        code, trials = conform("direct", "direct")
        self.assertEqual(code, 1)
        failed = {case for case, trial in trials.items() if trial["verdict"] == "failed"}
        self.assertTrue(failed, trials)

    def test_the_other_doors_of_the_same_desk_hold(self):
        for door, route in (("legacy", "direct"), ("admin", "legacy"), ("legacy", "agent")):
            with self.subTest(broken=door, route=route):
                code, trials = conform(door, route)
                self.assertEqual((code, {trial["verdict"] for trial in trials.values()}), (0, {"passed"}))


if __name__ == "__main__":
    unittest.main()
