"""A watched run (REQ-GR-111 to 114 and 116): the writer is another process, slow, that rotates, truncates, stops in the
middle of a line, and is killed.

usage: watch_test.py BINARIES

Nothing is timed: each step waits for what the watch says of the step before.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None
DESK = Path(__file__).resolve().parents[2] / "examples" / "invoice_desk"
PATIENCE = 120


def line(event, **fields):
    return json.dumps({"event": event, **fields}) + "\n"


def denied(call):
    return (line("tool.request", invocation_id=call, tool="refund.create")
            + line("authorization.decision", invocation_id=call, tool="refund.create",
                   decision="deny", reason="forbidden", policy_version="1"))


class Watch:
    """`remit grade --watch --format json`, whose lines are read as they come."""

    def __init__(self, folder, *arguments):
        self.process = subprocess.Popen(
            [BINARIES / "remit", "grade", "--watch", "--format", "json", *arguments], cwd=folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        self.errors = queue.Queue()
        for pipe, into in ((self.process.stdout, self.lines), (self.process.stderr, self.errors)):
            threading.Thread(target=self.pump, args=(pipe, into), daemon=True).start()

    @staticmethod
    def pump(pipe, into):
        for text in pipe:
            into.put(text)
        into.put("")

    def until(self, wanted):
        """The first line from here on that is as wanted."""
        while True:
            text = self.lines.get(timeout=PATIENCE)
            if not text:
                raise AssertionError("the watch ended")
            said = json.loads(text)
            if wanted(said):
                return said

    def events(self, number):
        return self.until(lambda said: not said["final"] and said["events"] == number)

    def end(self):
        grade = self.until(lambda said: said["final"])["grade"]
        return grade, self.process.wait(timeout=PATIENCE)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


class WatchTest(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.folder = Path(work.name)
        self.trace = self.folder / "trace.jsonl"

    def watch(self, *arguments):
        watch = Watch(self.folder, *(arguments or ["trace.jsonl"]))
        self.addCleanup(watch.close)
        return watch

    def write(self, text):
        with self.trace.open("a") as file:
            file.write(text)

    def test_a_file_that_comes_later_is_waited_for_and_followed_to_its_end(self):
        watch = self.watch()
        self.assertIn("waiting", watch.errors.get(timeout=PATIENCE))
        self.write(line("run.started", run_id="r"))
        watch.events(1)
        self.write(denied("i1"))
        said = watch.events(3)
        self.assertEqual(said["verdicts"]["execution"], "passed")
        self.write(line("executor.start", invocation_id="i1", tool="refund.create"))
        said = watch.events(4)
        self.assertEqual([one["code"] for one in said["findings"]], ["start_after_deny"])
        self.assertEqual(said["verdicts"]["execution"], "failed")
        self.write(line("run.finished", run_id="r"))
        grade, code = watch.end()
        self.assertEqual((grade["gate"], code), ("failed", 1))

    def test_half_a_line_is_waited_for(self):
        self.write(denied("i1"))
        watch = self.watch()
        watch.events(2)
        rest = line("tool.request", invocation_id="i2", tool="invoice.read")
        self.write(rest[:20])
        self.write(rest[20:])
        said = watch.events(3)
        self.assertEqual(said["findings"], [])
        self.write('{"event":"tool.requ')
        watch.process.send_signal(signal.SIGTERM)
        grade, code = watch.end()  # what never got its end is told by the last grade
        self.assertIn("malformed_event", [one["code"] for one in grade["findings"]])
        self.assertEqual(code, 1)

    def stop(self, watch):
        watch.process.send_signal(signal.SIGINT)
        code = watch.process.wait(timeout=PATIENCE)
        said = []
        while text := watch.errors.get(timeout=PATIENCE):
            said.append(text)
        return code, "".join(said)

    def test_after_truncation_the_next_look_starts_over_and_there_is_no_last_grade(self):
        self.write(denied("i1") + line("executor.start", invocation_id="i1", tool="refund.create"))
        watch = self.watch()
        watch.events(3)
        size = self.trace.stat().st_size
        self.trace.write_text(denied("i2"))
        said = watch.events(2)
        self.assertEqual((said["gone"], said["verdicts"]["execution"]), (1, "passed"))
        # What makes it whole by its size does not bring back what it held.
        self.write(denied("i3") + denied("i4") + line("run.started", run_id="r"))
        self.write(line("run.finished", run_id="r"))
        code = watch.process.wait(timeout=PATIENCE)
        self.assertEqual(code, 65)
        text = watch.errors.get(timeout=PATIENCE)
        self.assertIn(f"trace.jsonl: was cut while it was followed: it had {size} bytes", text)
        self.assertFalse(any('"final":true' in one for one in iter(watch.lines.get, "")))

    def test_rotation_by_a_new_file_is_a_loss_unless_the_old_one_stays_an_input(self):
        for aside, code in (("trace.jsonl.1", 65), ("trace-1.jsonl", 0)):
            folder = self.folder / aside.replace(".", "-")
            folder.mkdir()
            self.trace = folder / "trace.jsonl"
            self.write(denied("i1") + denied("i2"))
            watch = self.watch(folder.name)
            watch.events(4)
            self.trace.rename(folder / aside)
            self.write(denied("i3"))
            watch.events(2 if code else 6)
            self.assertEqual(self.stop(watch)[0], code, aside)

    def test_a_file_that_is_gone_at_the_end_is_a_loss(self):
        (self.folder / "events").mkdir()
        self.trace = self.folder / "events" / "other.jsonl"
        self.write(denied("i2"))
        self.trace = self.folder / "events" / "trace.jsonl"
        self.write(denied("i1"))
        watch = self.watch("events")
        watch.events(4)
        self.trace.unlink()
        watch.events(2)
        code, said = self.stop(watch)
        self.assertEqual(code, 65)
        self.assertIn("trace.jsonl: was there while it was followed", said)

    def test_a_file_that_another_no_shorter_one_replaced_is_followed_on(self):
        self.write(denied("i1"))
        watch = self.watch()
        watch.events(2)
        whole = self.folder / "whole"
        whole.write_text(denied("i1") + denied("i2"))
        whole.rename(self.trace)
        watch.events(4)
        watch.process.send_signal(signal.SIGINT)
        grade, code = watch.end()
        self.assertEqual((grade["gate"], code), ("passed", 0))

    def test_absence_is_no_news_while_it_may_still_come(self):
        self.write(line("tool.request", invocation_id="i1", tool="a"))
        watch = self.watch()
        self.assertEqual(watch.events(1)["findings"], [])
        watch.process.send_signal(signal.SIGINT)
        grade, code = watch.end()
        self.assertIn("missing_decision", [one["code"] for one in grade["findings"]])
        self.assertEqual(code, 1)

    def test_a_slow_writer_that_is_killed(self):
        writer = subprocess.Popen(
            [sys.executable, "-c",
             "import sys, time\n"
             "out = open(sys.argv[1], 'a', buffering=1)\n"
             "number = 0\n"
             "while True:\n"
             "    number += 1\n"
             "    text = sys.argv[2].replace('NUMBER', str(number))\n"
             "    out.write(text[:30]); out.flush(); time.sleep(0.05)\n"
             "    out.write(text[30:]); out.flush(); time.sleep(0.05)\n",
             str(self.trace), denied("iNUMBER")])
        self.addCleanup(writer.wait)
        self.addCleanup(writer.kill)
        watch = self.watch()
        for least in (2, 6, 10):
            said = watch.until(lambda said: not said["final"] and said["events"] >= least)
            self.assertEqual(said["findings"], [], "a line in the making was graded")
        writer.kill()
        writer.wait()
        watch.process.send_signal(signal.SIGTERM)
        grade, code = watch.end()
        self.assertGreaterEqual(grade["population"]["invocations"], 5)
        self.assertIn(code, (0, 1))  # 1 where it died in the middle of a line

    def test_a_directory_that_never_comes_ends_by_signal_as_unreadable(self):
        watch = self.watch("evidence")
        self.assertIn("waiting", watch.errors.get(timeout=PATIENCE))
        watch.process.send_signal(signal.SIGINT)
        self.assertEqual(watch.process.wait(timeout=PATIENCE), 65)

    def gateway(self):
        """`remit stdio` in front of the invoice desk, that has answered one call; the record of its
        finish may come behind the answer."""
        for name in ("bundle", "remit.yaml"):
            subprocess.run(["cp", "-R", DESK / name, self.folder], check=True)
        subprocess.run(["chmod", "-R", "go-w", self.folder], check=True)
        key = self.folder / "digest.key"
        key.write_bytes(b"k" * 32)
        key.chmod(0o600)
        server = BINARIES / "invoice_desk_server"
        (self.folder / "invoice_desk_server").symlink_to(server)
        subprocess.run([server, "--create", "desk.db"], cwd=self.folder, check=True)
        gateway = subprocess.Popen(
            [BINARIES / "remit", "stdio", "--config", "remit.yaml"], cwd=self.folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(gateway.wait)
        self.addCleanup(gateway.kill)
        self.addCleanup(gateway.stdout.close)
        messages = (
            {"id": 1, "method": "initialize",
             "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                        "clientInfo": {"name": "watched", "version": "1"}}},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": {"name": "invoice.list", "arguments": {}}})
        for message in messages:
            gateway.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        gateway.stdin.flush()
        while json.loads(gateway.stdout.readline()).get("id") != 2:
            pass
        return gateway

    def test_a_gateway_at_work_loses_nothing_and_ends_when_its_log_is_closed(self):
        gateway = self.gateway()
        watch = self.watch("evidence")
        said = watch.until(lambda said: said["invocations"] == 1)
        self.assertEqual((said["findings"], said["verdicts"]["completeness"]), ([], "passed"))
        gateway.stdin.close()
        grade, code = watch.end()
        self.assertEqual((grade["gate"], code), ("passed", 0))

    def test_of_a_gateway_that_was_killed_the_end_is_unknown(self):
        gateway = self.gateway()
        watch = self.watch("evidence")
        watch.until(lambda said: said["invocations"] == 1)
        gateway.kill()
        gateway.wait()
        gateway.stdin.close()
        watch.process.send_signal(signal.SIGINT)
        grade, code = watch.end()
        self.assertEqual(grade["findings"][0]["code"], "evidence_lost")
        self.assertEqual({one["value"] for one in grade["findings"]}, {"undetermined"})
        self.assertEqual((grade["gate"], code), ("undetermined", 2))

    def test_a_pipe_that_comes_later_holds_nobody_up(self):
        watch = self.watch()
        self.assertIn("waiting", watch.errors.get(timeout=PATIENCE))
        os.mkfifo(self.trace)
        self.assertIn("is a pipe", watch.errors.get(timeout=PATIENCE))
        self.trace.unlink()
        self.write(denied("i1"))
        watch.events(2)
        watch.process.send_signal(signal.SIGINT)
        self.assertEqual(watch.end()[1], 0)

    def test_what_cannot_be_followed_is_refused(self):
        self.trace.write_text(denied("i1"))
        os.mkfifo(self.folder / "pipe")
        for arguments in (["--watch", "-"], ["--watch", "trace.jsonl", "--format", "junit"],
                          ["--watch", "pipe"], ["--watch", "trace.jsonl", "/dev/null"]):
            done = subprocess.run([BINARIES / "remit", "grade", *arguments], cwd=self.folder,
                                  stdin=subprocess.DEVNULL, capture_output=True, check=False,
                                  timeout=PATIENCE)
            self.assertEqual(done.returncode, 64, done.stderr)


if __name__ == "__main__":
    unittest.main()
