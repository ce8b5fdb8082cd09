"""Tests of scripts/setup with every outside program replaced by a small recording one."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

from run_check import SCRIPTS, CheckTest

PACKAGE_COUNT_MIN = 15
FAKES = {
    "id": "echo 0\n",
    "cargo": "echo 'cargo 1.95.0 (abc 2026-01-01)'\n",
    # Says `installed` for each package that is not named in the file `missing`.
    "dpkg-query": 'shift 2\nfor p in "$@"; do grep -qx -- "$p" "$FAKE/missing" || '
                  'echo "installed $p"; done\n',
    "apt-get": 'echo "apt-get $*" >>"$FAKE/calls"\n[ ! -e "$FAKE/apt_fails" ]\n',
}
REAL = ("bash", "dirname", "sed", "grep", "env", "nproc")


class SetupTest(CheckTest):
    def setUp(self):
        super().setUp()
        self.bin = self.root / "bin"
        self.bin.mkdir()
        for name in REAL:
            os.symlink(shutil.which(name), self.bin / name)
        for name, body in FAKES.items():
            self.fake(name, body)
        (self.root / "missing").write_text("")

    def fake(self, name, body):
        path = self.bin / name
        path.write_text("#!/usr/bin/env bash\n" + body)
        path.chmod(0o755)

    def setup_script(self, *arguments, **environment):
        return subprocess.run(
            [str(self.bin / "bash"), str(SCRIPTS / "setup"), *arguments],
            env={"PATH": str(self.bin), "FAKE": str(self.root), "HOME": str(self.root),
                 **environment},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, cwd="/")

    def calls(self):
        path = self.root / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def test_nothing_missing_does_nothing(self):
        done = self.setup_script()
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(self.calls(), [])

    def test_installs_what_is_missing_and_only_that(self):
        (self.root / "missing").write_text("mold\nlibfmt-dev\nclang-19\n")
        done = self.setup_script()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("installing 2 packages: mold libfmt-dev", done.stdout)
        self.assertEqual(len(self.calls()), 2)
        self.assertTrue(self.calls()[0].endswith(" update"))
        self.assertTrue(self.calls()[1].endswith(" --no-install-recommends mold libfmt-dev"))

    def test_deep_adds_clang(self):
        (self.root / "missing").write_text("clang-19\n")
        done = self.setup_script("deep")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(self.calls()[1].endswith(" clang-19"))

    def test_everything_missing(self):
        self.fake("dpkg-query", "exit 1\n")
        self.assertEqual(self.setup_script().returncode, 0)
        self.assertGreater(len(self.calls()[1].split()), PACKAGE_COUNT_MIN)

    def one_line(self, done, *expected):
        self.assertEqual(done.returncode, 1, done.stdout)
        line = done.stderr.strip().splitlines()[-1]
        for text in ("setup: ",) + expected:
            self.assertIn(text, line)

    def test_failures_say_what_to_do(self):
        (self.root / "missing").write_text("mold\n")
        (self.root / "apt_fails").write_text("")
        self.one_line(self.setup_script(), "apt-get update failed", "network")
        self.fake("id", "echo 1000\n")
        self.one_line(self.setup_script(), "no sudo", "apt-get install", "mold")
        self.fake("sudo", "exit 1\n")
        self.one_line(self.setup_script(), "sudo asks for a password", "mold")

    def test_sudo_is_used_when_not_root(self):
        (self.root / "missing").write_text("mold\n")
        self.fake("id", "echo 1000\n")
        self.fake("sudo", 'echo "sudo $*" >>"$FAKE/calls"\n')
        self.assertEqual(self.setup_script().returncode, 0)
        self.assertEqual([call.split()[0] for call in self.calls()], ["sudo"] * 3)

    def test_no_apt(self):
        (self.bin / "apt-get").unlink()
        self.one_line(self.setup_script(), "no apt here", "libfmt-dev", "REMIT_SETUP=skip")
        self.assertEqual(self.setup_script(REMIT_SETUP="skip").returncode, 0)

    def test_cargo(self):
        self.fake("cargo", "echo 'cargo 1.65.0'\n")
        self.one_line(self.setup_script(), "found cargo 1.65.0", "rustup update")
        (self.bin / "cargo").unlink()
        self.one_line(self.setup_script(), "no cargo", "rustup")

    def test_cargo_beside_path(self):
        beside = self.root / ".cargo" / "bin"
        beside.mkdir(parents=True)
        (self.bin / "cargo").rename(beside / "cargo")
        self.assertEqual(self.setup_script().returncode, 0)

    def test_unknown_set(self):
        self.one_line(self.setup_script("everything"), "usage")


if __name__ == "__main__":
    unittest.main()
