"""A driver that does wrong what its argument says; everything else it does as a driver must."""

import json
import os
import signal
import sys
import time

mode = sys.argv[1]
STEPS = ["call", "submit", "run", "plant", "retry", "force_start", "set_policy", "set_principal", "set_resource",
         "revoke_approval", "take_down", "bring_up", "restart", "approval", "keys", "fan_out"]
ROUTES = ["direct", "queued", "retry", "agent", "admin", "scheduled", "legacy"]
ANSWERS = {"hello": {"protocol": "remit.driver/1", "routes": ROUTES, "offers": STEPS}, "setup": {},
           "step": {"saw": "denied", "answer": "no"}, "collect": {"events": []}, "reset": {}}


directory = ""


def say(text):
    print(text, flush=True)


if mode == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    request = json.loads(line)
    op = request["op"]
    reply = {"id": request["id"], "ok": dict(ANSWERS[op])}
    if mode == "protocol" and op == "hello":
        reply["ok"]["protocol"] = "remit.driver/9"
    directory = request.get("directory", directory)
    if mode == "leaves-files" and op == "reset":
        reply = {"id": request["id"], "error": {"message": "cannot"}}
    if mode == "few" and op == "hello":
        reply["ok"].update(routes=["queued"], offers=["call"])
    if op == "step":
        if mode in ("hang", "deaf"):
            time.sleep(60)
        if mode == "die":
            sys.exit(3)
        if mode == "nonsense":
            say("Traceback (most recent call last):")
            continue
        if mode == "flood":
            say('{"id":' + "1" * (5 << 20) + "}")
            continue
        if mode == "wrong-id":
            reply["id"] += 1
        if mode == "twice":
            say(json.dumps(reply))
        if mode == "error":
            reply = {"id": request["id"], "error": {"message": "cannot"}}
        if mode == "strange-word":
            reply["ok"]["saw"] = "perhaps"
    if mode == "events-number" and op == "collect":
        reply["ok"]["events"] = [7]
    if mode == "silent" and op == "step":
        reply["ok"] = {}
    say(json.dumps(reply))
if mode == "leaves-files":
    os.makedirs(directory, exist_ok=True)
    with open(f"{directory}/left", "w", encoding="utf-8") as file:
        file.write("the last word\n")
