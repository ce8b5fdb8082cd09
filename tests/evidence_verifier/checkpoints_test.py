"""Checkpoints, proofs and retention through the command line, and the verifier in
examples/evidence_verifier beside it: both come to one answer (REQ-EL-062 to REQ-EL-074).

usage: checkpoints_test.py BINARIES
"""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None
VERIFIER = Path(__file__).resolve().parents[2] / "examples/evidence_verifier/verify.py"
LATE = "2100-01-01T00:00:00Z"


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)


class CheckpointsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.log = self.folder / "evidence"
        self.kept = self.folder / "checkpoints"
        self.key_file = self.folder / "audit.key"
        made = self.remit("key", self.key_file, "--name", "audit.example/p")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.key = made.stdout.strip()

    def remit(self, *words):
        return run(BINARIES / "remit", "evidence", *words)

    def write(self, commits, ending="close", log=None):
        done = run(BINARIES / "evidence_writer", log or self.log, commits, ending)
        self.assertEqual(done.returncode, 0, done.stderr)

    def sign(self, expected=0, log=None):
        done = self.remit("checkpoint", log or self.log, "--key", self.key_file, "--to", self.kept)
        self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
        return done

    def verify(self, *checkpoints, log=None, key=None):
        """What both verifiers say, by one word; they must agree."""
        words = [log or self.log, "--key", key or self.key]
        for path in checkpoints or (self.kept,):
            words += ["--checkpoint", path]
        ours = self.remit("verify", *words)
        theirs = run(sys.executable, "-B", VERIFIER, *words)
        answer = {0: "intact", 1: "altered", 2: "cannot tell", 65: "refused"}[ours.returncode]
        expected = {"intact": 0, "altered": 1, "cannot tell": 3, "refused": 1}[answer]
        self.assertEqual(theirs.returncode, expected,
                         ours.stdout + ours.stderr + theirs.stdout + theirs.stderr)
        self.said = ours.stdout + ours.stderr
        return answer

    def check_proof(self, path, *words, key=None):
        """Whether both find that a proof holds; the event, or what else they print."""
        ours = self.remit("verify-proof", path, "--key", key or self.key, *words)
        theirs = run(sys.executable, "-B", VERIFIER, "--proof", path, "--key", key or self.key, *words)
        self.assertEqual(ours.returncode == 0, theirs.returncode == 0,
                         ours.stdout + ours.stderr + theirs.stdout + theirs.stderr)
        if ours.returncode != 0:
            self.assertIn(ours.returncode, (1, 65), ours.stderr)
            self.assertEqual(theirs.returncode, 1, theirs.stderr)
            return None
        self.assertEqual(ours.stdout, theirs.stdout)
        return ours.stdout

    def lines(self, writer="writer-000001"):
        return [line for path in sorted((self.log / writer).glob("*.jsonl"))
                for line in path.read_text().splitlines()]

    def test_a_checkpoint_fits_every_later_state(self):
        self.write(9)
        self.write(6, "die")
        self.sign()
        self.assertEqual(self.verify(), "intact")
        self.assertIn("checkpoint of 13 events of writer-000001: they are as they were signed", self.said)
        first = self.folder / "first"
        shutil.copytree(self.kept, first)
        self.write(3)  # Recovers the second.
        self.assertEqual(self.verify(), "intact")
        self.sign()
        self.assertEqual(len(list(self.kept.iterdir())), 3)
        self.assertEqual(self.verify(self.kept, first), "intact")
        self.assertEqual(self.verify(first / "writer-000002.checkpoint"), "intact")

    def test_what_was_rolled_back_or_rewritten_contradicts_its_checkpoint(self):
        self.write(5, "die")
        state = self.folder / "state"
        shutil.copytree(self.log, state)
        self.write(4)
        self.sign()
        # The directory as it was before.
        shutil.rmtree(self.log)
        shutil.copytree(state, self.log)
        self.assertEqual(self.remit("verify", self.log).returncode, 0)
        self.assertEqual(self.verify(), "altered")
        self.assertIn("rolled back", self.said)
        self.assertIn("from event 8 on they are gone", self.said)
        # The end of the log cut off, with its roots.
        self.assertEqual(self.verify(self.kept / "writer-000001.checkpoint"), "altered")
        # The last writer left out.
        self.assertEqual(self.verify(self.kept / "writer-000002.checkpoint"), "altered")
        self.assertIn("missing", self.said)
        # Written anew, by another writer.
        shutil.rmtree(self.log)
        self.write(9)
        self.write(9)
        self.assertEqual(self.remit("verify", self.log).returncode, 0)
        self.assertEqual(self.verify(), "altered")
        self.assertIn("written anew", self.said)

    def test_swapped_segments_and_changed_bytes_are_found(self):
        self.write(12)
        self.sign()
        writer = self.log / "writer-000001"
        for suffix in (".jsonl", ".roots"):
            first, second = writer / f"000001{suffix}", writer / f"000002{suffix}"
            one, two = first.read_bytes(), second.read_bytes()
            first.write_bytes(two)
            second.write_bytes(one)
        self.assertEqual(self.verify(), "altered")

    def test_forged_checkpoints_and_proofs_are_refused(self):
        self.write(5)
        self.sign()
        path = self.kept / "writer-000001.checkpoint"
        note = path.read_text()
        proof = self.folder / "proof"
        proof.write_text(self.remit("prove", self.log, "--checkpoint", path, "--key", self.key, "--event",
                                    "2").stdout)
        self.assertIsNotNone(self.check_proof(proof))
        origin, size, root, *rest = note.split("\n")
        changed_root = ("A" if root[0] != "A" else "B") + root[1:]
        for forged in (note.replace(f"\n{size}\n", "\n3\n"), note.replace(root, changed_root),
                       note.replace("writer-000001", "writer-000002"), note.replace("\u2014 ", "\u2014  "),
                       note[:-10] + "\n", note + note.splitlines(keepends=True)[-1].replace("/p ", "/q ")[:-9],
                       "", note.split("\u2014")[0]):
            path.write_text(forged)
            self.assertIn(self.verify(), ("altered", "refused"), forged)
        path.write_text(note)
        other = self.remit("key", self.folder / "other.key", "--name", "audit.example/p").stdout.strip()
        self.assertEqual(self.verify(key=other), "refused")
        self.assertIsNone(self.check_proof(proof, key=other))
        text = proof.read_text()
        for forged in (text.replace("index 1", "index 2"), text.replace("\n\n", "\n" + root + "\n\n", 1),
                       text.replace("extra eyJl", "extra eyJm"), text[:40], ""):
            proof.write_text(forged)
            self.assertIsNone(self.check_proof(proof), forged)
        # A signature by somebody unknown takes nothing away.
        cosigned = note + "\u2014 witness.example/w AAAAAAQ=\n"
        path.write_text(cosigned)
        self.assertEqual(self.verify(), "intact")

    def test_every_event_is_proven_by_the_key_alone(self):
        self.write(9)
        self.sign()
        path = self.kept / "writer-000001.checkpoint"
        lines = self.lines()
        self.assertGreater(len(lines), 10)
        proof = self.folder / "proof"
        for seq, line in enumerate(lines, 1):
            made = self.remit("prove", self.log, "--checkpoint", path, "--key", self.key, "--event", seq)
            self.assertEqual(made.returncode, 0, made.stderr)
            proof.write_text(made.stdout)
            said = self.check_proof(proof).split("\n")
            self.assertTrue(said[0].startswith(f"proven: event {seq} of the {len(lines)} of audit.example/p/"))
            self.assertEqual(said[1], line)
        for seq in (0, len(lines) + 1):
            made = self.remit("prove", self.log, "--checkpoint", path, "--key", self.key, "--event", seq)
            self.assertEqual(made.returncode, 65)

    def test_that_a_log_only_grew_is_proven_by_the_key_alone(self):
        self.write(5, "die")
        self.sign()
        older = self.folder / "older.checkpoint"
        shutil.copy(self.kept / "writer-000001.checkpoint", older)
        self.write(1)  # Recovers it, which adds an event.
        self.sign()
        newer = self.kept / "writer-000001.checkpoint"
        made = self.remit("prove", self.log, "--checkpoint", newer, "--key", self.key, "--since", older)
        self.assertEqual(made.returncode, 0, made.stderr)
        proof = self.folder / "proof"
        proof.write_text(made.stdout)
        self.assertIn("grew from 7 to 8 events", self.check_proof(proof, "--since", older))
        self.assertIsNone(self.check_proof(proof, "--since", newer))
        self.assertIsNone(self.check_proof(proof, "--since", self.kept / "writer-000002.checkpoint"))
        self.assertEqual(self.remit("verify-proof", proof, "--key", self.key).returncode, 64)

    # REQ-EL-066.
    def test_nothing_is_signed_that_contradicts_what_was(self):
        self.write(5, "die")
        state = self.folder / "state"
        shutil.copytree(self.log, state)
        self.write(4)
        self.sign()
        before = {path.name: path.read_bytes() for path in self.kept.iterdir()}
        self.sign()
        shutil.rmtree(self.log)
        shutil.copytree(state, self.log)
        self.assertIn("nothing was signed", self.sign(expected=1).stderr)
        shutil.rmtree(self.log)
        self.write(9)
        self.write(9)
        self.sign(expected=1)
        self.assertEqual(before, {path.name: path.read_bytes() for path in self.kept.iterdir()})

    # REQ-EL-066.
    def test_a_key_that_others_can_read_signs_nothing(self):
        self.write(1)
        self.assertEqual(stat.S_IMODE(self.key_file.stat().st_mode), 0o600)
        for mode in (0o640, 0o604, 0o620, 0o602):
            self.key_file.chmod(mode)
            self.assertIn("mode 0600", self.sign(expected=65).stderr)
            self.assertEqual(self.remit("key", self.key_file).returncode, 65)
        self.key_file.chmod(0o600)
        self.assertEqual(self.remit("key", self.key_file).stdout.strip(), self.key)
        again = self.remit("key", self.key_file, "--name", "audit.example/p")
        self.assertEqual(again.returncode, 65, "a key is never overwritten")
        self.assertNotIn("PRIVATE", again.stderr)
        self.key_file.write_text("PRIVATE+KEY+secret")
        self.assertNotIn("secret", self.sign(expected=65).stderr)

    # REQ-EL-066.
    def test_nothing_that_vouches_for_a_log_is_kept_within_it(self):
        self.write(1)
        self.kept = self.log / "checkpoints"
        self.assertIn("within the evidence directory", self.sign(expected=65).stderr)
        self.kept = self.log / "checkpoints/"
        self.sign(expected=65)
        link = self.folder / "link"
        link.symlink_to(self.log)
        self.kept = link / "checkpoints"
        self.sign(expected=65)
        self.kept = self.folder / "checkpoints"
        inside = self.log / "audit.key"
        shutil.move(self.key_file, inside)
        self.key_file = inside
        self.sign(expected=65)
        self.assertEqual(sorted(path.name for path in self.log.iterdir()), ["audit.key", "writer-000001"])

    # REQ-EL-070, REQ-EL-073.
    def test_retention_is_told_and_leaves_the_rest_provable(self):
        self.write(9)
        self.write(9, "die")
        early = self.folder / "early"
        self.sign()
        shutil.copytree(self.kept, early)
        head = self.remit("verify", self.log).stdout.splitlines()[-1].split()[1]
        done = self.remit("prune", self.log, "--before", LATE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(os.listdir(self.log / "writer-000001")), ["tombstone"])
        self.assertEqual(self.verify(), "intact")
        self.assertIn("of these, retention removed 13 events in 3 segments", self.said)
        self.assertEqual(self.remit("verify", self.log, "--head", head).returncode, 0)
        theirs = run(sys.executable, "-B", VERIFIER, self.log, head)
        self.assertEqual(theirs.returncode, 0, theirs.stdout)
        self.write(9)  # Recovers the second.
        self.sign()
        self.assertEqual(self.verify(self.kept, early), "intact")
        path = self.kept / "writer-000002.checkpoint"
        last = len(self.lines("writer-000002"))
        self.assertGreater(last, 0)
        proof = self.folder / "proof"
        for seq, expected in ((14, 0), (1, 65)):
            made = self.remit("prove", self.log, "--checkpoint", path, "--key", self.key, "--event", seq)
            self.assertEqual(made.returncode, expected, made.stderr)
            if expected == 0:
                proof.write_text(made.stdout)
                self.assertIsNotNone(self.check_proof(proof))
        graded = run(BINARIES / "remit", "grade", self.log)
        self.assertIn("lost 13, \"removed by retention\"", graded.stdout)

    # REQ-EL-073.
    def test_a_checkpoint_within_what_was_removed_is_neither_fitting_nor_contradicted(self):
        self.write(1, "die")
        self.sign()
        self.write(1)  # Recovers it, which closes it with a second event.
        self.remit("prune", self.log, "--before", LATE)
        self.assertEqual(self.verify(self.kept / "writer-000001.checkpoint"), "cannot tell")
        self.assertIn("retention has removed 2 since", self.said)
        self.assertIn("nothing was signed", self.sign(expected=2).stderr)

    def test_a_time_that_is_none_removes_nothing(self):
        self.write(9)
        for time in ("2100-01-01", "tomorrow", "", "2100-01-01T00:00:00+01:00"):
            done = self.remit("prune", self.log, "--before", time)
            self.assertEqual(done.returncode, 64, time)
        self.assertEqual(self.remit("prune", self.log, "--before", "2001-01-01T00:00:00Z").returncode, 0)
        self.assertFalse((self.log / "writer-000001" / "tombstone").exists())
        self.assertEqual(self.remit("prune", self.folder, "--before", LATE).returncode, 65)

    def test_the_harness_sees_a_log_that_does_not_fit(self):
        """The case that must fail: of another log's checkpoint nothing fits."""
        self.write(3)
        self.sign()
        other = self.folder / "other"
        self.write(3, log=other)
        self.assertEqual(self.verify(log=other), "altered")


if __name__ == "__main__":
    if BINARIES is None:
        sys.exit(__doc__)
    unittest.main()
