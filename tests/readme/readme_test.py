"""The README's story must be what the program prints, and the commands of the pages must exist.

usage: readme_test.py BINARIES
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None
STORY = re.compile(r"<!-- story -->\n```\n(.*?)```\n<!-- /story -->", re.DOTALL)


def normal(line):
    """The line without what differs from run to run: invocation ids, digests, durations."""
    line = re.sub(r"\b[a-z2-7]{26}\b", "ID", line)
    line = re.sub(r"\bsha256:[0-9a-f]+", "DIGEST", line)
    return re.sub(r"\b[0-9.]+ ms\b", "TIME", line).rstrip()


def first_missing(lines, printed):
    """The first of `lines` that is not among `printed`, looked for in order; None if all are."""
    rest = iter([normal(line) for line in printed])
    for line in lines:
        if line != "…" and normal(line) not in rest:
            return line
    return None


class ReadmeTest(unittest.TestCase):
    def test_the_story_is_what_the_program_prints(self):
        shown = STORY.search((ROOT / "README.md").read_text())
        self.assertIsNotNone(shown, "README.md has no story between its marks")
        with tempfile.TemporaryDirectory() as work:
            done = subprocess.run(
                [ROOT / "examples/invoice_desk/story", BINARIES, Path(work) / "story"],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIsNone(first_missing(shown[1].splitlines(), done.stdout.splitlines()),
                          "shown, but not printed")

    def test_a_line_that_is_not_printed_is_found(self):
        printed = ["a aaaaaaaaaaaaaaaaaaaaaaaaaa", "b", "c"]
        self.assertIsNone(first_missing(["a bbbbbbbbbbbbbbbbbbbbbbbbbb", "…", "c"], printed))
        self.assertEqual(first_missing(["b", "a aaaaaaaaaaaaaaaaaaaaaaaaaa"], printed),
                         "a aaaaaaaaaaaaaaaaaaaaaaaaaa")
        self.assertEqual(first_missing(["d"], printed), "d")

    def help_of(self, words):
        return subprocess.run([BINARIES / "remit", *words, "--help"],
                              capture_output=True, text=True, check=False)

    def test_the_commands_of_the_pages_exist(self):
        shown = 0
        for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
            for line in page.read_text().splitlines():
                match = re.match(r"remit ([a-z-]+)\b(.*)", line)
                if not match:
                    continue
                shown += 1
                words, rest = [match[1]], match[2].split(" -- ")[0].split("#")[0]
                done = self.help_of(words)
                if f"Usage: remit {match[1]} COMMAND" in done.stdout:
                    words += rest.split()[:1]
                    done = self.help_of(words)
                with self.subTest(page=page.name, line=line):
                    self.assertEqual(done.returncode, 0, done.stderr)
                    for flag in re.findall(r"--[a-z-]+", rest):
                        self.assertIn(f"\n  {flag}", done.stdout)
        self.assertGreater(shown, 3)


if __name__ == "__main__":
    unittest.main()
