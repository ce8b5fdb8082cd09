"""No input without events, without invocations or with nothing but unknowns ever gives exit code 0
(REQ-GR-002, REQ-RO-021, REQ-RO-027, REQ-RO-052, invariant *unknown never passes*), except under
--advisory, which says so loudly.

usage: empty_runs_test.py BINARIES
"""

import gzip
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None

UNDECIDED = ('{"event":"tool.request","invocation_id":"i","tool":"a"}\n'
             '{"event":"authorization.decision","invocation_id":"i","tool":"a",'
             '"decision":"perhaps","policy_version":"1"}\n')
ALLOWED = ('{"event":"tool.request","invocation_id":"i","tool":"a"}\n'
           '{"event":"authorization.decision","invocation_id":"i","tool":"a","decision":"allow",'
           '"reason":"allowed","policy_version":"1"}\n'
           '{"event":"executor.start","invocation_id":"i","tool":"a"}\n'
           '{"event":"executor.finish","invocation_id":"i","tool":"a","outcome":"succeeded"}\n')

# What is in the one input of a run. None of it shows a call that was decided and is accounted for.
EMPTY = {
    "no bytes": b"",
    "a line feed": b"\n",
    "blank lines": b"\n \r\n\t\n",
    "a run that started": b'{"event":"run.started","run_id":"r"}\n',
    "a run that started and finished": b'{"event":"run.started"}\n{"event":"run.finished"}\n',
    "a run that counted nothing": b'{"event":"run.finished","events":0,"invocations":0}\n',
    "a published policy": b'{"event":"policy.published","policy_version":"1"}\n',
    "an extension": b'{"event":"x.mine","invocation_id":"i"}\n',
    "a loss": b'{"event":"evidence.lost","events":-1}\n',
    "lines that are no events": b"x\n{}\n[]\n",
    "an unknown event": b'{"event":"tool.asked","invocation_id":"i"}\n',
    "a line cut short": b'{"event":"tool.req',
    "packed nothing": gzip.compress(b""),
    "a request": b'{"event":"tool.request","invocation_id":"i","tool":"a"}\n',
    "an undecided call": UNDECIDED.encode(),
    "a start": b'{"event":"executor.start","invocation_id":"i","tool":"a"}\n',
    "effects": b'{"event":"effect.observed","invocation_id":"i","effects":0}\n',
    "a trace of no spans": b'{"resourceSpans":[]}\n',
    "a chat without calls": b'{"messages":[{"role":"user","content":"hi"}]}\n',
}

NOTHING_BLOCKS = ("contract: remit.contract/1\nname: idle\nextends: sequential\n"
                  "blocking: {planning: false, enforcement: false, execution: false, "
                  "completeness: false}\n")
FILES = {
    "vacuous.yaml": "manifest: remit.manifest/1\ncases:\n  - {id: c, kind: task, allowed_requests: [t]}\n",
    "facts.yaml": "manifest: remit.manifest/1\npolicies:\n  - {version: \"1\"}\n",
    "control.yaml": ("manifest: remit.manifest/1\ncases:\n  - {id: c, kind: security, expect: "
                     "[{tool: other, decision: deny}]}\n"),
    "known.yaml": "baseline: remit.baseline/1\nknown:\n" + "".join(
        f"  - {{code: {code}, owner: a, reason: b, expires: 9999-12-31, count: 99}}\n"
        for code in ("malformed_event", "missing_decision", "missing_request", "unknown_decision",
                     "start_without_allow", "allow_without_finish", "expected_request_absent",
                     "missing_invocation", "missing_policy_version")),
    "planning.yaml": ("contract: remit.contract/1\nname: only-planning\nextends: sequential\n"
                      "blocking: {planning: true, enforcement: false, execution: false, "
                      "completeness: false}\n"),
    "idle.yaml": NOTHING_BLOCKS,
    "lenient.yaml": ("rollout: remit.rollout/1\nat_least: {calls: 1}\nlosses: 99\n"
                     "at_most: {would_deny: 99, would_allow: 99, unsettled: 99}\n"),
}

# A route in shadow mode and a tool.
BUNDLE = {
    "bundle.yaml": ("bundle: remit.bundle/1\nversion: \"1\"\nenvironment: test\n"
                    "routes: [{name: agent, transport: stdio, mode: shadow}]\n"),
    "catalogue.yaml": "catalogue: remit.catalogue/1\ntools: [{name: a, effect: read}]\n",
    "schema.cedarschema": "entity Principal;\n",
    "policies/a.cedar": "permit(principal, action, resource);\n",
}

