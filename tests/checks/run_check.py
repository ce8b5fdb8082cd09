"""Runs a check of scripts/ on a small tree made for one test."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent.parent / "scripts"


class CheckTest(unittest.TestCase):
    """A test of one check: `check` names it, `tree` lays out files, `run_check` runs it there."""

    check = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="remit check ")  # a blank, on purpose
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def tree(self, files):
        for path, text in files.items():
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(text, bytes):
                target.write_bytes(text)
            else:
                target.write_text(text)

    def run_check(self, *options):
        return subprocess.run(
            [sys.executable, "-B", str(SCRIPTS / self.check), *options, str(self.root)],
            capture_output=True, text=True, check=False)

    def assert_passes(self, files):
        self.tree(files)
        done = self.run_check()
        self.assertEqual(done.returncode, 0, done.stderr)

    def assert_fails(self, files, *expected):
        self.tree(files)
        done = self.run_check()
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for text in expected:
            self.assertIn(text, done.stderr)
