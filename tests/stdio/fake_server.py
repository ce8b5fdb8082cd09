#!/usr/bin/env python3
"""An MCP server over stdio that misbehaves on request.

usage: fake_server.py [--tap FILE] [--FLAG ...]

The tool `act` does what its argument `do` says; flags change the handshake and the list of tools. Every
line that comes in is appended to FILE, so that a test sees what reached the server.
"""

import json
import os
import signal
import sys
import threading
import time

FLAGS = set(sys.argv[1:])
TAP = open(sys.argv[sys.argv.index("--tap") + 1], "a") if "--tap" in FLAGS else None
WRITING = threading.Lock()
TEXT = {"type": "string"}
ACT = {"type": "object", "properties": {"do": TEXT, "text": TEXT}, "required": ["do"]}
NOTE = {"type": "object", "properties": {"note": TEXT}, "required": ["note"], "additionalProperties": False}
OUT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
state = {"drifted": "--drift" in FLAGS, "open": {}}


def send(message):
    with WRITING:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")) + "\n")
        sys.stdout.flush()


def raw(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def answer(id, result):
    send({"id": id, "result": result})


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def notify(method, params=None):
    send({"method": method, **({} if params is None else {"params": params})})


def tools():
    act = dict(ACT, title="drifted") if state["drifted"] else ACT
    listed = [
        {"name": "act", "description": "Does as told.", "inputSchema": act, "extra": 1,
         "_meta": {"io.remit/policy-version": "forged", "own": 1}, "execution": {"taskSupport": "optional"}},
        {"name": "note.read", "inputSchema": NOTE, "annotations": {"readOnlyHint": True}},
        {"name": "note.write", "inputSchema": NOTE},
        {"name": "count", "inputSchema": {"type": "object"}, "outputSchema": OUT},
        {"name": "slow", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}},
        {"name": "hidden", "inputSchema": {"type": "object"}},
        {"name": "uncatalogued", "inputSchema": {"type": "object"}},
    ]
    if "--repeat" in FLAGS:
        listed.append(listed[1])
    return listed


def list_tools(id, params):
    if state.get("silent"):
        return
    state["lists"] = state.get("lists", 0) + 1
    if "--late" in FLAGS and state["lists"] < 3:
        if state["lists"] == 1:  # the second has no answer until there is a third
            send({"id": id, "error": {"code": 1, "message": "not yet"}})
            time.sleep(0.2)
            notify("notifications/tools/list_changed")
        return
    if "--restless" in FLAGS:
        notify("notifications/tools/list_changed")
    if "--crawl" in FLAGS:
        time.sleep(0.02)
        return answer(id, {"tools": [], "nextCursor": str(state["lists"])})
    if "--endless" in FLAGS:
        return answer(id, {"tools": [], "nextCursor": "again"})
    if "--misshapen" in FLAGS:
        return answer(id, {"tools": [{"name": "act"}]})
    if "--pages" in FLAGS:
        first = "cursor" not in params
        return answer(id, {"tools": tools()[:3], "nextCursor": "2"} if first else {"tools": tools()[3:]})
    answer(id, {"tools": tools()})


def ask(of, method, params):
    """A request of our own; its answer becomes the result of the call `of`."""
    state["open"]["own-1"] = of
    send({"id": "own-1", "method": method, "params": params})


ELICIT = {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {"ok": {"type": "boolean"}}}}
SAMPLE = {"messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}], "maxTokens": 5,
          "task": {"ttl": 1}, "_meta": {"progressToken": 9}}


