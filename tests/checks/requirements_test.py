"""Tests of scripts/check_requirements."""

import unittest

from run_check import CheckTest

SPEC = "**REQ-EV-001** An event is one line.\n\n**REQ-EV-002** It is UTF-8 (see REQ-EV-001).\n"


class RequirementsTest(CheckTest):
    check = "check_requirements"

    def test_defined_and_cited(self):
        self.assert_passes({"spec/events.md": SPEC, "src/event/a_test.cc": "// REQ-EV-001\n"})

    def test_cited_but_not_defined(self):
        for name in ("REQ-EV-003", "REQ-EVENT-001", "REQ-EV-1", "REQ-XX-001"):
            with self.subTest(name=name):
                self.assert_fails({"spec/events.md": SPEC, "src/a.cc": f"\n// {name}\n"},
                                  f"src/a.cc:2: {name} is not defined")

    def test_defined_twice(self):
        self.assert_fails({"spec/events.md": SPEC, "spec/more.md": "**REQ-EV-001** Again.\n"},
                          "spec/more.md:1: REQ-EV-001 is defined at spec/events.md:1 as well")

    def test_uncited_are_listed_on_demand(self):
        self.tree({"spec/events.md": SPEC, "src/a.cc": "// REQ-EV-001\n"})
        done = self.run_check("--uncited")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("REQ-EV-002 is cited by no source or test", done.stdout)
        self.assertNotIn("REQ-EV-001 is cited by no", done.stdout)

    def test_no_definition_at_all_is_a_failure(self):
        self.assert_fails({"spec/events.md": "nothing\n"}, "found nothing to check")


if __name__ == "__main__":
    unittest.main()
