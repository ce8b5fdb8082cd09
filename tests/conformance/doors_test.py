"""Executors asked over MCP and HTTP: a good one passes, and bad ones are caught by the cases made for them.

usage: doors_test.py BINARIES
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None

# What a door is told to do wrong that the pack has no name for, and the case that catches it.
OWN_FAULTS = {"forwards-without-asking": "wrong-tenant", "records-nothing": "allowed", "calls-twice": "allowed"}
# What an executor remembers of a call that it was not asked for yet: by a client alone there is no such thing.
BEYOND_CLIENTS = {"caches-principal-facts", "caches-resolution", "approval-checked-at-plan",
                  "denied-work-can-be-started"}
# Over HTTP those of which the door itself could be the cause; the others differ behind it.
OVER_HTTP = {"handler-before-decision", "records-allow-runs-denied", "missing-identity-as-service-account",
             "expired-identity-accepted", "invalid-identity-as-missing", "trusts-tenant-argument",
             "handler-gets-callers-reference", "second-reference-passed-on", "unknown-tool-falls-through",
             "case-insensitive-names", "leaks-existence", "duplicate-key-runs-twice", "failure-told-as-success",
             "lost-reply-recorded-as-success", "drops-events", "records-after-running"}


def run(subject, *words, fault=""):
    done = subprocess.run([BINARIES / "remit", "conform", "run", "--subject", HERE / "doors" / subject, *words,
                           "--format", "json"],
                          env={**os.environ, "DOOR_FAULT": fault}, timeout=300, capture_output=True, text=True,
                          check=False)
    return done.returncode, json.loads(done.stdout)


def faults_of(route):
    text = (HERE.parents[1] / "conformance" / "v1" / "faults.yaml").read_text()
    rows = re.findall(r"name: (\S+), .*, case: (\S+), routes: \[(.*)\]", text)
    return {name: case for name, case, routes in rows if route in routes.split(", ")} | OWN_FAULTS


class DoorsTest(unittest.TestCase):
    def check_good(self, subject, trials):
        code, report = run(subject)
        self.assertEqual(code, 0, report)
        self.assertEqual(len(report["trials"]), trials)
        self.assertIn("denied-then-started", report["not_exercised"]["cases"])
        self.assertTrue(any("no client" in sentence for sentence in report["scope"]), report["scope"])

    def check_bad(self, subject, faults):
        for fault, case in faults.items():
            with self.subTest(fault=fault):
                code, report = run(subject, "--case", case, fault=fault)
                verdicts = [trial["verdict"] for trial in report["trials"] if trial["case"] == case]
                self.assertEqual((code, verdicts), (1, ["failed"]), report)

    def test_a_good_proxy_passes(self):
        self.check_good("mcp.yaml", 35)

    def test_bad_proxies_are_caught(self):
        faults = {name: case for name, case in faults_of("agent").items() if name not in BEYOND_CLIENTS}
        self.assertEqual(len(faults), 35 + len(OWN_FAULTS))
        self.check_bad("mcp.yaml", faults)

    def test_evidence_that_was_altered_is_found(self):
        example = HERE.parents[1] / "examples" / "stdio_gateway"
        text = (example / "subject.yaml").read_text()
        forger = f"mcp: {{command: [sh, '{HERE / 'doors' / 'forger'}', '{{remit}}', '{{directory}}', '{{caller}}']}}"
        altered = re.sub(r"mcp: .*", forger, text).replace("world.py", str(example / "world.py"))
        self.assertIn("forger", altered)
        with tempfile.TemporaryDirectory() as work:
            subject = Path(work) / "subject.yaml"
            subject.write_text(altered)
            code, report = run(subject, "--case", "allowed")
        self.assertEqual(code, 1, report)
        self.assertEqual(report["trials"][0]["mismatches"][0]["what"], "evidence_altered", report)

    def test_a_good_service_passes(self):
        self.check_good("http.yaml", 34)

    def test_a_handler_without_the_adapter_is_caught(self):
        subject = BINARIES.parent / "subjects" / "http_desk_bare.yaml"
        code, report = run(subject, "--case", "wrong-tenant", "--case", "missing-identity")
        self.assertEqual(code, 1, report)
        self.assertEqual({trial["verdict"] for trial in report["trials"]}, {"failed"})

    def test_bad_services_are_caught(self):
        faults = {name: case for name, case in faults_of("legacy").items() if name in OVER_HTTP | set(OWN_FAULTS)}
        self.assertEqual(len(faults), len(OVER_HTTP) + len(OWN_FAULTS))
        self.check_bad("http.yaml", faults)


if __name__ == "__main__":
    unittest.main()
