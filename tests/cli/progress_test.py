"""Progress on a real terminal (REQ-GR-115): a pseudo-terminal as standard error, and a pipe that is slow to fill.

usage: progress_test.py BINARIES

Nothing is timed: what is awaited is waited for.
"""

import os
import pty
import re
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None
LINE = '{"event":"tool.request","invocation_id":"i%d","tool":"invoice.read"}\n'
TOLD = re.compile(rb"\rremit: grading [0-9.]+ k?B, [0-9.]+ k?B/s")


def shown(written):
    """What stands on the lines of a terminal after `written`."""
    lines = [[]]
    at = 0
    for character in written.decode():
        if character == "\r":
            at = 0
        elif character == "\n":
            lines.append([])
            at = 0
        else:
            lines[-1][at:at + 1] = character
            at += 1
    return [text for text in ("".join(line).rstrip() for line in lines) if text]


class ProgressTest(unittest.TestCase):
    def grade(self, *arguments, stderr_is_terminal=True, term="xterm", until=TOLD):
        """Grades standard input, into which lines go until `until` is told, or two seconds' worth of them."""
        ours, theirs = pty.openpty() if stderr_is_terminal else os.pipe()
        process = subprocess.Popen(
            [BINARIES / "remit", "grade", "-", "--format", "json", *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, "TERM": term})
        os.close(theirs)
        written = bytearray()

        def pump():
            while True:
                try:
                    piece = os.read(ours, 4096)
                except OSError:  # what Linux says where the other end of a terminal is closed
                    return
                if not piece:
                    return
                written.extend(piece)

        pumping = threading.Thread(target=pump)
        pumping.start()
        printed = []
        taking = threading.Thread(target=lambda: printed.append(process.stdout.read()))
        taking.start()
        try:
            for number in range(3000):
                if until.search(bytes(written)) or (until is not TOLD and number == 20):
                    break
                process.stdin.write((LINE % number).encode())
                process.stdin.flush()
                time.sleep(0.1)
            process.stdin.close()
        except BrokenPipeError:
            pass
        code = process.wait(timeout=120)
        for thread in (pumping, taking):
            thread.join()
        os.close(ours)
        process.stdout.close()
        return bytes(written), printed[0], code

    def test_a_terminal_is_told_and_left_as_it_was(self):
        written, printed, code = self.grade()
        self.assertRegex(written, TOLD)
        self.assertEqual(shown(written), [])
        self.assertEqual(code, 1)  # requests without decisions
        self.assertTrue(printed.startswith(b'{"schema":"remit.grade/1"'), printed[:80])

    def test_always_tells_a_pipe_as_well(self):
        written, _, _ = self.grade("--progress", "always", stderr_is_terminal=False)
        self.assertRegex(written, TOLD)
        self.assertEqual(shown(written), [])

    def test_nothing_is_written_where_nobody_looks_or_nobody_wants(self):
        never = re.compile(b"(?!)")
        for arguments, terminal, term in ((["--progress", "never"], True, "xterm"), ([], True, "dumb"),
                                          ([], False, "xterm")):
            written, _, _ = self.grade(*arguments, stderr_is_terminal=terminal, term=term, until=never)
            self.assertEqual(written, b"")

    def test_the_terminal_is_read_right(self):
        self.assertEqual(shown(b"\rremit: 1234\rremit: 12  \r           \r"), [])
        self.assertEqual(shown(b"\rremit: 1234\r    "), ["    t: 1234"])  # so a line that stays is seen


if __name__ == "__main__":
    unittest.main()