FLAGS = [
    [],
    ["--contract", "sequential"],
    ["--contract", "fan_out"],
    ["--contract", "queued"],
    ["--contract", "planning.yaml"],
    ["--contract", "idle.yaml"],
    ["--manifest", "vacuous.yaml"],
    ["--manifest", "facts.yaml"],
    ["--manifest", "control.yaml"],
    ["--expect", "other"],
    ["--baseline", "known.yaml"],
    ["--baseline", "known.yaml", "--manifest", "control.yaml", "--contract", "fan_out"],
    ["--all"],
    ["--format", "json"],
    ["--format", "junit"],
    ["--format", "text", "--write", "json=grade.json"],
]


class EmptyRunsTest(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.folder = Path(work.name)
        for name, text in FILES.items():
            (self.folder / name).write_text(text)

    def grade(self, inputs, flags, stdin=b""):
        return subprocess.run([BINARIES / "remit", "grade", *inputs, *flags], cwd=self.folder,
                              input=stdin, capture_output=True, timeout=60, check=False)

    def test_no_form_of_nothing_passes(self):
        for what, content in EMPTY.items():
            (self.folder / "trace").write_bytes(content)
            for flags in FLAGS:
                with self.subTest(what=what, flags=flags):
                    done = self.grade(["trace"], flags)
                    # 64 for a contract that cannot be violated; 65 for what cannot be read.
                    self.assertIn(done.returncode, (1, 2, 64, 65), done.stderr)
                    if done.returncode in (64, 65):
                        self.assertTrue(done.stderr.startswith(b"remit: "), done.stderr)

    def test_nothing_on_standard_input_passes(self):
        for what, content in EMPTY.items():
            for flags in FLAGS:
                with self.subTest(what=what, flags=flags):
                    done = self.grade(["-"], flags, stdin=content)
                    self.assertIn(done.returncode, (1, 2, 64, 65), done.stderr)

    def test_many_times_nothing_does_not_pass(self):
        for number, content in enumerate(EMPTY.values()):
            (self.folder / f"part{number}").write_bytes(content)
        # Together they hold a call, or what looks like one; nothing decided it.
        names = [f"part{number}" for number in range(len(EMPTY))]
        self.assertIn(self.grade(names, []).returncode, (1, 2, 65))

    def test_no_form_of_nothing_is_ready_or_a_route(self):
        bundle = self.folder / "bundle"
        (bundle / "policies").mkdir(parents=True, mode=0o755)
        for name, text in BUNDLE.items():
            (bundle / name).write_text(text)
            (bundle / name).chmod(0o644)
        for command in (["rollout", "report", "--criteria", "lenient.yaml"],
                        ["rollout", "report", "--criteria", "lenient.yaml", "--bundle", "bundle"],
                        ["rollout", "report", "--min-calls", "1", "--by", "route"],
                        ["routes", "check", "--bundle", "bundle"]):
            for what, content in EMPTY.items():
                (self.folder / "trace").write_bytes(content)
                with self.subTest(what=what, command=command):
                    done = subprocess.run([BINARIES / "remit", *command, "trace"], cwd=self.folder,
                                          capture_output=True, timeout=60, check=False)
                    self.assertIn(done.returncode, (1, 2, 65), done.stderr)

    def test_an_empty_directory_does_not_pass(self):
        (self.folder / "evidence").mkdir()
        self.assertEqual(self.grade(["evidence"], []).returncode, 65)
        (self.folder / "evidence" / "w").mkdir()
        self.assertNotEqual(self.grade(["evidence"], []).returncode, 0)

    def test_a_watched_run_of_nothing_does_not_pass(self):
        for what in ("a run that started and finished", "a run that counted nothing"):
            (self.folder / "trace").write_bytes(EMPTY[what])
            with self.subTest(what=what):
                self.assertEqual(self.grade(["trace"], ["--watch"]).returncode, 2)

    def test_advisory_is_the_one_exception_and_says_so(self):
        for what, content in EMPTY.items():
            (self.folder / "trace").write_bytes(content)
            with self.subTest(what=what):
                done = self.grade(["trace"], ["--advisory", "--write", "json=grade.json"])
                if done.returncode == 65:
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(b"ADVISORY: the exit code is 0; without --advisory it would be",
                              done.stdout)
                grade = json.loads((self.folder / "grade.json").read_text())
                self.assertNotEqual(grade["gate"], "passed")

    def test_a_run_that_shows_something_passes(self):
        (self.folder / "trace").write_text(ALLOWED)
        self.assertEqual(self.grade(["trace"], []).returncode, 0)
        self.assertEqual(self.grade(["-"], ["--all"], stdin=ALLOWED.encode()).returncode, 0)


if __name__ == "__main__":
    unittest.main()
