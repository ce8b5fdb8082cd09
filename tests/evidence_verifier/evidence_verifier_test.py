"""The verifier in examples/evidence_verifier and `remit evidence verify` come to one verdict, and to one
head, over logs that the real writer made and over every forgery of them (REQ-EL-010, REQ-EL-011,
REQ-EL-012, REQ-EL-014, REQ-EL-041, REQ-EL-050, REQ-EL-051, REQ-EL-052).

usage: evidence_verifier_test.py BINARIES
"""

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import unittest
from hashlib import sha256
from pathlib import Path

BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None
VERIFIER = Path(__file__).resolve().parents[2] / "examples/evidence_verifier/verify.py"

spec = importlib.util.spec_from_file_location("verify", VERIFIER)
verify = importlib.util.module_from_spec(spec)
spec.loader.exec_module(verify)


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)


def is_intact(directory, head=None):
    try:
        verify.verify(str(directory), verify.parse_head(head) if head else None)
    except verify.Altered:
        return False
    return True


class EvidenceVerifierTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.log = self.folder / "evidence"

    def write(self, commits, ending="close", log=None):
        done = run(BINARIES / "evidence_writer", log or self.log, commits, ending)
        self.assertEqual(done.returncode, 0, done.stderr)

    def files(self):
        return sorted(path for path in self.log.rglob("*") if path.is_file() and path.name != "lock")

    def both(self, head=None, log=None):
        """The exit code of both programs, and the head of both where the log is intact."""
        log = log or self.log
        ours = run(BINARIES / "remit", "evidence", "verify", log, *(["--head", head] if head else []))
        theirs = run(sys.executable, "-B", VERIFIER, log, *([head] if head else []))
        self.assertEqual(ours.returncode, theirs.returncode,
                         ours.stdout + ours.stderr + theirs.stdout + theirs.stderr)
        if ours.returncode != 0:
            self.assertTrue(theirs.stdout.startswith("altered: "), theirs.stdout)
            return ours.returncode, None
        heads = [text.rstrip("\n").rpartition("\nhead ")[2] for text in (ours.stdout, theirs.stdout)]
        self.assertEqual(heads[0], heads[1])
        self.assertTrue(heads[0].startswith("remit-head-1:"), heads[0])
        return 0, heads[0]

    def assert_found(self, what, head=None):
        self.assertEqual(self.both(head)[0], 1, what)

    def restoring(self):
        """Puts the log back as it is now; call the result after each forgery."""
        kept = self.folder / "kept"
        shutil.copytree(self.log, kept)

        def restore():
            shutil.rmtree(self.log)
            shutil.copytree(kept, self.log)
        return restore

    def test_good_logs_pass_with_the_same_head(self):
        heads = []
        for commits, ending in ((9, "close"), (1, "close"), (14, "die"), (2, "close"), (6, "die")):
            self.write(commits, ending)
            code, head = self.both()
            self.assertEqual(code, 0)
            heads.append(head)
        self.assertTrue(any("@" in head for head in heads), heads)
        for head in heads:
            self.assertEqual(self.both(head)[0], 0, head)

    def test_every_changed_byte_is_found(self):
        self.write(9)
        self.assertGreater(len(self.files()), 4, "too few segments")
        self.assertTrue(is_intact(self.log))
        tried = 0
        for path in self.files():
            whole = path.read_bytes()
            for at in range(len(whole)):
                path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
                self.assertFalse(is_intact(self.log), f"{path.name} byte {at}")
                tried += 1
            path.write_bytes(whole)
        self.assertGreater(tried, 1000)
        self.assertTrue(is_intact(self.log))

    def test_every_cut_is_found(self):
        self.write(9)
        for path in self.files():
            whole = path.read_bytes()
            for size in range(len(whole)):
                path.write_bytes(whole[:size])
                self.assertFalse(is_intact(self.log), f"{path.name} cut to {size}")
            path.write_bytes(whole)
        self.assertTrue(is_intact(self.log))

    def test_segments_removed_added_or_swapped_are_found(self):
        self.write(12)
        restore = self.restoring()
        writer = self.log / "writer-000001"
        stems = sorted(path.stem for path in writer.glob("*.jsonl"))
        self.assertGreater(len(stems), 2)
        for path in self.files():
            path.unlink()
            self.assert_found(f"{path.name} removed")
            restore()
        for suffixes in ((".jsonl",), (".roots",), (".jsonl", ".roots")):
            for suffix in suffixes:
                first, second = writer / (stems[0] + suffix), writer / (stems[1] + suffix)
                one, two = first.read_bytes(), second.read_bytes()
                first.write_bytes(two)
                second.write_bytes(one)
            self.assert_found(f"{suffixes} swapped")
            restore()
        for suffix in (".jsonl", ".roots"):
            (writer / (stems[-1] + suffix)).unlink()
        self.assert_found("the last segment removed")
        restore()
        shutil.copy(writer / (stems[0] + ".jsonl"), writer / f"{len(stems) + 1:06d}.jsonl")
        self.assert_found("a segment added")

    def test_a_missing_writer_and_a_missing_lock_are_found(self):
        self.write(3)
        self.write(3, "die")
        restore = self.restoring()
        shutil.rmtree(self.log / "writer-000001")
        self.assert_found("the first writer removed")
        restore()
        (self.log / "writer-000002" / "lock").unlink()
        self.assert_found("the end of a closed log removed")

    def test_only_a_kept_head_shows_a_roll_back(self):
        self.write(3)
        restore = self.restoring()
        self.write(3)
        head = self.both()[1]
        restore()
        self.assertEqual(self.both()[0], 0)
        self.assert_found("the last writer removed", head)

    def test_only_a_kept_head_shows_a_tail_cut_with_its_roots(self):
        self.write(5, "die")
        restore = self.restoring()
        head = self.both()[1]
        last = sorted((self.log / "writer-000001").glob("*.roots"))[-1]
        entries = last.read_bytes().splitlines(keepends=True)
        self.assertGreater(len(entries), 1)
        last.write_bytes(b"".join(entries[:-1]))
        self.assertEqual(self.both()[0], 0)
        self.assert_found("a root cut off", head)
        restore()
        self.assertEqual(self.both(head)[0], 0)

    # REQ-EL-034.
    def test_roots_that_a_crash_left_with_a_hole_are_no_damage(self):
        for commits in range(3, 40):
            self.write(commits, "die")
            last = sorted((self.log / "writer-000001").glob("*.roots"))[-1]
            whole = last.read_bytes()
            lines = whole.splitlines(keepends=True)
            if len(lines) > 2 and len(whole) > 512 + 8:
                break
            shutil.rmtree(self.log)
        start = len(lines[0]) + len(lines[1])
        self.assertLess(start, 512)
        torn = lines[2][:20]
        for left in (whole[:start] + bytes(512 - start) + whole[512:],
                     whole[:start] + torn + bytes(512 - start - len(torn)) + whole[512:],
                     whole[:start] + bytes(100), whole[:start] + bytes(5000), whole[:start] + torn,
                     whole[:start] + bytes(1024 - start) + b"commit 9\0\0"):
            last.write_bytes(left)
            self.assertEqual(self.both()[0], 0, left)
        for left in (whole[:start] + bytes(511 - start) + whole[511:],
                     whole[:start] + b"x" + bytes(511 - start) + whole[512:],
                     whole[:start] + bytes(512 - start) + b"{}"):
            last.write_bytes(left)
            self.assert_found(left)

    def test_only_a_kept_head_shows_a_log_made_anew(self):
        self.write(4)
        head = self.both()[1]
        shutil.rmtree(self.log)
        self.write(4)
        self.assertEqual(self.both()[0], 0)
        self.assert_found("made anew", head)

    def test_a_header_with_its_digest_made_anew_is_found(self):
        self.write(9)
        roots = self.log / "writer-000001" / "000002.roots"
        first, rest = roots.read_bytes().split(b"\n", 1)
        fields = first.split(b" ")
        fields[4] = b"1"
        text = b" ".join(fields[:-1])
        roots.write_bytes(text + b" " + sha256(text).hexdigest().encode() + b"\n" + rest)
        self.assert_found("another first seq")

    def test_what_a_crash_leaves_is_no_damage(self):
        self.write(5, "die")
        restore = self.restoring()
        writer = self.log / "writer-000001"
        roots = sorted(writer.glob("*.roots"))[-1]
        for tail in (b"\0\0\0", b"com", b"com\0\0", b"commit 3 5", b"closed 3 5 900 " + b"a" * 64 + b" 00"):
            with roots.open("ab") as file:
                file.write(tail)
            self.assertEqual(self.both()[0], 0, tail)
            restore()
        for tail in (b"comx", b"\0com", b"commit x", b"commit 3 5 900 " + b"a" * 64 + b" ", b"commit 1\n"):
            with roots.open("ab") as file:
                file.write(tail)
            self.assert_found(tail)
            restore()

    def test_wrong_usage_and_nothing_to_read(self):
        self.write(1)
        for arguments in ([], [self.log, "remit-head-1:x"], [self.folder / "absent"], [self.folder]):
            self.assertEqual(run(sys.executable, "-B", VERIFIER, *arguments).returncode, 2, arguments)

    def test_heads_that_are_none(self):
        self.write(1)
        head = self.both()[1]
        self.assertIsNotNone(verify.parse_head(head))
        digest = head.rpartition(":")[2]
        for text in ("", head + "0", head.upper(), f"remit-head-1:01:-:{digest}",
                     f"remit-head-1:1:2@1:{digest}", f"remit-head-1:3:2@1,2@1:{digest}"):
            self.assertIsNone(verify.parse_head(text), text)


if __name__ == "__main__":
    unittest.main()
