"""A world under fire: its folder, its processes, and what is left of them in journal, database and evidence."""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from databases import PATIENCE

HERE = Path(__file__).resolve().parent
SANITIZERS = "verify_asan_link_order=0:detect_leaks=0"


@dataclass
class Stop:
    """Where a process stops: at its n-th call that counts behind `after`, and how."""

    at: int
    how: str
    after: str | None
    later_us: int = 0


def call_line(number, tool, order, key):
    meta = {} if key is None else {"_meta": {"io.remit/idempotency-key": key}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call",
                       "params": {"name": tool, "arguments": {"order": order}, **meta}}) + "\n"


def told(message):
    """What a client was told, in a word or two."""
    if message is None:
        return "nothing"
    result = message.get("result")
    if result is None:
        return f"error {message['error']['code']}"
    if not result.get("isError"):
        return "done"
    it = result.get("structuredContent")
    if it is None:
        with contextlib.suppress(ValueError):
            it = json.loads(result["content"][0]["text"])
    if not isinstance(it, dict):
        return f"tool error: {result['content'][0]['text'][:80]}"
    return " ".join(filter(None, [it.get("code"), it.get("state")]))


class Process:
    """One process of ours, which may have been told to stop somewhere."""

    def __init__(self, world, words, stop, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL):
        self.world = world
        self.fifos = None
        environment = dict(os.environ)
        if stop is not None:
            environment.update(LD_PRELOAD=str(world.binaries / "stop_at.so"), STOP_AT=str(stop.at), STOP_HOW=stop.how,
                               STOP_LATER_US=str(stop.later_us), STOP_COUNT=str(world.folder / "count"),
                               ASAN_OPTIONS=":".join(filter(None, [environment.get("ASAN_OPTIONS"), SANITIZERS])))
            if stop.after is not None:
                environment["STOP_AFTER"] = stop.after
            if stop.how == "ask":
                self.make_fifos(environment)
        self.errors = open(world.folder / "errors", "ab")
        self.process = subprocess.Popen([world.binaries / "remit", *words], cwd=world.folder, env=environment,
                                        stdin=stdin, stdout=stdout, stderr=self.errors)
        self.pid = self.process.pid

    def make_fifos(self, environment):
        self.fifos = []
        for variable in ("STOP_ASK", "STOP_ANSWER"):
            path = self.world.folder / variable.lower()
            path.unlink(missing_ok=True)
            os.mkfifo(path, 0o600)
            environment[variable] = str(path)
            self.fifos.append(os.open(path, os.O_RDWR | os.O_CLOEXEC))

    def wait_for_stop(self):
        """Whether it stands still, waiting for a word; it may as well have ended."""
        while self.process.poll() is None:
            if select.select([self.fifos[0]], [], [], 0.02)[0]:
                os.read(self.fifos[0], 1)
                return True
        return False

    def go_on(self):
        os.write(self.fifos[1], b".")

    def wait(self):
        try:
            self.process.wait(PATIENCE)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self.errors.close()
            for fifo in self.fifos or []:
                os.close(fifo)
            if self.fifos:
                for path in self.world.folder.glob("stop_a*"):
                    path.unlink()
            self.fifos = None
        return self.process.returncode

    def was_killed(self):
        return self.process.returncode == -signal.SIGKILL


