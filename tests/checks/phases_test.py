"""Tests of scripts/phases.sh: a failing phase ends the script, whatever stands around it."""

import subprocess
import unittest

from run_check import SCRIPTS

PROLOGUE = f"set -euo pipefail\n. '{SCRIPTS}/phases.sh'\n"


def run(body):
    return subprocess.run(["bash", "-c", PROLOGUE + body], capture_output=True, text=True,
                          check=False)


class PhasesTest(unittest.TestCase):
    def test_a_phase_that_passes(self):
        done = run("phase build echo built\necho after\n")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "== build\nbuilt\n== build: 0 s\nafter\n")

    def test_a_failure_inside_a_function_ends_the_script(self):
        done = run("f() { false; echo unreached; }\nphase first true\nphase build f\necho after\n")
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("unreached", done.stdout)
        self.assertNotIn("after\n", done.stdout)
        self.assertIn("== build: failed after 0 s", done.stderr)

    def test_the_exit_code_is_kept(self):
        self.assertEqual(run("f() { return 7; }\nphase build f\n").returncode, 7)

    def test_an_unknown_stage_of_ci_fails(self):
        done = subprocess.run([str(SCRIPTS.parent / ".ci" / "run"), "no_such_stage"],
                              capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
