"""A day at the invoice desk: its doors are those that its bundle lists, and one that is left out is found.

usage: doors_test.py BINARIES
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DESK = ROOT / "examples" / "invoice_desk"
BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None
PATIENCE = 300  # seconds for one program; a day takes a few
ROUTES = ["direct", "queued", "retry", "agent", "admin", "scheduled", "legacy"]


def day(place, **surroundings):
    """Plays a day in `place`; its exit code and what it printed."""
    ran = subprocess.run([DESK / "doors", BINARIES, place], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         check=False, timeout=PATIENCE, env={**os.environ, **surroundings})
    return ran.returncode, ran.stdout + ran.stderr


def bundle_without(route, place):
    bundle = Path(place) / f"without-{route}"
    shutil.copytree(DESK / "bundle", bundle)
    lines = (bundle / "bundle.yaml").read_text().splitlines(keepends=True)
    (bundle / "bundle.yaml").write_text("".join(line for line in lines if f"name: {route}," not in line))
    subprocess.run(["chmod", "-R", "go-w", bundle], check=True)
    return bundle


class Doors(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name)

    def check(self, bundle):
        ran = subprocess.run([BINARIES / "remit", "routes", "check", "evidence", "effects.jsonl", "--bundle", bundle,
                              "--require-observer", "--format", "json"], cwd=self.place / "day",
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                             timeout=PATIENCE)
        return ran.returncode, json.loads(ran.stdout)

    def test_a_directory_that_is_none(self):
        for script in ("doors", "story"):
            ran = subprocess.run([DESK / script, self.place / "nope"], stdin=subprocess.DEVNULL, capture_output=True,
                                 text=True, check=False, timeout=PATIENCE)
            self.assertEqual(ran.returncode, 64, ran.stderr)
            self.assertIn("is no directory to enter", ran.stderr)

    def test_all_seven_are_used_and_listed(self):
        # REQ-RO-050
        code, text = day(self.place / "day")
        self.assertEqual(code, 0, text)
        code, routes = self.check(self.place / "day" / "bundle")
        self.assertEqual((code, routes["verdict"]), (0, "passed"))
        # One that was used and is not in the inventory, whichever it is, is found.
        for route in ROUTES:
            with self.subTest(route=route):
                code, routes = self.check(bundle_without(route, self.place))
                self.assertEqual((code, routes["verdict"]), (1, "failed"))
                self.assertTrue(any(f'"{route}"' in sentence for sentence in routes["failed"]), routes["failed"])

    def test_one_that_nobody_uses_is_not_exercised(self):
        # REQ-RO-052
        code, text = day(self.place / "day", DOORS_WITHOUT="legacy")
        self.assertEqual(code, 2, text)
        self.assertIn('no decided call came by the route "legacy"', text)

    def test_an_old_api_that_nobody_adapted_has_effects_that_no_decision_explains(self):
        # REQ-RO-013, REQ-RO-050
        code, text = day(self.place / "day", DOORS_OLD_API=f"{BINARIES / 'broken_door'} old-api desk.db")
        self.assertEqual(code, 1, text)
        code, routes = self.check(self.place / "day" / "bundle")
        self.assertEqual((code, routes["verdict"]), (1, "failed"))
        self.assertTrue(any("effect" in sentence for sentence in routes["failed"]), routes["failed"])


if __name__ == "__main__":
    os.umask(0o022)
    unittest.main()
