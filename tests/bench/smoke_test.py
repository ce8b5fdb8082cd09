"""Every program of bench/ runs, as small as it goes, and prints every row of its table.

usage: smoke_test.py BINARIES

No figure is looked at: only that nothing refuses to start, stops on the way or says that it measured nothing.
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None
BENCH = Path(__file__).resolve().parents[2] / "bench"
PATIENCE = 300

SMALL = ["--smoke"]
NUMBER = r"[ =]+[0-9.]+"
DECISIONS = [f"decide/{layout}/{count}/real_time/threads:{threads} .*p99_us=[0-9]"
             for layout in ("spread", "one_action")
             for count in (1, 100, 1000, 10000) for threads in (1, 2)]

# Of each program its words, and what its lines match, one after another.
TABLES = {
    "decision_bench": (["--benchmark_min_time=0.001"],
                       DECISIONS + ["load/spread/100 .* ms", "load/spread/10000 .* ms", "load_from_files/10000 .* ms"]),
    "decoder_bench": (SMALL, [f"{name} .* decoder{NUMBER} .* ratio{NUMBER}" for name in (
        "as Remit writes them", "a space after , and :", "an unknown object", "with accents", "with an escape")]),
    "evidence_bench": (SMALL, [f"bare append . fdatasync, 1 caller{NUMBER} /s", f"evidence log, 1 caller{NUMBER} /s",
                               f"evidence log, 64 callers{NUMBER} /s", "1 caller: .* 64 callers: ", "verify: [1-9]"]),
    "grade_bench": (SMALL, [f"{name}{NUMBER}" for name in (
        "remit grade, one thread", "remit grade, two threads", "plain loop, simdjson", "again, from memory: grade",
        "again, from memory: plain")] +
        [f"{name}({NUMBER}| +not run)" for name in ("DuckDB, one thread", "jq", "plain loop, Python json")] +
        ["two threads: "]),
    "http_bench": (SMALL, [f"{name}{NUMBER}{NUMBER}" for name in (
        "plain Beast echo", "src/http", "src/http, own client", "plain Beast echo", "src/http")]),
    "invoke_bench": (SMALL, [f"{name}{NUMBER}{NUMBER}" for name in (
        "decision alone, 1 caller", "invoke, no disk, 1 caller", "invoke, no disk, 2 callers",
        "invoke, no disk, 64 callers", "invoke, durable log, 1 caller", "invoke, durable log, 64 callers")]),
    "jwt_bench": (SMALL, [f"{name}: bare{NUMBER} /s{NUMBER} us, token to principal{NUMBER} /s" for name in (
        "RS256", "ES256", "EdDSA")]),
    "ledger_bench": (SMALL, [rf"SQLite +{threads} thread\(s\): .* whole turns/s" for threads in (1, 8)]),
    "otlp_bench": (SMALL, [f"{name}{NUMBER} GB/s" for name in ("trace::EventReader", "plain loop on simdjson")]),
    "queue_bench": (SMALL, ["SQLite$"] + [f"  {threads} threads: bare .* worked off" for threads in (1, 4)]),
    "redaction_bench": (SMALL, ["the control of 100 canaries"] + [row for title in (
        "as the boundary writes: ", "with JSON within JSON in every event: ")
        for row in [title] + [f"  {name}{NUMBER} GB/s" for name in (
            "plain memchr loop", "100 canaries alone", "remit grade", "remit grade with 100 canaries")]]),
    "stdio_bench": (SMALL, [row for flight in (1, 16) for row in (
        f" +{flight} bare{NUMBER}", f" +{flight} remit stdio{NUMBER}", f" +ratio{NUMBER}x")]),
}


def missing_row(text, rows):
    """The first of `rows` that no line matches behind those of the rows before it; None if there is none."""
    lines = iter(text.splitlines())
    for row in rows:
        if not any(re.match(row, line) for line in lines):
            return row
    return None


class Smoke(unittest.TestCase):
    def test_each_program_prints_its_table(self):
        for program, (words, rows) in TABLES.items():
            with self.subTest(program), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([BINARIES / program, *words], cwd=folder, stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, timeout=PATIENCE)
                told = f"{done.stdout}\n{done.stderr}"
                self.assertEqual(done.returncode, 0, told)
                self.assertIsNone(missing_row(done.stdout, rows), told)
                self.assertNotRegex(told, "mean nothing|ERROR OCCURRED")

    def test_each_program_is_known_here(self):
        self.assertEqual(sorted(path.stem for path in BENCH.glob("*_bench.cc")), sorted(TABLES))

    def test_a_missing_row_is_told(self):
        rows = ["one ", "two "]
        self.assertIsNone(missing_row("head\none 1\ntwo 2\n", rows))
        self.assertEqual(missing_row("one 1\n", rows), "two ")
        self.assertEqual(missing_row("two 2\none 1\n", rows), "two ")
        self.assertEqual(missing_row("", rows), "one ")


if __name__ == "__main__":
    unittest.main(verbosity=2)
