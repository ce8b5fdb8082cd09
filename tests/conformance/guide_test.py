"""Runs the commands of docs/is-my-executor-enforcing.md in a copy of the Python executor.

usage: guide_test.py BINARIES
"""

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


if __name__ == "__main__":
    unittest.main()
