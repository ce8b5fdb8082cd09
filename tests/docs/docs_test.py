"""Plays the guides to grading: writes their files, runs their commands, compares what they print.

usage: docs_test.py BINARIES

`<!-- file: NAME -->` stands above a block that is written to NAME, `<!-- run -->` above one of
commands (`$ …`) each with its output on both channels. A line `…` stands for any number of lines.
The pages are played in one folder, in the order in which they link to each other.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None
PAGES = ["grade-your-first-trace.md", "grade-against-expectations.md", "grade-in-ci.md",
         "from-shadow-to-enforcing.md"]
BLOCK = re.compile(r"<!-- (file: (?P<name>\S+)|run) -->\n+```\w*\n(?P<text>.*?)```\n", re.DOTALL)
OMITTED = "…"


def fits(shown, printed):
    """Whether the lines `printed` are `shown`, where a line of omission is any number of lines."""
    if not shown:
        return not printed
    if shown[0] == OMITTED:
        return any(fits(shown[1:], printed[skip:]) for skip in range(len(printed) + 1))
    return bool(printed) and printed[0].rstrip() == shown[0] and fits(shown[1:], printed[1:])


def commands(text):
    """Pairs of a command and the lines shown under it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *shown = part.rstrip("\n").split("\n")
        yield command, shown


class Shell:
    """Runs one command after another in one folder; `$?` is the exit code of the one before."""

    def __init__(self, folder):
        self.folder = folder
        self.code = 0

    def run(self, command):
        environment = {**os.environ, "PATH": f"{BINARIES}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8",
                       "DESK": str(ROOT / "examples" / "invoice_desk")}
        done = subprocess.run(["sh", "-c", f"(exit {self.code})\n{command}"], cwd=self.folder,
                              env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        self.code = done.returncode
        return done.stdout.splitlines()


class DocsTest(unittest.TestCase):
    def play(self, folder, page, text):
        shell = Shell(folder)
        played = 0
        for block in BLOCK.finditer(text):
            if block["name"]:
                (folder / block["name"]).write_text(block["text"])
                continue
            for command, shown in commands(block["text"]):
                printed = shell.run(command)
                played += 1
                with self.subTest(page=page, command=command):
                    self.assertTrue(fits(shown, printed), "printed:\n" + "\n".join(printed))
        return played

    def test_the_pages_show_what_the_program_does(self):
        with tempfile.TemporaryDirectory() as work:
            for page in PAGES:
                played = self.play(Path(work), page, (ROOT / "docs" / page).read_text())
                self.assertGreater(played, 4, page)

    def test_the_commands_for_ci_servers_run(self):
        text = (ROOT / "docs" / "grade-in-ci.md").read_text()
        found = re.findall(r"^ *(?:- run: |- |sh ')(remit grade [^'\n#]*)", text, re.MULTILINE)
        self.assertEqual(len(found), 3)
        expectations = (ROOT / "docs" / "grade-against-expectations.md").read_text()
        files = {block["name"]: block["text"] for block in BLOCK.finditer(expectations)}
        for command in found:
            with tempfile.TemporaryDirectory() as work, self.subTest(command=command):
                folder = Path(work)
                (folder / "trace.jsonl").write_text(files["denied.jsonl"])
                (folder / "manifest.yaml").write_text(files["filled.yaml"])
                shell = Shell(folder)
                printed = shell.run(command.replace(" evidence ", " trace.jsonl ").strip())
                self.assertEqual(shell.code, 0, printed)
                self.assertIn("<testsuites", (folder / "grade.xml").read_text())

    def test_every_block_of_commands_is_marked(self):
        for page in PAGES:
            text = (ROOT / "docs" / page).read_text()
            self.assertEqual(len(re.findall(r"^```\n\$ ", text, re.MULTILINE)),
                             len(re.findall(r"^<!-- run -->$", text, re.MULTILINE)), page)

    def test_a_page_that_shows_something_else_is_found(self):
        self.assertTrue(fits(["a", OMITTED, "c"], ["a", "b", "b", "c"]))
        self.assertTrue(fits(["a", OMITTED], ["a"]))
        self.assertFalse(fits(["a", OMITTED, "d"], ["a", "b", "c"]))
        self.assertFalse(fits(["a"], ["a", "b"]))
        self.assertFalse(fits(["a", "b"], ["a"]))


if __name__ == "__main__":
    if BINARIES is None or shutil.which("sh") is None:
        sys.exit("docs_test.py needs the folder of the programs, and sh")
    unittest.main()
