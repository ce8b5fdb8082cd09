"""Deferred work from its enqueuing to its grade (spec/queue.md), through the program.

usage: queue_work_test.py BINARIES

Effects are counted at the tool's server, which writes down every request that reaches it. No test measures time;
where a claim has to run out, the test makes it old.
"""

import contextlib
import glob
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None
STDIO = Path(__file__).resolve().parents[1] / "stdio"
TRIALS = int(os.environ.get("REMIT_QUEUE_TRIALS", "12"))
PATIENCE = 120
LONG_AGO = 0

DIRECTORY = """directory: remit.directory/1
principals:
  - {subject: ana, tenant: tenant-a, class: support_agent, scopes: [act, "note:read"]}
  - {subject: nightly, tenant: tenant-a, class: batch, scopes: [act, "note:read"], revision: "1"}
  - {subject: bert, tenant: tenant-b, class: support_agent, scopes: [act, "note:read"]}
"""


class World:
    """The world of the stdio tests with the routes of deferred work, a database and a directory."""

    def __init__(self, folder, flags=()):
        self.folder = Path(folder)
        shutil.copytree(STDIO / "world", self.folder, dirs_exist_ok=True)
        command = ["/usr/bin/env", "python3", str(STDIO / "fake_server.py"), "--tap", "tap", *flags]
        self.edit("remit.yaml", "@UPSTREAMS@", f"  - {{name: fake, stdio: {{command: {json.dumps(command)}}}}}")
        self.edit("remit.yaml", "@LIMITS@", "")
        self.edit("remit.yaml", "identity:\n", "identity:\n  directory: directory.yaml\n")
        self.edit("remit.yaml", "evidence:", "state: {sqlite: state.db}\nevidence:")
        self.edit("bundle/bundle.yaml", "routes:\n",
                  "routes:\n  - {name: queued, transport: queue}\n  - {name: scheduled, transport: queue}\n"
                  "  - {name: retry, transport: queue}\n")
        self.put("directory.yaml", DIRECTORY)
        self.put("digest.key", "0123456789abcdef0123456789abcdef")
        self.protect()

    def put(self, name, text):
        (self.folder / name).write_text(text)
        self.protect()

    def edit(self, name, old, new):
        path = self.folder / name
        text = path.read_text()
        assert old in text, (name, old)
        path.write_text(text.replace(old, new))

    def protect(self):
        for path in [self.folder, *self.folder.rglob("*")]:
            path.chmod(path.stat().st_mode & ~0o077)

    def remit(self, *words, code=0):
        ran = subprocess.run([BINARIES / "remit", *words], cwd=self.folder, stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=PATIENCE)
        assert code is None or ran.returncode == code, (words, ran.returncode, ran.stdout, ran.stderr)
        return ran

    def queue(self, verb, *words, code=0):
        return self.remit("queue", verb, *words, "--config", "remit.yaml", code=code)

    def enqueue(self, tool, arguments, *words, principal="nightly"):
        self.put("arguments.json", json.dumps(arguments))
        return self.queue("enqueue", "--tool", tool, "--arguments", "arguments.json", "--principal", principal,
                          *words).stdout.strip()

    def work(self, *words, code=0):
        return self.queue("work", "--until-idle", *words, code=code)

    def worker(self, *words):
        """A worker that goes on until it is told to stop."""
        return subprocess.Popen([BINARIES / "remit", "queue", "work", "--config", "remit.yaml", *words],
                                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def show(self, row):
        return json.loads(self.queue("show", row, "--format", "json").stdout)

    def word(self, row):
        it = self.show(row)
        return " ".join(filter(None, [it["state"], it.get("reason", ""), it.get("error_type", "")]))

    def sql(self, statement):
        with contextlib.closing(sqlite3.connect(self.folder / "state.db", timeout=30)) as database:
            with database:
                return database.execute(statement).fetchall()

    def effects(self, tool=None):
        """The calls that reached the server, by the words they were called with."""
        tap = self.folder / "tap"
        if not tap.exists():
            return []
        calls = []
        for line in tap.read_text().splitlines():
            with contextlib.suppress(ValueError):  # the last line of a killed world may be torn
                message = json.loads(line)
                if message.get("method") == "tools/call" and tool in (None, message["params"]["name"]):
                    calls.append(message["params"]["arguments"])
        return calls

    def events(self):
        out = []
        for path in sorted((self.folder / "evidence").glob("writer-*/*.jsonl")):
            out += [json.loads(line) for line in path.read_text().splitlines()]
        return out

    def grade(self, target="evidence", *words):
        ran = self.remit("grade", target, "--contract", "queued", "--format", "json", *words, code=None)
        return ran.returncode, json.loads(ran.stdout)


class Postgres:
    """A server of its own on a socket, gone with the test. As root it runs as nobody, which it insists on."""

    def __init__(self):
        self.programs = os.path.dirname(sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))[-1])
        self.folder = tempfile.mkdtemp(prefix="remit-pg.", dir="/tmp")  # a socket's path has to be short
        self.as_who = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        if self.as_who:
            os.chown(self.folder, 65534, 65534)
        subprocess.run([f"{self.programs}/initdb", "-D", f"{self.folder}/d", "-A", "trust", "-U", "app", "--no-sync",
                        "-E", "UTF8", "--locale=C"], check=True, stdout=subprocess.DEVNULL, **self.as_who)
        self.start()

    def start(self):
        self.server = subprocess.Popen(
            [f"{self.programs}/postgres", "-D", f"{self.folder}/d", "-k", self.folder, "-c", "listen_addresses="],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self.as_who)
        while subprocess.run([f"{self.programs}/pg_isready", "-q", "-h", self.folder], check=False).returncode != 0:
            assert self.server.poll() is None, "the server ended"
            time.sleep(0.05)

    def stop(self):
        self.server.send_signal(signal.SIGQUIT)
        self.server.wait(PATIENCE)

    def close(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def place(self):
        return f"host={self.folder} user=app dbname=postgres"


class QueueTest(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        os.chmod(self.place.name, 0o700)

    def world(self, flags=()):
        return World(self.place.name, flags)

    def wait_until(self, what):
        end = time.monotonic() + PATIENCE
        while not what():
            self.assertLess(time.monotonic(), end, "this never came")
            time.sleep(0.02)

    def check_two_workers(self, count):
        world = self.world()
        rows = [world.enqueue("fake.act", {"do": "echo", "text": str(i)},
                              principal="bert" if i % 3 == 0 else "nightly") for i in range(count)]
        workers = [subprocess.Popen([BINARIES / "remit", "queue", "work", "--until-idle", "--config", "remit.yaml",
                                     "--threads", "3", "--name", name], cwd=world.folder, stdin=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
                   for name in ("one", "two")]
        for worker in workers:
            self.assertEqual(worker.wait(PATIENCE), 0)
        self.assertEqual(sorted(int(call["text"]) for call in world.effects()), list(range(len(rows))))
        self.assertEqual({world.word(row) for row in rows}, {"succeeded"})
        self.assertEqual(world.grade()[0], 0)


class Changes(QueueTest):
    """REQ-QU-014, REQ-QU-015, REQ-QU-041: what changed between enqueuing and running counts."""

    def test_what_is_allowed_now_runs_once(self):
        world = self.world()
        row = world.enqueue("note.read", {"note": "mine"})
        self.assertEqual(world.word(row), "waiting")
        world.work("--run-id", "night-1")
        self.assertEqual(world.word(row), "succeeded")
        self.assertEqual(world.effects(), [{"note": "canonical-mine"}])
        world.work()
        self.assertEqual(len(world.effects()), 1)
        code, grade = world.grade()
        self.assertEqual((code, grade["gate"]["value"] if isinstance(grade["gate"], dict) else grade["gate"]),
                         (0, "passed"))
        kinds = [event["event"] for event in world.events() if "invocation_id" in event]
        self.assertEqual(kinds, ["tool.request", "queue.dequeued", "resource.resolved", "authorization.decision",
                                 "executor.start", "executor.finish"])

    def denied(self, reason, change, tool="note.read", arguments=None, principal="nightly"):
        world = self.world()
        row = world.enqueue(tool, arguments or {"note": "mine"}, principal=principal)
        change(world)
        world.work("--run-id", "run")
        self.assertEqual(world.word(row), "denied " + reason)
        self.assertEqual(world.effects(), [])
        self.assertEqual(world.events()[-2]["event"], "queue.denied")
        self.assertEqual(world.grade()[0], 0)
        return world, row

    def test_a_principal_that_was_revoked(self):
        world, row = self.denied("expired_identity", lambda world: world.edit(
            "directory.yaml", 'revision: "1"', 'revision: "2", revoked: true'))
        # What a person can do: give the access back, and let the row be decided anew.
        world.edit("directory.yaml", "revoked: true", "revoked: false")
        world.queue("requeue", row, "--by", "carol", "--reason", "back from leave")
        world.work()
        self.assertEqual(world.word(row), "succeeded")
        self.assertEqual(world.show(row)["requeued"][0]["by"], "carol")

    def test_a_principal_that_is_gone(self):
        self.denied("invalid_identity", lambda world: world.edit("directory.yaml", "subject: nightly", "subject: no"))

    def test_a_principal_of_another_tenant_now(self):
        self.denied("tenant_mismatch", lambda world: world.edit(
            "directory.yaml", "nightly, tenant: tenant-a", "nightly, tenant: tenant-b"))

    def test_a_scope_that_was_taken(self):
        self.denied("missing_scope", lambda world: world.edit(
            "directory.yaml", '[act, "note:read"], revision', "[act], revision"))

    def test_a_resource_that_moved_to_another_tenant(self):
        self.denied("tenant_mismatch", lambda world: world.edit(
            "notes.yaml", "canonical-mine, tenant: tenant-a", "canonical-mine, tenant: tenant-b"))

    def test_a_resource_that_became_secret(self):
        self.denied("forbidden", lambda world: world.edit(
            "notes.yaml", "id: canonical-mine, tenant: tenant-a, attributes: {secret: false}",
            "id: canonical-mine, tenant: tenant-a, attributes: {secret: true}"))

    def test_a_resource_that_is_gone(self):
        self.denied("resource_not_found", lambda world: world.edit(
            "notes.yaml", "references: [mine,", "references: [m,"))

    def test_a_policy_that_changed(self):
        def change(world):
            world.edit("bundle/bundle.yaml", "version: v7", "version: v8")
            world.edit("bundle/policies/policies.cedar", '@id("agents-read-notes")\npermit', '@id("no-notes")\nforbid')
        world, _ = self.denied("forbidden", change)
        self.assertEqual({event["policy_version"] for event in world.events() if "policy_version" in event}, {"v8"})

    def test_a_tool_that_left_the_catalogue(self):
        self.denied("unknown_tool", lambda world: world.edit(
            "bundle/catalogue.yaml", "{name: note.read,", "{name: note.read.again, action: note.read,"))

    def test_a_tool_that_its_server_changed(self):
        world = self.world(["--drift"])
        row = world.enqueue("fake.act", {"do": "echo"})
        world.work()
        self.assertEqual(world.word(row), "denied unknown_tool")
        self.assertEqual(world.effects(), [])

    def test_an_argument_that_its_schema_does_not_take_any_more(self):
        def change(world):
            world.edit("bundle/bundle.yaml", "version: v7", "version: v8")
            world.edit("bundle/schemas/note.json", '"note":{"type":"string"}', '"note":{"type":"integer"}')
        self.denied("unknown_tool", change)  # nor does its server list it like that

    def test_an_argument_that_no_schema_took(self):
        self.denied("invalid_arguments", lambda world: None, arguments={"note": "mine", "more": 1})


class Approvals(QueueTest):
    def test_work_that_needs_an_approval_waits_for_a_person(self):
        # REQ-QU-014, REQ-QU-020
        world = self.world()
        world.edit("bundle/catalogue.yaml", "{name: fake.act,", "{name: fake.act, approval: required,")
        with open(world.folder / "bundle/policies/policies.cedar", "a", encoding="utf-8") as policies:
            policies.write('@id("ask") @reason("approval_required") forbid (principal, action == Action::"act", '
                           'resource) unless { context.approval.state == "active" };\n')
        row = world.enqueue("fake.act", {"do": "echo"})
        world.work()
        self.assertEqual(world.word(row), "denied approval_required")
        self.assertIn("--pending", world.queue("show", row).stdout)
        pending = json.loads(world.remit("approvals", "list", "--config", "remit.yaml", "--pending", "--format",
                                         "json").stdout)
        [request] = [call["request"] for call in pending]
        world.remit("approvals", "grant", request, "--config", "remit.yaml", "--by", "carol", "--reason", "fine")
        world.queue("requeue", row, "--by", "carol", "--reason", "approved")
        world.work()
        self.assertEqual(world.word(row), "succeeded")
        again = world.enqueue("fake.act", {"do": "echo"})
        world.work()
        self.assertEqual(world.word(again), "denied stale_approval")
        self.assertEqual(len(world.effects()), 1)


class Rows(QueueTest):
    def test_rows_that_cannot_run_hold_up_nobody(self):
        # REQ-QU-006, REQ-QU-015
        world = self.world()
        changed = world.enqueue("note.read", {"note": "mine"})
        world.sql(f"update remit_queue_row set arguments = '{{\"note\":\"secret\"}}' where id = '{changed}'")
        world.sql("insert into remit_queue_row(id, tool, arguments) values"
                  "('legacy', 'note.read', '{\"note\":\"mine\"}')")
        world.sql("insert into remit_queue_row(id, tool, arguments) values('rotten', 'note.read', '{')")
        world.sql("insert into remit_queue_row(id, principal, tool, arguments, lane) values"
                  "('forged', 'nightly', 'note.read', '{\"note\":\"mine\"}', 'tenant-a')")
        good = world.enqueue("note.read", {"note": "mine"})
        other = world.enqueue("fake.act", {"do": "echo"}, principal="bert")
        world.work()
        self.assertEqual([world.word(row) for row in ["legacy", "rotten", "forged", changed, good, other]],
                         ["denied missing_identity", "denied invalid_request", "denied invalid_request",
                          "denied invalid_request", "succeeded", "succeeded"])
        self.assertEqual(len(world.effects()), 2)
        self.assertEqual(world.grade()[0], 0)

    def test_the_operators_commands(self):
        # REQ-QU-042, REQ-QU-043
        world = self.world()
        world.queue("list", code=65)  # there is no database yet
        self.assertIn("nobody", world.queue("enqueue", "--tool", "t", "--principal", "mallory", code=1).stderr)
        first = world.enqueue("note.read", {"note": "mine"}, "--key", "once")
        self.assertIn("before", world.enqueue("note.read", {"note": "mine"}, "--key", "once"))
        world.put("arguments.json", '{"note":"other"}')
        world.queue("enqueue", "--tool", "note.read", "--arguments", "arguments.json", "--principal", "nightly",
                    "--key", "once", code=1)
        later = world.enqueue("note.read", {"note": "mine"}, "--not-before", "2099-01-01T00:00:00Z", "--every", "60")
        listed = world.queue("list").stdout
        self.assertEqual(listed.count("\n"), 2)
        self.assertNotIn("mine", listed)
        rows = json.loads(world.queue("list", "--format", "json", "--arguments").stdout)["rows"]
        self.assertEqual([row["id"] for row in rows], [later, first])
        self.assertEqual(rows[0]["arguments"], '{"note":"mine"}')
        world.queue("requeue", first, "--by", "c", "--reason", "r", code=1)
        world.queue("show", "nothing", code=1)
        world.queue("list", "--state", "asleep", code=64)
        world.queue("enqueue", "--tool", "t", "--attempts", "0", code=64)
        world.queue("enqueue", "--tool", "t", "--not-before", "tomorrow", code=64)
        world.work()
        self.assertEqual(world.queue("list", "--state", "waiting").stdout.split()[0], later)
        self.assertEqual(world.show(later)["route"], "scheduled")

    def test_what_a_worker_needs(self):
        # REQ-QU-040
        world = self.world()
        world.edit("remit.yaml", "state: {sqlite: state.db}\n", "")
        self.assertIn("state", world.work(code=65).stderr)
        world.edit("remit.yaml", "evidence:", "state: {sqlite: state.db}\nevidence:")
        world.edit("bundle/bundle.yaml", "  - {name: retry, transport: queue}\n", "")
        self.assertIn('"retry"', world.work(code=65).stderr)
        world.edit("bundle/bundle.yaml", "routes:\n", "routes:\n  - {name: retry, transport: queue}\n")
        world.put("directory.yaml", "principals: []\n")
        self.assertIn("directory.yaml", world.work(code=65).stderr)
        world.put("directory.yaml", DIRECTORY)
        world.edit("remit.yaml", "fake_server.py", "no_server.py")
        self.assertIn("fake", world.work(code=65).stderr)

    def test_the_tools_word_ends_a_row(self):
        # REQ-QU-017
        world = self.world()
        rows = [world.enqueue("fake.act", {"do": do}) for do in ("tool_error", "error", "no_result")]
        read = world.enqueue("mcp:resources/read", {"uri": "note:mine"})
        world.work()
        self.assertEqual([world.word(row) for row in [*rows, read]],
                         ["failed tool_error", "failed server_error", "unknown malformed_answer", "succeeded"])

    def test_the_pinned_principal_without_a_directory(self):
        world = self.world()
        world.edit("remit.yaml", "  directory: directory.yaml\n", "")
        row = world.enqueue("note.read", {"note": "mine"}, principal="ana")
        world.work()
        self.assertEqual(world.word(row), "succeeded")
        world.edit("remit.yaml", "subject: ana", "subject: eve")
        row = world.enqueue("note.read", {"note": "mine"}, principal="eve")
        world.edit("remit.yaml", "subject: eve", "subject: ana")
        world.work()
        self.assertEqual(world.word(row), "denied invalid_identity")


class Crashes(QueueTest):
    def make_old(self, world):
        world.sql(f"update remit_queue_row set due = {LONG_AGO} where state in ('claimed', 'started')")

    def test_killed_between_start_and_finish(self):
        # REQ-QU-018, REQ-QU-020
        world = self.world()
        row = world.enqueue("fake.act", {"do": "hang"})
        worker = world.worker()
        self.wait_until(lambda: world.effects("act"))
        worker.kill()
        worker.communicate()
        self.assertEqual(world.word(row), "started")
        world.work()
        self.assertEqual(world.word(row), "started")  # its claim holds
        self.make_old(world)
        world.work()
        self.assertEqual(world.word(row), "unknown worker_lost")
        world.work()
        self.assertEqual(len(world.effects()), 1)
        self.assertIn("Look", world.queue("show", row).stdout)
        world.queue("requeue", row, "--by", "carol", "--reason", "nothing was done", code=1)
        world.queue("requeue", row, "--by", "carol", "--reason", "nothing was done", "--settled")
        worker = world.worker()
        self.wait_until(lambda: len(world.effects("act")) == 2)
        worker.kill()
        worker.communicate()

    def test_killed_between_claim_and_start(self):
        # REQ-QU-018: it may run, and runs once.
        world = self.world()
        row = world.enqueue("fake.act", {"do": "echo"})
        world.sql("update remit_queue_row set state = 'claimed', claim = 'lost', worker = 'lost', attempt = 1, "
                  f"due = {LONG_AGO}")
        world.work()
        self.assertEqual(world.word(row), "succeeded")
        self.assertEqual(world.show(row)["attempt"], 2)
        self.assertEqual(world.events()[2]["route"], "retry")
        self.assertEqual(len(world.effects()), 1)

    def test_the_ledger_knows_what_became_of_a_key(self):
        # REQ-QU-018: the worker was killed while its server worked. Without keys nobody knows; by its key the
        # ledger knows that it does not know; what is idempotent is done again.
        keyed = "idempotency: key_optional,"
        for words, expected, effects in [("", "unknown worker_lost", 1), (keyed, "unknown outcome_unknown", 1),
                                         (keyed + " idempotent: true,", "succeeded", 2)]:
            with tempfile.TemporaryDirectory() as place:
                os.chmod(place, 0o700)
                world = World(place)
                world.edit("bundle/catalogue.yaml", "{name: fake.act,", "{name: fake.act, " + words)
                row = world.enqueue("fake.act", {"do": "hang_once"})
                worker = world.worker()
                self.wait_until(lambda: world.effects("act"))
                worker.kill()
                worker.communicate()
                self.make_old(world)
                world.sql("update ledger_owners set lease_until_ns = 1")
                world.work()
                self.assertEqual((world.word(row), len(world.effects())), (expected, effects), words)

    def test_what_the_ledger_says_under_way_is_waited_for(self):
        # REQ-QU-018
        world = self.world()
        world.edit("bundle/catalogue.yaml", "{name: fake.act,", "{name: fake.act, idempotency: key_optional,")
        row = world.enqueue("fake.act", {"do": "hang"})
        worker = world.worker()
        self.wait_until(lambda: world.effects("act"))
        worker.kill()
        worker.communicate()
        self.make_old(world)
        world.work()
        self.assertEqual(world.word(row), "waiting duplicate_invocation")
        world.sql("update ledger_owners set lease_until_ns = 1")
        world.sql("update ledger_claims set state = 'succeeded' where tool = 'fake.act'")
        world.sql("update remit_queue_row set due = 1")
        world.work()
        self.assertEqual(world.word(row), "succeeded duplicate_invocation")
        self.assertEqual(len(world.effects()), 1)

    def test_what_changed_after_a_worker_was_lost_makes_no_second_effect(self):
        # REQ-QU-018: by another catalogue, another principal or another ledger the key has another name, which is
        # new; what was started is not begun anew by it. The record of the refusal grades clean.
        keyed = "idempotency: key_optional, idempotent: true,"
        plain = ("bundle/catalogue.yaml", "{name: fake.act,", "{name: fake.act, " + keyed)
        def swap_ledger(world):
            for table in ("claims", "owners", "approvals", "requests"):
                world.sql(f"delete from ledger_{table}")
        changes = {
            "the catalogue": ("", lambda world: world.edit(*plain)),
            "the tenant": (keyed, lambda world: world.edit(
                "directory.yaml", "nightly, tenant: tenant-a", "nightly, tenant: tenant-b")),
            "on whose behalf": (keyed, lambda world: world.edit(
                "directory.yaml", 'revision: "1"', 'revision: "1", on_behalf_of: bob')),
            "the ledger": (keyed, swap_ledger),
        }
        for name, (words, change) in changes.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as place:
                os.chmod(place, 0o700)
                world = World(place)
                world.edit("bundle/catalogue.yaml", "{name: fake.act,", "{name: fake.act, " + words)
                row = world.enqueue("fake.act", {"do": "hang_once"})
                worker = world.worker()
                self.wait_until(lambda: world.effects("act"))
                worker.kill()
                worker.communicate()
                self.make_old(world)
                world.sql("update ledger_owners set lease_until_ns = 1")
                shutil.rmtree(world.folder / "evidence")
                change(world)
                world.work()
                self.assertEqual((world.word(row), len(world.effects())), ("unknown outcome_unknown", 1))
                self.assertEqual([event["event"] for event in world.events()][-2:], ["queue.denied", "run.finished"])
                code, report = world.grade()
                self.assertEqual((code, report["findings"]), (0, []), report)

    def test_a_server_that_ends_ends_the_worker(self):
        # REQ-QU-040
        world = self.world()
        first = world.enqueue("fake.act", {"do": "die"})
        second = world.enqueue("fake.act", {"do": "echo"})
        self.assertIn("ended", world.queue("work", code=65).stderr)
        self.assertEqual(world.word(first), "unknown server_ended")
        self.assertEqual(world.word(second), "waiting")
        world.work()
        self.assertEqual(world.word(second), "succeeded")

    def test_a_signal_lets_what_was_started_finish(self):
        # REQ-QU-021
        world = self.world()
        row = world.enqueue("fake.act", {"do": "hang"})
        behind = world.enqueue("fake.act", {"do": "echo"})
        worker = world.worker("--run-id", "run")
        self.wait_until(lambda: world.effects("act"))
        worker.send_signal(signal.SIGTERM)
        worker.communicate(timeout=PATIENCE)
        self.assertEqual(worker.returncode, 0)
        self.assertEqual(world.word(row), "unknown cancelled")
        self.assertEqual(world.word(behind), "waiting")
        self.assertEqual(world.events()[-1]["event"], "run.finished")

    def test_two_workers_and_one_database(self):
        # REQ-QU-012
        self.check_two_workers(24)

    def test_killed_at_any_moment(self):
        # REQ-QU-013, REQ-QU-018: never two effects; each row ends in a state that is true.
        world = self.world()
        chance = random.Random(7)
        rows = {}
        for trial in range(TRIALS):
            for number in range(4):
                text = f"{trial}.{number}"
                rows[world.enqueue("fake.act", {"do": "echo", "text": text}, "--attempts", "20")] = text
            before = len(world.effects())
            worker = world.worker("--name", f"w{trial}", "--threads", "2")
            if trial % 4 > 0:  # else while it is still getting ready, or at its first row
                self.wait_until(lambda: len(world.effects()) > before)
            time.sleep(chance.uniform(0.0, 0.5 if trial % 4 == 0 else 0.03))
            worker.kill()
            worker.communicate()
            self.make_old(world)
        world.work()
        self.make_old(world)
        world.work()
        done = [call["text"] for call in world.effects()]
        self.assertEqual(len(done), len(set(done)), "two effects")
        words = {"succeeded": 0, "unknown worker_lost": 0}
        for row, text in rows.items():
            word = world.word(row)
            words[word] = words.get(word, 0) + 1
            self.assertIn(word, ("succeeded", "unknown worker_lost"))
            if word == "succeeded":
                self.assertIn(text, done)
        print(f"killed {TRIALS} times: {words}")
        self.assertEqual(world.remit("evidence", "verify", "evidence").returncode, 0)


class OnPostgres(QueueTest):
    """The same on a server that several machines could share."""

    def setUp(self):
        super().setUp()
        if not glob.glob("/usr/lib/postgresql/*/bin/initdb"):
            print("not run: PostgreSQL is not installed (scripts/setup installs it)")
            self.skipTest("no PostgreSQL")
        self.postgres = Postgres()
        self.addCleanup(self.postgres.close)

    def world(self, flags=()):
        world = super().world(flags)
        world.edit("remit.yaml", "sqlite: state.db", f"postgres: {json.dumps(self.postgres.place)}")
        return world

    def test_two_workers(self):
        # REQ-QU-012
        self.check_two_workers(16)

    def test_a_database_that_goes_away_and_comes_back(self):
        # REQ-QU-021
        world = self.world()
        first = world.enqueue("fake.act", {"do": "echo", "text": "1"})
        worker = world.worker()
        self.wait_until(lambda: len(world.effects()) == 1)
        self.wait_until(lambda: world.word(first) == "succeeded")
        self.postgres.stop()
        self.assertIn("no work is taken up", worker.stderr.readline() + worker.stderr.readline()
                      + worker.stderr.readline())
        self.postgres.start()
        second = world.enqueue("fake.act", {"do": "echo", "text": "2"})
        self.wait_until(lambda: world.word(second) == "succeeded")
        worker.send_signal(signal.SIGTERM)
        worker.communicate(timeout=PATIENCE)
        self.assertEqual(worker.returncode, 0)
        self.assertEqual(len(world.effects()), 2)


class Grades(QueueTest):
    """A run of the queue grades clean, and each deviation of it is found."""

    @staticmethod
    def findings(grade):
        return {finding["code"] for finding in grade["findings"]}

    def test_deviations(self):
        world = self.world()
        world.enqueue("note.read", {"note": "mine"})
        world.enqueue("note.read", {"note": "foreign"})
        world.work("--run-id", "run")
        code, grade = world.grade()
        self.assertEqual((code, self.findings(grade)), (0, set()))
        events = world.events()
        start = next(event for event in events if event["event"] == "executor.start")
        denied = next(event for event in events if event["event"] == "queue.denied")

        def forged(at, **fields):
            return {**start, "invocation_id": at["invocation_id"], **fields}

        def without(kind):
            return lambda: [event for event in events
                            if not (event["event"] == kind and event.get("invocation_id") == start["invocation_id"])]

        def behind(what, add):
            def change():
                out = []
                for event in events:
                    out.append(event)
                    if event is what:
                        out += add()
                return out
            return change

        def attempt_two():
            return [{key: value for key, value in {**start, "attempt": 2}.items()}]

        deviations = {
            "missing_decision": without("authorization.decision"),
            "missing_request": without("tool.request"),
            "allow_without_finish": without("executor.finish"),
            "start_after_deny": behind(denied, lambda: [
                {key: value for key, value in forged(denied).items() if key != "decision_id"}]),
            "decision_not_applicable": behind(start, attempt_two),
            "start_cites_no_decision": behind(start, lambda: [{**start, "decision_id": "another"}]),
        }
        for code_name, change in deviations.items():
            lines = []
            for event in change():
                event = {key: value for key, value in event.items() if key not in ("seq", "writer")}
                if event["event"] == "run.finished":
                    event = {key: value for key, value in event.items() if key not in ("events", "invocations")}
                lines.append(json.dumps(event) + "\n")
            world.put("changed.jsonl", "".join(lines))
            code, grade = world.grade("changed.jsonl")
            self.assertNotEqual(code, 0, code_name)
            self.assertIn(code_name, self.findings(grade), code_name)


if __name__ == "__main__":
    os.umask(0o022)
    unittest.main()
