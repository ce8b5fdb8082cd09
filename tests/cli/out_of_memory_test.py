"""Memory that ends anywhere in a command (REQ-GR-117): one line, exit 65, no signal, and nothing half written.

usage: out_of_memory_test.py BINARIES

The address space is limited, from too little to do anything up to what is enough; each limit between is one in which
memory ends at another place. Not run where even the version cannot be said within what would be enough, as with
sanitizers.
"""

import functools
import gzip
import json
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None
SAID = "remit: not enough memory to finish\n"
FORMATS = ("text", "json", "junit", "sarif", "html", "github", "github-summary")
MEGA = 1_000_000
MOST = 4000 * MEGA


def trace(events):
    """One invocation that was started again and again: all that is told of it belongs together."""
    out = ['{"event":"tool.request","invocation_id":"i1","tool":"pay"}']
    for number in range(events):
        out.append(json.dumps({"event": "authorization.decision", "invocation_id": "i1", "tool": "pay",
                               "decision": "allow", "decision_id": f"d{number}", "policy_version": "1"}))
        out.append('{"event":"executor.start","invocation_id":"i1","tool":"pay"}')
    return "\n".join(out) + "\n"


class OutOfMemoryTest(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.folder = Path(work.name)

    def run_limited(self, limit, *words):
        def confine():
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        return subprocess.run([BINARIES / "remit", *words], cwd=self.folder, preexec_fn=confine,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)

    def least(self, enough):
        """The least limit, to two megabytes, with which `enough` holds; None if none does."""
        low, high = 0, MOST
        if not enough(high):
            return None
        while high - low > 2 * MEGA:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high

    @functools.cache
    def least_to_start(self):
        return self.least(lambda limit: self.run_limited(limit, "version").returncode == 0)

    def sweep(self, *words, steps=12):
        """Runs with limits from what starts the program up to what is enough; how often memory ended."""
        first = self.least_to_start()
        if first is None:
            print("not run, the program takes more address space than may be given")
            return None
        self.remove_all_but_inputs()
        whole = self.run_limited(MOST, *words)
        self.assertIn(whole.returncode, (0, 1, 2), whole.stderr)
        kept = self.files()

        def is_enough(limit):
            self.remove_all_but_inputs()
            return self.run_limited(limit, *words).returncode == whole.returncode
        last = self.least(is_enough)
        ended = 0
        for step in range(steps):
            self.remove_all_but_inputs()
            limit = first + max(0, last - first) * step // steps
            ran = self.run_limited(limit, *words)
            where = f"{' '.join(map(str, words))} with {limit} bytes: exit {ran.returncode}, {ran.stderr!r}"
            self.assertIn(ran.returncode, (65, whole.returncode), where)
            if ran.returncode != 65:
                self.assertEqual((ran.stdout, ran.stderr), (whole.stdout, whole.stderr), where)
                self.assertEqual(self.files(), kept, where)
                continue
            ended += 1
            self.assertIn("memory", ran.stderr, where)
            self.assertEqual(ran.stderr.count("\n"), 1, where)
            self.assertNotEqual(ran.stdout, whole.stdout or None, where)
            # A report is there whole or not at all, and nothing else is.
            for name, text in self.files().items():
                self.assertEqual(text, kept.get(name), where)
        return ended

    def files(self):
        return {str(path.relative_to(self.folder)): path.read_bytes()
                for path in self.folder.rglob("*") if path.is_file()}

    def remove_all_but_inputs(self):
        for path in self.folder.iterdir():
            if path.name not in ("trace.jsonl", "trace.jsonl.gz"):
                path.unlink()

    def test_every_format_by_one_thread_and_by_two(self):
        (self.folder / "trace.jsonl").write_text(trace(8000))
        with gzip.open(self.folder / "trace.jsonl.gz", "wt") as file:
            file.write(trace(8000))
        ended = 0
        for number, form in enumerate(FORMATS):
            name = "trace.jsonl.gz" if number % 3 == 2 else "trace.jsonl"
            for threads in ("1", "2"):
                count = self.sweep("grade", name, "--format", form, "--threads", threads, steps=6)
                if count is None:
                    return
                ended += count
        self.assertGreater(ended, len(FORMATS))

    def test_written_reports_and_other_commands(self):
        (self.folder / "trace.jsonl").write_text(trace(8000))
        for words in (["grade", "trace.jsonl", "--write", "json=a.json", "--write", "html=b.html"],
                      ["explain", "--from", "trace.jsonl"],
                      ["case", "from-trace", "trace.jsonl", "--out", "case.yaml"],
                      ["baseline", "suggest", "trace.jsonl"],
                      ["rollout", "report", "trace.jsonl"]):
            self.sweep(*words, steps=6)


if __name__ == "__main__":
    unittest.main()