def act(id, params):
    words = params["arguments"]
    do, meta = words["do"], params.get("_meta", {})
    token = meta.get("progressToken")
    if do == "echo":
        answer(id, text(words.get("text", "")))
    elif do == "meta":
        answer(id, text(json.dumps(meta, sort_keys=True)))
    elif do == "meta_in_result":
        answer(id, text("ok", _meta={"io.remit/policy-version": "forged", "own": 1}))
    elif do == "pid":
        answer(id, text("pid %d " % os.getpid()))
    elif do == "tool_error":
        answer(id, text("no such thing", isError=True))
    elif do == "error":
        send({"id": id, "error": {"code": -32099, "message": "refused here", "data": {"why": "because"}}})
    elif do == "die":
        os._exit(3)
    elif do == "close":
        os.close(1)
        time.sleep(1000)
    elif do == "hang_once":
        if os.path.exists("hung"):
            answer(id, text("done"))
        else:
            open("hung", "w").close()
    elif do == "hang":
        notify("notifications/message", {"level": "info", "data": "hanging"})
    elif do == "twice":
        answer(id, text("first"))
        answer(id, text("second"))
    elif do == "strange_ids":
        answer(9999, text("for nobody"))
        answer(str(id), text("as text"))
        answer(id, text("the answer"))
    elif do == "no_content":
        answer(id, {"answer": 42})
    elif do == "no_result":
        raw('{"jsonrpc":"2.0","id":%d,"result":[]}\n' % id)
    elif do == "garbage":
        raw("not json\n\n[]\n{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"Method\":\"b\"}\n")
        answer(id, text("after garbage"))
    elif do == "flood":
        for _ in range(1000):
            raw("not json\n")
    elif do == "giant":
        raw("x" * (17 * 1024 * 1024) + "\n")
    elif do == "half":
        raw('{"jsonrpc":"2.0","id":%d,"res' % id)
        os._exit(0)
    elif do == "progress":
        notify("notifications/progress", {"progressToken": token, "progress": 1, "total": 2, "message": "half"})
        notify("notifications/progress", {"progressToken": 4711, "progress": 1})
        notify("notifications/progress", {"progressToken": token, "progress": "much"})
        answer(id, text("done"))
        notify("notifications/progress", {"progressToken": token, "progress": 2})
    elif do == "sample":
        ask(id, "sampling/createMessage", SAMPLE)
    elif do == "elicit":
        ask(id, "elicitation/create", ELICIT)
    elif do == "roots":
        ask(id, "roots/list", {})
    elif do == "ask_twice":
        ask(id, "elicitation/create", ELICIT)
        ask(id, "elicitation/create", ELICIT)
    elif do == "ask_and_leave":
        send({"id": "own-2", "method": "elicitation/create", "params": ELICIT})
        answer(id, text("left"))
    elif do == "take_back":
        ask(id, "elicitation/create", ELICIT)
        notify("notifications/cancelled", {"requestId": "own-1"})
        answer(id, text("took it back"))
    elif do == "unknown_request":
        ask(id, "tools/call", {"name": "act"})
    elif do == "ping":
        ask(id, "ping", {})
    elif do == "log":
        notify("notifications/message", {"level": "debug", "data": "small"})
        notify("notifications/message", {"level": "error", "data": {"big": 1}, "logger": "l", "extra": 1})
        notify("notifications/message", {"level": "loud", "data": "no such level"})
        notify("notifications/unheard_of")
        answer(id, text("logged"))
        notify("notifications/message", {"level": "error", "data": "too late"})
    elif do == "drift_slowly":
        state["drifted"] = True
        notify("notifications/tools/list_changed")
        notify("notifications/message", {"level": "info", "data": "changed"})
        time.sleep(0.3)  # the list comes later than the client's next call
        answer(id, text("changed"))
    elif do == "drift_in_silence":
        state["silent"] = True  # the new list never comes
        notify("notifications/tools/list_changed")
        answer(id, text("changed"))
    elif do == "large":
        answer(id, text("x" * int(words["text"])))
    elif do == "drift":
        state["drifted"] = True
        notify("notifications/tools/list_changed")
    elif do == "update":
        notify("notifications/resources/updated", {"uri": "note:subscribed"})
        notify("notifications/resources/updated", {"uri": "note:other"})
        notify("notifications/resources/list_changed")
        answer(id, text("updated"))
    else:
        answer(id, text("cannot " + do, isError=True))


def call_tool(id, params):
    name = params["name"]
    if name == "act":
        act(id, params)
    elif name == "count":
        answer(id, text("2", structuredContent={"n": 2}))
    else:
        answer(id, text(name + " " + json.dumps(params["arguments"], sort_keys=True)))


def handle(message):
    method, id, params = message.get("method"), message.get("id"), message.get("params", {})
    if method is None:
        of = state["open"].pop(id, None)
        if of is not None:
            answer(of, text("got " + json.dumps({key: message[key] for key in ("result", "error") if key in message},
                                                sort_keys=True)))
    elif method == "initialize":
        if "--die" in FLAGS:
            os._exit(1)
        if "--mute" in FLAGS:
            return
        version = "2024-11-05" if "--ancient" in FLAGS else "2025-06-18" if "--old" in FLAGS else "2025-11-25"
        capabilities = {"tools": {"listChanged": True}, "logging": {}, "prompts": {}, "completions": {},
                        "resources": {"subscribe": True, "listChanged": True}, "tasks": {"list": {}}}
        answer(id, {"protocolVersion": version, "capabilities": capabilities, "instructions": "Act well.",
                    "serverInfo": {"name": "fake", "version": "0"}})
    elif method == "notifications/initialized":
        pass
    elif method == "tools/list":
        if "--eager" in FLAGS:
            send({"id": "early", "method": "roots/list"})
            notify("notifications/message", {"level": "error", "data": "early"})
        list_tools(id, params)
    elif method == "tools/call":
        call_tool(id, params)
    elif method == "resources/read":
        answer(id, {"contents": [{"uri": params["uri"], "text": "read"}]})
    elif method == "resources/list":
        answer(id, {"resources": [{"uri": "note:mine", "name": "mine"}]})
    elif method == "resources/subscribe":
        answer(id, {})
    elif method == "prompts/get":
        answer(id, {"messages": []})
    elif id is not None:
        send({"id": id, "error": {"code": -32601, "message": "Method not found"}})


def drift_on_signal():
    signal.sigwait({signal.SIGUSR1})
    state["drifted"] = True
    notify("notifications/tools/list_changed")


signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
threading.Thread(target=drift_on_signal, daemon=True).start()

if "--stubborn" in FLAGS:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)

for line in sys.stdin:
    if TAP:
        TAP.write(line)
        TAP.flush()
    handle(json.loads(line))

while "--stubborn" in FLAGS:
    time.sleep(1000)
