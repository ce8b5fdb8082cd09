"""Runs the commands of docs/is-my-executor-enforcing.md in a copy of the Python executor, and both its forms.

usage: guide_test.py BINARIES
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None


class GuideTest(unittest.TestCase):
    def test_the_commands_run(self):
        text = (ROOT / "docs" / "is-my-executor-enforcing.md").read_text()
        blocks = re.findall(r"^```\n((?:remit [^\n]*\n)+)```$", text, re.MULTILINE)
        # A model's endpoint is not at hand: tests/planner runs that command against one of its own.
        commands = [line for block in blocks for line in block.splitlines()
                    if not line.startswith("remit conform plan ")]
        self.assertEqual(len(commands), 5)
        with tempfile.TemporaryDirectory() as work:
            folder = Path(work) / "executor"
            shutil.copytree(ROOT / "examples" / "python_executor", folder)
            environment = {**os.environ, "PATH": f"{BINARIES}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
            for command in commands:
                with self.subTest(command=command):
                    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, timeout=120,
                                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("<testsuites", (folder / "conform.xml").read_text())
            self.assertIn("</html>", (folder / "conform.html").read_text())

    def test_the_numbers_are_those_of_the_pack(self):
        """The guide says how many faults there are, and so does the program."""
        listed = subprocess.run([BINARIES / "remit", "conform", "list"], capture_output=True, text=True, check=True)
        faults = re.search(r"(\d+) faults to catch", listed.stdout)[1]
        self.assertIn(f"{faults} faults", (ROOT / "docs" / "is-my-executor-enforcing.md").read_text())

    def test_the_drivers_are_as_short_as_it_says(self):
        for driver in ("python_executor/driver.py", "cpp_executor/driver.cc"):
            lines = (ROOT / "examples" / driver).read_text().splitlines()
            self.assertLess(len(lines), 100, driver)


class TwoFormsTest(unittest.TestCase):
    """One executor as people write it first and as it should be, in plain Python: the pack tells them apart."""

    def run_form(self, subject, code):
        ran = subprocess.run([BINARIES / "remit", "conform", "run", "--subject", ROOT / "examples" / "python_executor" /
                              subject, "--format", "json"], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                             timeout=280, check=False)
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        return json.loads(ran.stdout)["trials"]

    def test_nothing_is_wrong_with_the_good_one(self):
        self.assertEqual({trial["verdict"] for trial in self.run_form("subject.yaml", 0)}, {"passed"})

    def test_what_is_wrong_with_the_naive_one(self):
        trials = self.run_form("naive.yaml", 1)
        failed = {trial["case"] for trial in trials if trial["verdict"] == "failed"}
        # Each of them is a line of naive.py; its controls pass, so that these failures mean something.
        self.assertLessEqual({"missing-identity", "tool-name-case", "near-scope", "argument-smuggling",
                              "cross-tenant-alias", "policy-changed", "resolver-down", "existence-not-betrayed",
                              "approval-revoked", "duplicate-invocation", "evidence-down", "legacy-row"}, failed)
        self.assertEqual({trial["verdict"] for trial in trials if trial["case"] == "allowed"}, {"passed"})
        self.assertNotIn("harness fault", {trial["verdict"] for trial in trials})


if __name__ == "__main__":
    unittest.main()
