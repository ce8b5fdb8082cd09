#!/usr/bin/env python3
"""run_case.py must fail for a case that the compiler does not tell apart.

usage: run_case_test.py COMPILER
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUN_CASE = Path(__file__).resolve().parent / "run_case.py"
COMPILER = sys.argv.pop(1)

SOUND = """// refused: private
class Closed { int inside = 0; };
#ifdef REMIT_BAD
int read(const Closed& closed) { return closed.inside; }
#endif
"""


class RunCase(unittest.TestCase):
    def run_case(self, text):
        with tempfile.TemporaryDirectory() as folder:
            case = Path(folder) / "case.cc"
            case.write_text(text)
            done = subprocess.run([sys.executable, "-B", RUN_CASE, case, "--", COMPILER,
                                   "-fsyntax-only"], capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    def test_a_sound_case_passes(self):
        self.assertEqual(self.run_case(SOUND), (0, ""))

    def test_a_bad_variant_that_compiles_fails(self):
        status, words = self.run_case(SOUND.replace("class Closed {", "struct Closed {"))
        self.assertNotEqual(status, 0)
        self.assertIn("the bad variant compiles", words)

    def test_another_error_fails(self):
        status, words = self.run_case(SOUND.replace("closed.inside", "closed.outside"))
        self.assertNotEqual(status, 0)
        self.assertIn("refused, but not with", words)

    def test_a_good_variant_that_does_not_compile_fails(self):
        status, words = self.run_case(SOUND + "int f() { return }\n")
        self.assertNotEqual(status, 0)
        self.assertIn("the good variant does not compile", words)

    def test_a_case_without_a_pattern_fails(self):
        status, words = self.run_case("int x;\n")
        self.assertNotEqual(status, 0)
        self.assertIn("has no line", words)


if __name__ == "__main__":
    unittest.main()
