"""The same desk as people write it first. Each step looks reasonable by itself; the pack says what is missing."""

import json

from executor import Call, Down, Executor, Refused


class Naive(Executor):
    def take_policy(self, call):
        call.policy = self.stores.policy  # the last one that was loaded

    def identify(self, call):
        call.who = call.who or "alice"  # everybody here works for us
        call.state = "authenticated"
        call.principal = dict(self.stores.principals[call.who], ref=call.who)

    def look_up_tool(self, call):
        call.tool = call.tool.lower()
        super().look_up_tool(call)

    def check_scopes(self, call):
        if not any(held.startswith(scope) for scope in call.entry["scopes"] for held in call.principal["scopes"]):
            raise Refused("missing_scope")

    def check_arguments(self, call):
        if not set(call.entry["arguments"]["required"]) <= set(call.arguments):
            raise Refused("invalid_arguments")

    def look_up(self, call, name):
        return self.stores.resources.get(name)

    def decide(self, call):
        if call.tool not in call.policy["permits"].get(call.principal["class"], []):
            raise Refused("not_permitted")

    def is_for(self, approval, call):
        return True  # somebody approved something

    def claim(self, call):
        pass  # callers do not repeat themselves

    def submit(self, name, call):
        """Asks when the work is planned; what was allowed then will do later."""
        told = super().submit(name, call)
        try:
            self.check(call)
        except Refused:
            return told
        row = json.loads(self.stores.rows[name])
        self.stores.rows[name] = json.dumps(dict(row, id=call.id, principal=call.principal, entry=call.entry,
                                                 resources=call.resources, granted=call.granted))
        return told

    def invoke(self, call):
        if call.resources or call.route == "legacy":  # asked before, or older than the asking
            call.state = "authenticated"
            self.record(self.request(call), self.decision(call, "allow", "allowed"), self.start(call))
            return self.run(call)
        return super().invoke(call)

    def run(self, call):
        if call.entry is None:
            call.entry = {"resources": []}
            named = call.arguments.get("invoice")
            call.resources = [{"type": "Invoice", "id": named, "tenant": None, "revision": None}]
            call.granted = call.arguments
        return super().run(call)

    def start_denied(self, name):
        call = Call(**json.loads(self.stores.rows[name]))  # for support, who know what they do
        return self.run(call)

    def record(self, *events):
        try:
            super().record(*events)
        except Down:
            pass  # the log is for later
