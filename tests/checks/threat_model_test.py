"""Tests of scripts/check_threat_model."""

import unittest

from run_check import CheckTest

PAGE = "docs/threat-model.md"
HEAD = "| Attack | What happens | Shown by |\n|---|---|---|\n"
TESTS = {
    "src/a/a_test.cc": "TEST(Suite, Name) {}\nTEST_F(Fixture,\n       Other) {}\n",
    "tests/b/b_test.py": "class T(unittest.TestCase):\n    def test_one(self):\n        pass\n",
    "conformance/v1/cases/c.yaml": "c\n",
}


class ThreatModelTest(CheckTest):
    check = "check_threat_model"

    def test_each_form_of_a_name(self):
        self.assert_passes(TESTS | {
            PAGE: HEAD + "| x | y | `Suite.Name`, `Fixture.Other` |\n"
                         "| x | y | `tests/b/b_test.py::test_one`, "
                         "`conformance/v1/cases/c.yaml` |\n"})

    def test_a_test_that_does_not_exist(self):
        for name in ("Suite.Nam", "Name", "tests/b/b_test.py::test_on", "tests/b/b_test.py",
                     "src/a/a_test.cc", "conformance/v1/cases/d.yaml", ""):
            with self.subTest(name=name):
                self.assert_fails(TESTS | {PAGE: HEAD + f"| x | y | `Suite.Name`, `{name}` |\n"},
                                  f"{PAGE}:3: there is no such test: {name}")

    def test_a_row_without_a_test(self):
        self.assert_fails({PAGE: HEAD + "| x | y | |\n"}, f"{PAGE}:3: the row names no test")
        self.assert_fails({PAGE: HEAD + "| x | y | by reading |\n"}, "names no test")

    def test_words_beside_tests(self):
        self.assert_fails(TESTS | {PAGE: HEAD + "| x | y | `Suite.Name` and trust |\n"},
                          "only tests, in backticks, stand in the last column")

    def test_other_tables_are_left_alone(self):
        self.assert_passes(TESTS | {
            PAGE: "| Who | Can |\n|---|---|\n| x | `y` |\n\n" + HEAD + "| x | y | `Suite.Name` |\n"})

    def test_no_page_and_no_row_are_failures(self):
        self.assert_fails({"README.md": "nothing\n"}, "there is no such page")
        self.assert_fails({PAGE: "nothing\n"}, "found nothing to check")


if __name__ == "__main__":
    unittest.main()
