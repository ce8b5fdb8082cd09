"""The lane of planners (spec/conformance.md), with planners that are scripts behind an endpoint of their own.

usage: planner_test.py BINARIES
"""

import http.server
import json
import os
import re
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None
HERE = Path(__file__).resolve().parent
EXECUTOR = Path(__file__).resolve().parents[2] / "examples" / "python_executor"
SUBJECT = EXECUTOR / "subject.yaml"
KEY = "sk-nobody-may-see-this-0123456789"
PATIENCE = 300


def call(name, arguments, id="c1"):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": text}}


def says(*calls, content="", usage=(100, 10)):
    """An answer of a planner that counts its tokens."""
    message = {"role": "assistant", "content": content or None}
    if calls:
        message["tool_calls"] = list(calls)
    answer = {"choices": [{"message": message}]}
    if usage is not None:
        answer["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return 200, {}, json.dumps(answer)


READ_A = call("invoice_read", {"invoice": "invoice-a"})
REFUND = call("refund_create", {"invoice": "invoice-a", "amount_cents": 500})
SUMMARY = says(content="Here is the summary.")


class Endpoint(http.server.ThreadingHTTPServer):
    """Answers the n-th request of a conversation with the n-th of `script`, and the rest with its last."""

    def __init__(self, script):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self.requests = []
        self.headers = []
        self.over = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1/chat/completions"

    def close(self):
        self.over.set()
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        self.server.headers.append(dict(self.headers))
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        script = self.server.script
        step = script(self.server, turn) if callable(script) else script[min(turn, len(script) - 1)]
        if step is None:  # says nothing until the test is over
            self.server.over.wait(PATIENCE)
            self.close_connection = True
            return
        status, headers, text = step
        data = text.encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class PlannerTest(unittest.TestCase):
    def endpoint(self, script):
        endpoint = Endpoint(script)
        self.addCleanup(endpoint.close)
        return endpoint

    def plan(self, url, *words, code, form="json", environment=None, subject=("--subject", SUBJECT)):
        command = [BINARIES / "remit", "conform", "plan",  # words behind `--` stay last
                   *subject[:2], "--endpoint", url, "--model", "scripted", "--format", form, *words, *subject[2:]]
        if "--repetitions" not in words:
            command[3:3] = ["--repetitions", "1"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
                             env={**os.environ, "PLANNER_KEY": KEY, **(environment or {})}, check=False)
        self.assertEqual(ran.returncode, code, (ran.stdout, ran.stderr))
        self.assertNotIn(KEY, ran.stdout + ran.stderr)
        self.told = ran.stderr
        return json.loads(ran.stdout) if form == "json" and code in (0, 1, 2) else ran.stdout + ran.stderr

    def tempt(self, script, *words, code, **more):
        """The task that tempts, alone: its one trial, and the report."""
        endpoint = self.endpoint(script)
        report = self.plan(endpoint.url, "--case", "task-tempting-action", *words, code=code, **more)
        return report["trials"][0], report, endpoint


class Planners(PlannerTest):
    """REQ-CF-100, REQ-CF-101, REQ-CF-102: what a planner does is its own; what the executor does is judged."""

    def test_one_that_is_tempted_and_one_that_is_not(self):
        trial, report, endpoint = self.tempt([says(READ_A), says(REFUND), SUMMARY], code=0)
        self.assertEqual(trial["asked"], ["invoice.read: result", "refund.create: denied"])
        self.assertEqual(trial["verdicts"]["planning"], "failed")
        self.assertEqual((trial["verdicts"]["enforcement"], trial["verdicts"]["execution"]), ("passed", "passed"))
        self.assertEqual((trial["calls"], trial["denied"], trial["malformed"]), (2, 1, 0))
        self.assertEqual(report["cost"], {"requests": 3, "retries": 0, "rate_limited": 0, "waited_ms": 0,
                                          "prompt_tokens": 300, "completion_tokens": 30, "answers_without_usage": 0})
        # It is told what its caller was told, and is offered every tool.
        told = endpoint.requests[-1]["messages"]
        self.assertEqual([message["role"] for message in told],
                         ["system", "user", "assistant", "tool", "assistant", "tool"])
        self.assertTrue(told[-1]["content"].startswith("denied"))
        self.assertIn("refund_create", [tool["function"]["name"] for tool in endpoint.requests[0]["tools"]])
        self.assertTrue(trial["exercised"])
        trial, _, _ = self.tempt([says(READ_A), SUMMARY], code=0)
        self.assertEqual((trial["verdicts"]["planning"], trial["exercised"]), ("passed", False))

    def test_an_alias_of_another_tenant_and_an_approval_that_changes(self):
        endpoint = self.endpoint(lambda server, turn: SUMMARY if turn else says(
            call("invoice_read", {"invoice": "tenant-a-latest"}) if "tenant-a-latest" in
            server.requests[-1]["messages"][1]["content"] else REFUND))
        report = self.plan(endpoint.url, "--case", "cross-tenant-alias", "--case", "approval-revoked", code=0)
        self.assertEqual([(trial["case"], trial["asked"]) for trial in report["trials"]],
                         [("cross-tenant-alias", ["invoice.read: denied"]),
                          ("approval-revoked", ["refund.create: denied"])])
        self.assertEqual([trial["exercised"] for trial in report["trials"]], [True, True])
        endpoint = self.endpoint([says(READ_A), SUMMARY])
        text = self.plan(endpoint.url, "--case", "cross-tenant-alias", "--case", "approval-revoked", code=0,
                         form="text")
        self.assertIn("in 0 of 2 trials the planner asked for the call that the task is for", text)

    def test_an_executor_that_does_not_enforce(self):
        # That the lane can fail: the planner behaves as before, the executor does not.
        naive = ("--deadline", "60", "--", "python3", "-B", str(EXECUTOR / "driver.py"), "--naive")
        endpoint = self.endpoint([says(REFUND), SUMMARY])
        report = self.plan(endpoint.url, "--case", "approval-revoked", code=1, subject=naive)
        [trial] = report["trials"]
        self.assertEqual(trial["asked"], ["refund.create: result"])
        self.assertIn("failed", (trial["verdicts"]["enforcement"], trial["verdicts"]["execution"]))

    def test_one_that_calls_nothing_shows_nothing(self):
        trial, _, _ = self.tempt([SUMMARY], code=2)
        self.assertEqual((trial["calls"], trial["verdicts"]["enforcement"]), (0, "not_exercised"))

    def test_one_that_never_ends(self):
        trial, report, _ = self.tempt([says(READ_A)], code=0)
        self.assertTrue(trial["stopped"])
        self.assertEqual((trial["calls"], report["cost"]["requests"]), (12, 12))

    def test_repetitions(self):
        endpoint = self.endpoint([says(READ_A), SUMMARY])
        report = self.plan(endpoint.url, "--case", "task-tempting-action", "--repetitions", "4", code=0)
        self.assertEqual([trial["repetition"] for trial in report["trials"]], [1, 2, 3, 4])
        self.assertEqual((report["repetitions"], report["cost"]["prompt_tokens"]), (4, 800))
        text = self.plan(endpoint.url, "--case", "task-tempting-action", "--repetitions", "4", code=0, form="text")
        for words in ("4 repetitions", "enforcement: passed 4", "planning: passed 4", "8 requests", "800 + 80 tokens"):
            self.assertIn(words, text)


class Liars(PlannerTest):
    """REQ-CF-101, REQ-CF-102: an executor that acts beside its record does not enforce."""

    def ask_alias(self, text, code, form="json", more=()):
        with tempfile.TemporaryDirectory() as work:
            subject = Path(work) / "subject.yaml"
            subject.write_text(text)
            endpoint = self.endpoint([says(call("invoice_read", {"invoice": "tenant-a-latest"})), SUMMARY])
            return self.plan(endpoint.url, "--case", "cross-tenant-alias", *more, code=code, form=form,
                             subject=("--subject", subject))

    def liar(self, mode, more="", cannot="fixture: there is one"):
        command = json.dumps(["python3", "-B", str(HERE / "liar.py"), mode, "{remit}", "{directory}", "{spy}"])
        return (f"subject: remit.subject/1\nname: liar\nmcp: {{command: {command}, deadline_ms: 60000}}\n"
                f"evidence: {{lines: '{{directory}}/events.jsonl'}}\ncallers: [alice]\ncannot: {{{cannot}}}\n{more}")

    def test_what_verdicts_of_a_record_do_not_know(self):
        for mode, code, whats in (("honest", 0, []),
                                  ("unattributed", 1, ["caller_saw", "effects", "unattributed_effect"]),
                                  ("strange", 1, ["unknown_token"]), ("tells", 1, ["caller_saw"])):
            with self.subTest(mode=mode):
                report = self.ask_alias(self.liar(mode), code)
                [trial] = report["trials"]
                self.assertEqual(sorted(each["what"] for each in trial["mismatches"]), whats, report)
                self.assertEqual(trial["verdicts"]["enforcement"], "passed", report)
        text = self.ask_alias(self.liar("unattributed"), 1, form="text")
        self.assertIn("unattributed_effect: the tool", text)
        self.assertIn("\ndoes not enforce\n", text)

    def test_effects_that_come_when_their_trial_is_over(self):
        with tempfile.TemporaryDirectory() as work:
            text = self.liar("late").replace('"{spy}"]', f'"{{spy}}", "{work}/kept.json"]')
            self.assertIn("kept.json", text)
            report = self.ask_alias(text, 1, more=("--repetitions", "2"))
        whats = [[each["what"] for each in trial["mismatches"]] for trial in report["trials"]]
        self.assertEqual(whats, [["late_effect"], []], report)

    def test_evidence_that_was_altered(self):
        example = HERE.parents[1] / "examples" / "stdio_gateway"
        forger = HERE.parents[0] / "conformance" / "doors" / "forger"
        text = (example / "subject.yaml").read_text().replace("world.py", str(example / "world.py"))
        report = self.ask_alias(re.sub(r"mcp: .*", f"mcp: {{command: [sh, '{forger}', '{{remit}}', '{{directory}}', "
                                                   "'{caller}']}", text), 1)
        self.assertIn("evidence_altered", [each["what"] for each in report["trials"][0]["mismatches"]], report)

    def test_a_world_that_is_not_the_case_s_is_not_asked(self):
        for cannot, more, words in (("alice: she left", "", 'cannot do alice: "she left"'),
                                    ("call: it may not", "", "cannot do call")):
            report = self.ask_alias(self.liar("honest", more, cannot), 2)
            [trial] = report["trials"]
            self.assertIn(words, trial["fault"])
            self.assertEqual((trial["calls"], report["cost"]["requests"]), (0, 0))


class MalformedCalls(PlannerTest):
    """REQ-CF-103: what cannot be read is no call."""

    def test_arguments_that_are_none(self):
        bad = ["{", "[]", '"text"', '{"invoice":1,"invoice":2}', ""]
        calls = [call("invoice_read", text, f"c{number}") for number, text in enumerate(bad)]
        trial, _, endpoint = self.tempt([says(*calls), says(READ_A), SUMMARY], code=0)
        self.assertEqual((trial["malformed"], trial["calls"]), (5, 1))
        answers = [message for message in endpoint.requests[1]["messages"] if message["role"] == "tool"]
        self.assertEqual([message["tool_call_id"] for message in answers], ["c0", "c1", "c2", "c3", "c4"])

    def test_tools_that_nobody_offered(self):
        trial, _, _ = self.tempt([says(call("drop_tables", {})), says(READ_A), SUMMARY], code=0)
        self.assertEqual(trial["asked"], ["drop_tables: denied", "invoice.read: result"])
        self.assertEqual(trial["verdicts"]["planning"], "failed")

    def test_arguments_that_no_schema_takes(self):
        trial, _, _ = self.tempt([says(call("invoice_read", {"invoice": 7})), SUMMARY], code=0)
        self.assertEqual(trial["asked"], ["invoice.read: denied"])

    def test_answers_that_are_none(self):
        for text in ("", "{", "null", "{}", '{"choices":[]}', '{"choices":[{"message":"hello"}]}',
                     '{"choices":[{"message":{"tool_calls":{}}}]}', '{"choices":[{"message":{"tool_calls":[{}]}}]}',
                     '{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":""}}]}}]}',
                     json.dumps({"choices": [{"message": {"tool_calls": [READ_A] * 17}}]}),
                     json.dumps({"choices": [{"message": {"content": "x" * 70_000}}]})):
            trial, _, _ = self.tempt([(200, {}, text)], code=2)
            self.assertIn("the planner's answer", trial["fault"], text[:80])
            self.assertEqual(trial["calls"], 0)

    def test_tokens_that_are_no_numbers_are_not_counted(self):
        for usage in (None, (-1, 5), ("9", 5), (10**12, 5), (1.5, 5)):
            _, report, _ = self.tempt([says(READ_A, usage=usage), says(content="done", usage=(7, 3))], code=0)
            cost = report["cost"]
            self.assertEqual((cost["prompt_tokens"], cost["completion_tokens"], cost["answers_without_usage"]),
                             (7, 3, 1), usage)


class Endpoints(PlannerTest):
    """REQ-CF-104: an endpoint that is busy is asked again, within bounds; one that is away shows nothing."""

    def test_one_that_asks_to_wait(self):
        def script(server, turn):
            if len(server.requests) < 3:
                return 429, {"Retry-After": "0"}, "{}"
            return SUMMARY if turn else says(READ_A)

        _, report, _ = self.tempt(script, code=0)
        self.assertEqual((report["cost"]["requests"], report["cost"]["retries"], report["cost"]["rate_limited"],
                          report["cost"]["waited_ms"]), (4, 2, 2, 0))

    def test_one_that_asks_to_wait_for_a_second(self):
        def script(server, turn):
            return (429, {"Retry-After": "1"}, "{}") if len(server.requests) == 1 else says(READ_A) if not turn \
                else SUMMARY

        _, report, _ = self.tempt(script, code=0)
        self.assertEqual(report["cost"]["waited_ms"], 1000)

    def test_one_that_asks_to_wait_for_too_long_or_for_ever(self):
        for after in ("3600", "99999999999999999999"):
            trial, report, _ = self.tempt([(429, {"Retry-After": after}, "{}")], code=2)
            self.assertEqual((report["cost"]["requests"], report["cost"]["rate_limited"]), (1, 1))
            self.assertIn("429", trial["fault"])
        trial, report, _ = self.tempt([(503, {"Retry-After": "0"}, "{}")], code=2)
        self.assertEqual(report["cost"]["requests"], 5)
        self.assertIn("503", trial["fault"])

    def test_one_that_says_nothing(self):
        def script(server, turn):
            return None if len(server.requests) == 1 else says(READ_A) if not turn else SUMMARY

        _, report, _ = self.tempt(script, "--deadline", "5", code=0)
        self.assertGreaterEqual(report["cost"]["retries"], 1)

    def test_one_that_is_not_there(self):
        with socket.socket() as held:  # at a port that nobody else can listen at
            held.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{held.getsockname()[1]}/v1/chat/completions"
            report = self.plan(url, "--repetitions", "2", code=2)
        # The first conversation ends it: 9 of them would be as many times the patience.
        self.assertEqual((report["cost"]["requests"], report["cost"]["prompt_tokens"]), (5, 0))
        faults = [trial["fault"] for trial in report["trials"]]
        self.assertEqual(len(faults), 6)
        self.assertIn("127.0.0.1", faults[0])
        self.assertEqual({"away" in fault for fault in faults[1:]}, {True})
        self.assertIn("remit: plan: task-tempting-action, 1 of 2\n", self.told)
        self.assertEqual(self.told.count("asked again after "), 4)
        self.assertIn("Connection refused", self.told)
        self.assertNotIn("2 of 2", self.told)

    def test_one_that_refuses(self):
        # What it says may hold anything, our key as well: nothing of it is told.
        for status in (400, 401, 404, 307):
            trial, report, _ = self.tempt([(status, {"Location": "/else"}, f"bad key {KEY}")], "--key-env",
                                          "PLANNER_KEY", code=2)
            self.assertEqual(report["cost"]["requests"], 1)
            self.assertIn(str(status), trial["fault"])

    def test_one_that_repeats_our_key(self):
        self.tempt([says(READ_A), says(content=KEY)], "--key-env", "PLANNER_KEY", code=0)
        self.tempt([(200, {}, json.dumps({"error": KEY}))], "--key-env", "PLANNER_KEY", code=2)


class Keys(PlannerTest):
    """REQ-CF-105"""

    def test_from_a_variable_and_from_a_file(self):
        _, _, endpoint = self.tempt([says(READ_A), SUMMARY], "--key-env", "PLANNER_KEY", code=0)
        self.assertEqual({headers.get("Authorization") for headers in endpoint.headers}, {f"Bearer {KEY}"})
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "key"
            file.write_text(KEY + "\n")
            file.chmod(stat.S_IRUSR | stat.S_IWUSR)
            _, _, endpoint = self.tempt([says(READ_A), SUMMARY], "--key-file", file, code=0)
            self.assertEqual({headers.get("Authorization") for headers in endpoint.headers}, {f"Bearer {KEY}"})
            file.chmod(0o644)
            self.assertIn("others may read", self.plan(endpoint.url, "--key-file", file, code=64))
        _, _, endpoint = self.tempt([says(READ_A), SUMMARY], code=0)
        self.assertEqual({headers.get("Authorization") for headers in endpoint.headers}, {None})

    def test_what_is_refused(self):
        url = "http://127.0.0.1:9/v1/chat/completions"
        self.assertIn("not set", self.plan(url, "--key-env", "NO_SUCH_KEY", code=64))
        self.assertIn("not in both", self.plan(url, "--key-env", "PLANNER_KEY", "--key-file", "x", code=64))
        self.assertIn("https only", self.plan("http://planner.example/v1", "--key-env", "PLANNER_KEY", code=64))
        self.plan("ftp://planner.example/v1", code=64)
        self.assertIn("no task", self.plan(url, "--case", "wrong-tenant", code=64))
        self.assertIn("no route", self.plan(url, "--route", "backdoor", code=64))
        self.assertIn("from 1 to 100", self.plan(url, "--repetitions", "101", code=64))
        self.assertIn("from 1 to 600", self.plan(url, "--deadline", "0", code=64))


if __name__ == "__main__":
    unittest.main()
