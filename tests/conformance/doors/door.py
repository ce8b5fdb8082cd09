"""The executor of examples/python_executor behind doors of its own: MCP over pipes, and HTTP.

usage: door.py world            a driver of the world, which makes no calls
       door.py mcp DIRECTORY    an MCP server; DOOR_CREDENTIAL says who calls
       door.py http DIRECTORY   an HTTP server, which writes its address to DIRECTORY/url

The world stands in DIRECTORY/world.json and is read for each call, so that it changes under a door that is open.
DOOR_FAULT names what it does wrong: one of known_bad.py, or of OWN_FAULTS.
"""

import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples" / "python_executor"))

import executor  # noqa: E402
import known_bad  # noqa: E402


class ForwardsWithoutAsking(executor.Executor):
    def invoke(self, call):
        self.use_tool(call, None, call.arguments)
        return "result", "done"


class RecordsNothing(executor.Executor):
    def record(self, *events):
        pass


class CallsTwice(executor.Executor):
    def run(self, call):
        self.use_tool(call, call.resources[0]["id"], call.granted)
        return super().run(call)


OWN_FAULTS = {"forwards-without-asking": ForwardsWithoutAsking, "records-nothing": RecordsNothing,
              "calls-twice": CallsTwice}


class World:
    """What a trial changes, written whole each time."""

    def hello(self, _):
        return {"protocol": "remit.driver/1", "subject": {"name": "python_executor"}, "routes": [], "faults": [],
                "offers": ["set_policy", "set_principal", "set_resource", "revoke_approval", "take_down", "bring_up"]}

    def setup(self, request):
        self.path = Path(request["directory"]) / "world.json"
        self.world = {"fixture": request["fixture"], "down": [], "spy": request["spy"], "route": request["route"],
                      "fault": os.environ.get("DOOR_FAULT", "")}
        return self.put()

    def put(self):
        aside = self.path.with_suffix(".new")
        aside.write_text(json.dumps(self.world))
        aside.rename(self.path)
        return {}

    def step(self, request):
        fixture, what = self.world["fixture"], request["do"]
        if what == "set_policy":
            fixture["policy"] = request["policy"]
        elif what in ("set_principal", "set_resource"):
            kind = what.removeprefix("set_")
            fixture[kind + "s"][request["name"]] = request[kind]
        elif what == "revoke_approval":
            fixture["approvals"][request["approval"]]["state"] = "revoked"
        elif what == "take_down":
            self.world["down"].append(request["part"])
        else:
            self.world["down"].remove(request["part"])
        return self.put()

    def reset(self, _):
        return {}


def serve_world():
    world = World()
    for text in sys.stdin:
        asked = json.loads(text)
        print(json.dumps({"id": asked["id"], "ok": getattr(world, asked["op"])(asked)}), flush=True)


class Log(list):
    """Lines that are on disk when they are appended, under a writer's name of this process."""

    def __init__(self, path):
        super().__init__()
        self.path = path

    def append(self, line):
        super().append(line)
        with open(self.path, "a") as file:
            file.write(json.dumps(json.loads(line) | {"writer": f"door-{os.getpid()}"}) + "\n")


class Door:
    def __init__(self, directory, use_tool):
        self.directory = Path(directory)
        self.lock = threading.Lock()
        self.text = None
        self.stores = None
        self.read_world()
        self.stores.log = Log(self.directory / "events.jsonl")
        kind = (known_bad.FAULTS | OWN_FAULTS).get(self.world["fault"], executor.Executor)
        self.subject = kind(self.stores, use_tool)

    def read_world(self):
        text = (self.directory / "world.json").read_text()
        if text == self.text:
            return
        self.text, self.world = text, json.loads(text)
        now = executor.Stores(self.world["fixture"])
        if self.stores is None:
            self.stores = now
        for name in ("principals", "resources", "approvals", "policy"):
            setattr(self.stores, name, getattr(now, name))
        self.stores.down = set(self.world["down"])

    def call(self, who, tool, arguments, key):
        with self.lock:
            self.read_world()
            return self.subject.invoke(executor.Call(who or None, tool, arguments, key, self.world["route"]))


class ToolServer:
    """The MCP server behind the door."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.id = 0
        client = {"name": "door", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.id += 1
        try:
            self.send({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params})
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise executor.ReplyLost
        return json.loads(line)["result"]

    def use(self, call, _, arguments):
        meta = {"io.remit/invocation-id": call.id}
        if self.ask("tools/call", {"name": call.tool, "arguments": arguments, "_meta": meta})["isError"]:
            raise executor.ToolFailed


def mcp_answer(saw, words):
    if saw == "denied":
        return {"error": {"code": -32001, "message": words}}
    if saw == "unknown":
        return {"result": {"content": [{"type": "text", "text": json.dumps({"status": saw})}], "isError": True}}
    return {"result": {"content": [{"type": "text", "text": words}], "isError": saw != "result"}}


def serve_mcp(directory):
    world = json.loads((Path(directory) / "world.json").read_text())
    door = Door(directory, ToolServer(world["spy"]["command"]).use)
    who = os.environ.get("DOOR_CREDENTIAL")
    for text in sys.stdin:
        asked = json.loads(text)
        if "id" not in asked:
            continue
        if asked["method"] == "initialize":
            answer = {"result": {"protocolVersion": asked["params"]["protocolVersion"],
                                 "capabilities": {"tools": {}}, "serverInfo": {"name": "door", "version": "1"}}}
        elif asked["method"] == "tools/list":
            answer = {"result": {"tools": [{"name": name, "inputSchema": tool["arguments"]}
                                           for name, tool in door.world["fixture"]["tools"].items()]}}
        else:
            params = asked["params"]
            key = params.get("_meta", {}).get("io.remit/idempotency-key")
            answer = mcp_answer(*door.call(who, params["name"], params["arguments"], key))
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)


def serve_http(directory):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            who = self.headers.get("Authorization", "").removeprefix("Bearer ")
            saw, words = door.call(who, self.path.removeprefix("/tools/"), body, self.headers.get("Idempotency-Key"))
            self.send_response({"result": 200, "denied": 403, "failed": 502, "unknown": 504}[saw])
            self.send_header("Content-Length", str(len(words)))
            self.end_headers()
            self.wfile.write(words.encode())

        def log_message(self, *_):
            pass

    def use_tool(call, _, arguments):
        place = f"{door.world['spy']['url']}/tools/{call.tool}"
        request = urllib.request.Request(place, json.dumps(arguments).encode(),
                                         {"Content-Type": "application/json", "Remit-Invocation-Id": call.id})
        try:
            urllib.request.urlopen(request, timeout=60).read()
        except urllib.error.HTTPError as error:
            raise executor.ToolFailed from error
        except (OSError, http.client.HTTPException) as error:
            raise executor.ReplyLost from error

    door = Door(directory, use_tool)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        aside = Path(directory) / "url.new"
        aside.write_text(f"http://127.0.0.1:{server.server_port}\n")
        aside.rename(Path(directory) / "url")
        server.serve_forever()


if sys.argv[1] == "world":
    serve_world()
elif sys.argv[1] == "mcp":
    serve_mcp(sys.argv[2])
else:
    serve_http(sys.argv[2])
