"""A full disk, and programs killed at any moment: every event that was acknowledged is in the log, what is
wrong is said, and the next who comes goes on (REQ-EL-022, REQ-EL-033, REQ-EL-072).

usage: faults_test.py BINARIES
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None
LATE = "2100-01-01T00:00:00Z"
KILLS = 10


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)


class FaultsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.log = self.folder / "evidence"

    def remit(self, *words):
        return run(BINARIES / "remit", "evidence", *words)

    def verified(self):
        done = self.remit("verify", self.log)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def ids(self, writer):
        """Of the events of one writer, in order, each once although some came in twos."""
        out = []
        for path in sorted((self.log / writer).glob("*.jsonl")):
            for line in path.read_bytes().split(b"\n")[:-1]:
                found = json.loads(line)
                if found["event"] == "tool.request" and out[-1:] != [found["invocation_id"]]:
                    out.append(found["invocation_id"])
        return out

    def small_disk(self, size):
        """An evidence directory on a disk of its own, or a test that is not run."""
        self.log.mkdir(mode=0o700)
        mounted = run("mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", self.log)
        if mounted.returncode != 0:
            self.skipTest("not run, no disk can be mounted")
        self.addCleanup(run, "umount", "-l", self.log)

    def test_a_full_disk_loses_nothing_acknowledged(self):
        self.small_disk("192k")
        done = run(BINARIES / "evidence_writer", self.log, 100000, "close")
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left on device", done.stderr)
        acknowledged = done.stdout.split()
        self.assertGreater(len(acknowledged), 10)
        self.verified()
        self.assertEqual(self.ids("writer-000001")[:len(acknowledged)], acknowledged)
        # While it is full, nobody gets further, and nothing is lost by trying.
        for _ in range(3):
            again = run(BINARIES / "evidence_writer", self.log, 1, "close")
            self.assertEqual(again.returncode, 1)
            self.assertIn("No space left on device", again.stderr)
            pruned = self.remit("prune", self.log, "--before", LATE)
            self.assertNotEqual(pruned.returncode, 0, pruned.stdout)
            self.verified()
            self.assertEqual(self.ids("writer-000001")[:len(acknowledged)], acknowledged)
        # Nor does a checkpoint come to be by half.
        key = self.folder / "audit.key"
        self.remit("key", key, "--name", "audit.example")
        # Beside the log, but on a disk that is as full.
        kept = self.folder / "kept"
        kept.mkdir(mode=0o700)
        full = run("mount", "--bind", self.log, kept)
        self.assertEqual(full.returncode, 0, full.stderr)
        self.addCleanup(run, "umount", "-l", kept)
        self.assertNotEqual(self.remit("checkpoint", self.log, "--key", key, "--to", kept).returncode, 0)
        self.assertEqual(list(kept.glob("*.checkpoint")), [])
        # With room again, the next writer recovers what stopped.
        grown = run("mount", "-o", "remount,size=4m", self.log)
        self.assertEqual(grown.returncode, 0, grown.stderr)
        self.assertEqual(run(BINARIES / "evidence_writer", self.log, 3, "close").returncode, 0)
        self.assertNotIn("not closed", self.verified())
        self.assertEqual(self.ids("writer-000001")[:len(acknowledged)], acknowledged)
        self.assertEqual(self.remit("prune", self.log, "--before", LATE).returncode, 0)
        self.verified()

    def test_a_writer_that_is_killed_loses_nothing_acknowledged(self):
        promised = {}
        for kill in range(1, KILLS + 1):
            writer = subprocess.Popen([BINARIES / "evidence_writer", self.log, "1000000", "close"],
                                      stdout=subprocess.PIPE, text=True)
            acknowledged = [writer.stdout.readline().strip() for _ in range(3 * kill)]
            writer.send_signal(signal.SIGKILL)
            acknowledged += writer.stdout.read().split()
            writer.stdout.close()
            self.assertEqual(writer.wait(), -signal.SIGKILL)
            promised[f"writer-{kill:06d}"] = acknowledged
            self.verified()
        self.assertEqual(run(BINARIES / "evidence_writer", self.log, 1, "close").returncode, 0)
        self.assertNotIn("not closed", self.verified())
        for name, acknowledged in promised.items():
            self.assertEqual(self.ids(name)[:len(acknowledged)], acknowledged, name)

    def test_retention_that_is_killed_is_ended_by_the_next(self):
        self.assertEqual(run(BINARIES / "evidence_writer", self.log, 150, "close").returncode, 0)
        whole = self.folder / "whole"
        shutil.copytree(self.log, whole)
        head = self.verified().splitlines()[-1]
        writer = self.log / "writer-000001"
        files = len(os.listdir(writer))
        unfinished = 0
        for kill in range(KILLS):
            pruning = subprocess.Popen([BINARIES / "remit", "evidence", "prune", self.log, "--before", LATE],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            # Sooner and later: before the tombstone, or once more and more is gone.
            while pruning.poll() is None and len(os.listdir(writer)) > files + 1 - 10 * kill:
                pass
            pruning.send_signal(signal.SIGKILL)
            pruning.wait()
            said = self.verified()
            self.assertEqual(said.splitlines()[-1], head)
            unfinished += "prune again" in said
            self.assertEqual(self.remit("prune", self.log, "--before", LATE).returncode, 0)
            self.assertEqual(self.verified().splitlines()[-1], head)
            self.assertEqual(os.listdir(writer), ["tombstone"])
            shutil.rmtree(self.log)
            shutil.copytree(whole, self.log)
        print(f"{KILLS} removals killed, {unfinished} of them in the middle")


if __name__ == "__main__":
    if BINARIES is None:
        sys.exit(__doc__)
    unittest.main()
