"""A driver (remit.driver/1) for the executor beside it: a line of JSON each way. usage: driver.py [--naive]"""

import json
import socket
import sys

sys.dont_write_bytecode = True  # The example stays as it is, and so do copies of it.

import executor
import known_bad
import naive


class Driver:
    def hello(self, _):
        steps = [name[3:] for name in dir(self) if name.startswith("do_")]
        return {"protocol": "remit.driver/1", "subject": {"name": "python_executor", "version": "1"},
                "routes": ["direct", "queued", "retry", "agent", "admin", "scheduled", "legacy"],
                "offers": steps + ["approval", "keys", "fan_out"], "faults": sorted(known_bad.FAULTS)}

    def setup(self, request):
        self.route, self.spy = request["route"], request["spy"]
        good = naive.Naive if "--naive" in sys.argv else executor.Executor
        self.kind = known_bad.FAULTS[request["fault"]] if "fault" in request else good
        self.stores = executor.Stores(request["fixture"])
        self.subject = self.kind(self.stores, self.use_tool)
        return {}

    def use_tool(self, call, resource, arguments):
        """The tool is the runner's spy: it counts, and it answers."""
        with socket.socket(socket.AF_UNIX) as spy:
            spy.connect(self.spy["socket"])
            line = {"token": self.spy["token"], "invocation_id": call.id, "tool": call.tool}
            line |= {"resource": resource, "arguments": arguments}
            spy.sendall(json.dumps(line).encode() + b"\n")
            answer = spy.makefile().readline()
        if not answer or not json.loads(answer)["ok"]:
            raise executor.ToolFailed if answer else executor.ReplyLost

    def step(self, request):
        saw = getattr(self, "do_" + request["do"])(request)
        return {} if saw is None else {"saw": saw[0], "answer": saw[1]}

    def do_submit(self, request):
        call = executor.Call(request["as"], request["tool"], request["arguments"], request.get("key"), self.route)
        return self.subject.submit(request["call"], call)

    def do_call(self, request):
        self.do_submit(request)
        return self.do_run(request)

    def do_run(self, request):
        return self.subject.run_row(request["call"])

    def do_plant(self, request):
        return self.do_submit({**request, "as": None})

    def do_retry(self, request):
        return self.subject.retry(request["of"])

    def do_force_start(self, request):
        return self.subject.start_denied(request["of"])

    def do_set_policy(self, request):
        self.stores.policy = request["policy"]

    def do_set_principal(self, request):
        self.stores.principals[request["name"]] = request["principal"]

    def do_set_resource(self, request):
        self.stores.resources[request["name"]] = request["resource"]

    def do_revoke_approval(self, request):
        self.stores.approvals[request["approval"]]["state"] = "revoked"

    def do_take_down(self, request):
        self.stores.down.add(request["part"])

    def do_bring_up(self, request):
        self.stores.down.discard(request["part"])

    def do_restart(self, _):
        self.subject = self.kind(self.stores, self.use_tool)

    def collect(self, _):
        return {"events": self.stores.log}

    def reset(self, _):
        return {}


driver = Driver()
for text in sys.stdin:
    asked = json.loads(text)
    try:
        reply = {"id": asked["id"], "ok": getattr(driver, asked["op"])(asked)}
    except Exception as error:  # a fault of the harness, which the runner tells apart
        reply = {"id": asked["id"], "error": {"message": f"{type(error).__name__}: {error}"}}
    print(json.dumps(reply), flush=True)
