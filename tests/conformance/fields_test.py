"""Each field of the table in spec/driver.md is left out once: the control fails, and the report names it (REQ-DR-024).

usage: fields_test.py BINARIES
"""

import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None


def run_without(event, field):
    command = [BINARIES / "remit", "conform", "run", "--case", "allowed", "--routes", "direct", "--format", "json",
               "--", sys.executable, "-B", HERE / "forgetful_driver.py", event, field]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    return json.loads(done.stdout)


class FieldsTest(unittest.TestCase):
    def test_every_field_is_needed_and_named(self):
        page = (HERE.parent.parent / "spec" / "driver.md").read_text()
        table = page.split("<!-- fields of a record -->")[1].split("\n\n")[0]
        rows = re.findall(r"^\| `([a-z.]+)` \| (.*) \|$", table, re.MULTILINE)
        self.assertEqual(len(rows), 4)
        for event, fields in rows:
            for field in re.findall(r"`([a-z_]+)`", fields):
                with self.subTest(event=event, field=field):
                    report = run_without(event, field)
                    self.assertEqual(report["exit_code"], 1)
                    findings = [each for trial in report["trials"] for mismatch in trial["mismatches"]
                                for each in mismatch.get("findings", [])]
                    named = [each for each in findings if field.rpartition("_")[2] in json.dumps(each)]
                    self.assertTrue(named, findings)

    def test_a_field_that_may_be_missing_is_not_asked_for(self):
        self.assertEqual(run_without("tool.request", "args_digest")["exit_code"], 0)


if __name__ == "__main__":
    unittest.main()
