"""Each row of the table of docs/exit-codes.md is run (REQ-GR-083), and `--help` names the codes of the page.

usage: exit_codes_test.py BINARIES
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None
PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "exit-codes.md"
ROW = re.compile(r"^\| `(?P<command>remit[^`]*)` \| (?P<code>[0-9]+) \|$", re.MULTILINE)
MEANING = re.compile(r"^\| (?P<code>[0-9]+) \| ", re.MULTILINE)

REQUEST = '{"event":"tool.request","invocation_id":"i","tool":"t"}\n'
DECISION = ('{"event":"authorization.decision","invocation_id":"i","tool":"t","decision":"%s","reason":"%s",'
            '"policy_version":"1"}\n')
RAN = ('{"event":"executor.start","invocation_id":"i","tool":"t"}\n'
       '{"event":"executor.finish","invocation_id":"i","tool":"t","outcome":"succeeded"}\n')
FILES = {
    "trace.jsonl": REQUEST + DECISION % ("allow", "allowed") + RAN,
    "denied.jsonl": REQUEST + DECISION % ("deny", "forbidden") + RAN,
    "empty.jsonl": "",
    "table.csv": "time,tool,allowed\n12:00,t,yes\n",
    "broken.yaml": "nothing: of ours\n",
    "tools.yaml": '{"tools": []}\n',
    "remit.yaml": "nothing: of ours\n",
}


def run(command):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            (Path(folder) / name).write_text(text)
        environment = {**os.environ, "PATH": f"{BINARIES}:{os.environ['PATH']}"}
        return subprocess.run(["sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False)


class ExitCodesTest(unittest.TestCase):
    def test_every_row_is_true(self):
        rows = list(ROW.finditer(PAGE.read_text()))
        self.assertGreater(len(rows), 30)
        for row in rows:
            with self.subTest(row["command"]):
                done = run(row["command"])
                self.assertEqual(done.returncode, int(row["code"]), done.stderr)
                self.assertTrue(done.returncode == 0 or done.stdout or done.stderr)

    def test_help_names_every_code(self):
        codes = MEANING.findall(PAGE.read_text())
        said = run("remit --help").stdout.split("Exit codes:")[1]
        self.assertEqual(codes, re.findall(r"(?:^|; )\s*([0-9]+) ", " ".join(said.split())))

    def test_a_wrong_row_would_be_seen(self):
        self.assertNotEqual(run("remit grade missing.jsonl").returncode, 0)


if __name__ == "__main__":
    unittest.main()
