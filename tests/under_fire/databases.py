"""The databases of a world: what the harness reads there, what it makes old, and how it takes them away."""

import contextlib
import glob
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

PATIENCE = 180
END = "-- end of answer --"


def parent_of(process):
    """Of a process that is gone, or dead and only waits to be noticed: 0."""
    try:
        state, parent = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[:2]
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return 0 if state == "Z" else int(parent)


class Sqlite:
    name = "sqlite"

    def __init__(self, folder):
        self.file = Path(folder) / "state.db"
        self.config = "{sqlite: state.db}"
        self.lock = None
        self.was_made_anew = False

    def ask(self, statement, patience=PATIENCE):
        """The rows; None where the file is locked for so long, or not there."""
        if not self.file.exists():
            return None
        with contextlib.closing(sqlite3.connect(self.file, timeout=patience)) as database:
            try:
                with database:
                    return [tuple(map(str, row)) for row in database.execute(statement)]
            except sqlite3.OperationalError as error:
                if "no such table" in str(error):
                    return []
                return None

    def take_away(self, chance, is_anybody_new=False):
        """Locked, or another name: who has it open still has it, and who looks for it finds nothing. The latter
        only among those that are at work: whoever is new may make a file."""
        if not self.file.exists():
            return "absent"
        if is_anybody_new or chance.random() < 0.5:
            self.lock = sqlite3.connect(self.file, timeout=5, isolation_level=None, check_same_thread=False)
            with contextlib.suppress(sqlite3.OperationalError):
                self.lock.execute("begin immediate")
            return "locked"
        for path in self.parts():
            path.rename(f"{path}.away")
        return "gone"

    def parts(self, end=""):
        return [path for part in ("", "-wal", "-shm") if (path := Path(f"{self.file}{part}{end}")).exists()]

    def bring_back(self):
        if self.lock is not None:
            self.lock.close()
            self.lock = None
        if self.parts(".away") and self.parts():
            self.was_made_anew = True
        for path in self.parts(".away"):
            path.rename(str(path)[:-len(".away")])

    def close(self):
        self.bring_back()


class PostgresServer:
    """A server of its own on a socket. As root it runs as nobody, which it insists on."""

    def __init__(self):
        self.programs = os.path.dirname(sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))[-1])
        self.folder = tempfile.mkdtemp(prefix="remit-fire.", dir="/tmp")  # a socket's path has to be short
        self.as_who = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        if self.as_who:
            os.chown(self.folder, 65534, 65534)
        subprocess.run([f"{self.programs}/initdb", "-D", f"{self.folder}/d", "-A", "trust", "-U", "app", "--no-sync",
                        "-E", "UTF8", "--locale=C"], check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE,
                       **self.as_who)
        self.schemas = 0
        self.start()

    @staticmethod
    def is_installed():
        return bool(glob.glob("/usr/lib/postgresql/*/bin/initdb"))

    def start(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            # What is lost here is a process, not a machine: the kernel keeps what was written.
            self.server = subprocess.Popen(
                ["setpriv", "--pdeathsig", "QUIT",  # it goes with us, however we go
                 f"{self.programs}/postgres", "-D", f"{self.folder}/d", "-k", self.folder, "-c", "listen_addresses=",
                 "-c", "fsync=off", "-c", "shared_buffers=16MB", "-c", "max_connections=60"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **self.as_who)
            while self.server.poll() is None:
                # As a superuser, whose connections a server that is full takes as well.
                if subprocess.run([f"{self.programs}/psql", "-h", self.folder, "-U", "app", "-qAtc", "select 1",
                                   "postgres"], capture_output=True, check=False,
                                  timeout=PATIENCE).returncode == 0:
                    return
                time.sleep(0.02)
            time.sleep(0.05)  # what a killed server left behind takes a moment to go
        raise AssertionError("the server does not start")

    def stop(self, number=signal.SIGQUIT):
        self.server.send_signal(number)
        self.server.wait(PATIENCE)

    def new_schema(self):
        self.schemas += 1
        name = f"s{self.schemas}"
        subprocess.run([f"{self.programs}/psql", "-h", self.folder, "-U", "app", "-qc", f"create schema {name}",
                        "postgres"], check=True, timeout=PATIENCE)
        return name

    def close(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class Postgres:
    """A schema of a server, which is asked through one `psql` that goes on."""

    name = "postgres"

    def __init__(self, server):
        self.server = server
        self.schema = server.new_schema()
        place = f"host={server.folder} user=app dbname=postgres options=-csearch_path={self.schema}"
        self.config = f"{{postgres: {json.dumps(place)}}}"
        self.asker = None
        self.is_away = False
        self.was_made_anew = False

    def ask(self, statement, patience=PATIENCE):
        """The rows; None where others lock them for so long, or the server is away."""
        if self.is_away:
            return None
        for _ in range(2):  # an asker from before the server was lost is none
            if self.asker is None:
                self.asker = subprocess.Popen(
                    [f"{self.server.programs}/psql", "-h", self.server.folder, "-U", "app", "-qAtX", "postgres"],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                self.tell(f"set search_path to {self.schema}; set client_min_messages = error;")
            self.tell(f"set lock_timeout = {int(patience * 1000)};")
            rows = self.tell(f"{statement};")
            if rows is not None:
                break
            self.hang_up()
        assert rows is not None, "the database does not answer"
        if rows and rows[0].startswith("ERROR:"):
            return [] if "does not exist" in rows[0] else None
        return [tuple(row.split("|")) for row in rows]

    def tell(self, words):
        with contextlib.suppress(BrokenPipeError):
            self.asker.stdin.write(f"{words}\n\\echo {END}\n")
            self.asker.stdin.flush()
            rows = []
            for line in self.asker.stdout:
                if line.rstrip("\n") == END:
                    lost = any("server closed the connection" in row or "connection to server" in row for row in rows)
                    return None if lost else rows
                rows.append(line.rstrip("\n"))
        return None

    def hang_up(self):
        if self.asker is not None:
            self.asker.kill()
            self.asker.communicate()
            self.asker = None

    def take_away(self, chance, is_anybody_new=False):
        """Stopped at once, or killed with all it has: either way its clients see a connection that ends."""
        self.is_away = True
        self.hang_up()
        if chance.random() < 0.5:
            self.server.stop()
            return "stopped"
        children = self.children()
        self.server.server.send_signal(signal.SIGKILL)
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self.server.server.wait(PATIENCE)
        end = time.monotonic() + PATIENCE
        while any(parent_of(child) for child in children) and time.monotonic() < end:
            time.sleep(0.002)
        return "killed"

    def children(self):
        pid = self.server.server.pid
        os.kill(pid, signal.SIGSTOP)  # so that it starts none meanwhile
        os.waitpid(pid, os.WUNTRACED)
        return [int(one.name) for one in Path("/proc").iterdir()
                if one.name.isdigit() and parent_of(int(one.name)) == pid]

    def bring_back(self):
        if self.is_away:
            self.server.start()
            self.is_away = False

    def close(self):
        self.bring_back()
        self.hang_up()