class Session(Process):
    """`remit stdio` and its client."""

    def __init__(self, world, stop=None):
        super().__init__(world, ["stdio", "--config", "remit.yaml"], stop, subprocess.PIPE, subprocess.PIPE)
        self.answers = {}
        self.rest = b""
        self.is_over = False
        self.ids = 0
        self.send(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}}) + "\n")
        assert not self.read_until(lambda: 0 in self.answers), "it stands still before its first call"
        self.send('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def send(self, text):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(text.encode())
            self.process.stdin.flush()

    def call(self, tool, order, keys):
        """Calls at once, one for each key; their ids."""
        numbers = range(self.ids + 1, self.ids + 1 + len(keys))
        self.ids += len(keys)
        self.send("".join(call_line(number, tool, order, key) for number, key in zip(numbers, keys)))
        return list(numbers)

    def has_answered(self, numbers):
        return all(number in self.answers for number in numbers)

    def read_until(self, is_enough):
        """Reads until it is enough, the process is gone, or it stands still and asks; whether the last."""
        end = time.monotonic() + PATIENCE
        output = self.process.stdout.fileno()
        watched = [output] + ([self.fifos[0]] if self.fifos else [])
        while not is_enough() and not self.is_over:
            ready = select.select(watched, [], [], 1)[0]
            assert time.monotonic() < end, "no answer came"
            if output in ready:
                got = os.read(output, 1 << 16)
                self.is_over = not got
                *lines, self.rest = (self.rest + got).split(b"\n")
                for line in lines:
                    message = json.loads(line)
                    if "id" in message and "method" not in message:
                        self.answers[message["id"]] = message
            elif ready:
                os.read(self.fifos[0], 1)
                return True
        return False

    def end(self, when_it_stops=None):
        """Its client goes; `when_it_stops` is called if it stands still on its way out."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        if when_it_stops is not None and self.wait_for_stop():
            when_it_stops()
        code = self.wait()
        self.process.stdout.close()
        return code


class World:
    """One configuration, one database, one evidence directory, one journal of effects."""

    def __init__(self, folder, binaries, database, broken=None):
        self.folder = Path(folder)
        self.binaries = binaries
        self.database = database
        self.rivals_owner = ""
        shutil.copytree(HERE / "world", self.folder, dirs_exist_ok=True)
        command = [str(binaries / "spy_server"), str(self.folder / "journal"), str(self.folder / "plan")]
        if broken == "twice":
            command.append("--twice")
        self.edit("remit.yaml", "@COMMAND@", json.dumps(command))
        self.edit("remit.yaml", "@STATE@", database.config)
        if broken == "no-keys":
            self.edit("bundle/catalogue.yaml", ", idempotency: key_optional", "")
        (self.folder / "digest.key").write_text("0123456789abcdef0123456789abcdef")
        for path in [self.folder, *self.folder.rglob("*")]:
            path.chmod(path.stat().st_mode & ~0o077)

    def edit(self, name, old, new):
        path = self.folder / name
        path.write_text(path.read_text().replace(old, new))

    def remit(self, *words):
        return subprocess.run([self.binaries / "remit", *words], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)

    def plan(self, words):
        """What the spy does to its parent, or nothing."""
        path = self.folder / "plan"
        if words is None:
            path.unlink(missing_ok=True)
            return
        draft = self.folder / "plan.draft"
        draft.write_text(words)
        draft.rename(path)

    def enqueue(self, tool, order):
        (self.folder / "arguments.json").write_text(json.dumps({"order": order}))
        ran = self.remit("queue", "enqueue", "--config", "remit.yaml", "--tool", tool, "--principal", "ana",
                         "--arguments", "arguments.json", "--attempts", "20")
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()

    def journal(self):
        """What reached the tool: (word, order, invocation)."""
        path = self.folder / "journal"
        return [tuple(line.split()) for line in path.read_text().splitlines()] if path.exists() else []

    def writers(self):
        return {path.name for path in (self.folder / "evidence").glob("writer-*")}

    def events(self, writers=None):
        """The whole lines of the evidence; what is torn is not there yet."""
        out = []
        for writer in sorted(self.writers() if writers is None else writers):
            for path in sorted((self.folder / "evidence" / writer).glob("*.jsonl")):
                *lines, _ = path.read_bytes().split(b"\n")
                out += [json.loads(line) for line in lines]
        return out

    def make_leases_old(self, patience=PATIENCE):
        """Every owner but the rival was not heard of for long; whether the database took it."""
        return self.database.ask("update ledger_owners set lease_until_ns = 1 "
                                 f"where owner <> '{self.rivals_owner}'", patience) is not None

    def make_claims_old(self, patience=PATIENCE):
        return self.database.ask("update remit_queue_row set due = 1 where is_open = 1 "
                                 "and state in ('waiting', 'claimed', 'started')", patience) is not None
