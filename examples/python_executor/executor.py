"""An executor in plain Python: every way in ends in `Executor.invoke`, and only an allow reaches the tool.

It holds what an executor needs to enforce and no more. The stores are dictionaries; a real one has databases
behind the same questions. Events are those of remit.event/1, a line of JSON each.
"""

import hashlib
import json
import secrets
import threading
from dataclasses import dataclass, field

TYPES = {"string": str, "integer": int, "object": dict}
DEFERRED = ("queued", "retry", "scheduled")


class Refused(Exception):
    """The call is denied, with a reason of the event contract."""


class Down(Exception):
    """Something that the executor stands on does not answer."""


class ToolFailed(Exception):
    """The tool says that it did not do it."""


class ReplyLost(Exception):
    """Nobody knows whether the tool did it."""


@dataclass
class Call:
    """One call on its way: what was proposed, and what the executor found out about it."""

    who: object  # a reference to a principal, from the credential; None without one
    tool: str
    arguments: dict
    key: object = None
    route: str = "direct"
    attempt: int = 1
    id: str = field(default_factory=lambda: "i-" + secrets.token_hex(8))
    decision_id: str = field(default_factory=lambda: "d-" + secrets.token_hex(8))
    policy: object = None
    principal: object = None
    state: str = "missing"
    entry: object = None
    resources: list = field(default_factory=list)
    granted: dict = field(default_factory=dict)  # the arguments with canonical ids in their places
    approval: object = None

    def digest(self):
        text = json.dumps([self.tool, self.arguments], sort_keys=True)
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


class Stores:
    """What outlives the process: principals, resources, approvals, policy, waiting work, keys, the log."""

    def __init__(self, fixture):
        self.tools = fixture["tools"]
        self.principals = dict(fixture["principals"])
        self.resources = dict(fixture["resources"])
        self.approvals = {name: dict(each) for name, each in fixture["approvals"].items()}
        self.policy = fixture["policy"]
        self.rows = {}  # waiting work, as text: a reference to a principal, never what it may do
        self.keys = {}
        self.log = []
        self.down = set()


class Executor:
    def __init__(self, stores, use_tool):
        self.stores = stores
        self.use_tool = use_tool  # (call, resource id, arguments): the tool itself
        self.lock = threading.Lock()

    # The one path.

    def invoke(self, call):
        """What the caller is told: a word for what became of the call, and a sentence."""
        try:
            self.check(call)
        except Refused as refusal:
            return self.refuse(call, str(refusal))
        try:
            self.record(self.request(call), self.decision(call, "allow", "allowed"), self.start(call))
        except Down:
            self.release(call)
            return self.tell(call, "evidence_unavailable")
        return self.run(call)

    def check(self, call):
        """Each step raises Refused; their order is the order of the reasons."""
        self.take_policy(call)
        self.identify(call)
        self.look_up_tool(call)
        self.check_scopes(call)
        self.check_arguments(call)
        self.resolve(call)
        self.decide(call)
        self.find_approval(call)
        self.claim(call)

    def refuse(self, call, reason):
        try:
            self.record(self.request(call), self.decision(call, "deny", reason))
        except Down:
            pass  # what cannot be recorded is refused all the same
        return self.tell(call, reason)

    # Steps.

    def take_policy(self, call):
        if "policy" in self.stores.down:
            raise Refused("policy_unavailable")
        call.policy = self.stores.policy

    def identify(self, call):
        if call.who is None:
            raise Refused("missing_identity")
        found = self.stores.principals.get(call.who, {"state": "invalid"})
        call.state = found["state"]
        if call.state != "authenticated":
            raise Refused(f"{call.state}_identity")
        call.principal = dict(found, ref=call.who)

    def look_up_tool(self, call):
        call.entry = self.stores.tools.get(call.tool)
        if call.entry is None:
            raise Refused("unknown_tool")

    def check_scopes(self, call):
        if not set(call.entry["scopes"]) <= set(call.principal["scopes"]):
            raise Refused("missing_scope")

    def check_arguments(self, call):
        schema = call.entry["arguments"]
        for name, value in call.arguments.items():
            kind = schema["properties"].get(name)
            if kind is None or not isinstance(value, TYPES[kind["type"]]):
                raise Refused("invalid_arguments")
        if not set(schema["required"]) <= set(call.arguments):
            raise Refused("invalid_arguments")

    def resolve(self, call):
        call.granted = dict(call.arguments)
        for reference in call.entry["resources"]:
            found = self.look_up(call, call.arguments[reference["argument"]])
            if found is None:
                raise Refused("resource_not_found")
            call.resources.append(found)
            call.granted[reference["argument"]] = found["id"]

    def look_up(self, call, name):
        if "resolver" in self.stores.down:
            raise Refused("resolver_unavailable")
        return self.stores.resources.get(name)

    def decide(self, call):
        for resource in call.resources:
            if resource["tenant"] != call.principal["tenant"]:
                raise Refused("tenant_mismatch")
        if call.tool not in call.policy["permits"].get(call.principal["class"], []):
            raise Refused("not_permitted")

    def find_approval(self, call):
        if call.entry.get("approval") != "required":
            return
        given = [each for each in self.stores.approvals.values()
                 if each["principal"] == call.who and each["tool"] == call.tool]
        if not given:
            raise Refused("approval_required")
        for each in given:
            if self.is_for(each, call):
                call.approval = each
                return
        raise Refused("stale_approval")

    def is_for(self, approval, call):
        return (approval["state"] == "active" and approval["resource"] == call.resources[0]["id"]
                and approval["arguments"] == call.arguments)

    def claim(self, call):
        """The key and the approval are used up together, before anything runs."""
        if call.key is not None:
            with self.lock:
                first = self.stores.keys.setdefault((call.who, call.tool, call.key), call.id)
            if first != call.id:
                raise Refused("duplicate_invocation")
        if call.approval is not None:
            call.approval["state"] = "consumed"

    def release(self, call):
        self.stores.keys.pop((call.who, call.tool, call.key), None)
        if call.approval is not None:
            call.approval["state"] = "active"

    # Running.

    def run(self, call):
        outcome, saw = "succeeded", "result"
        for part in range(call.entry.get("fan_out", 1)):
            if part > 0:
                self.record(self.start(call))
            try:
                self.use_tool(call, call.resources[0]["id"], call.granted)
            except ToolFailed:
                outcome, saw = "failed", "failed"
            except ReplyLost:
                outcome, saw = "unknown", "unknown"
            self.record(self.finish(call, outcome))
        return saw, {"result": "done", "failed": "the tool failed"}.get(saw, "the outcome is not known")

    def tell(self, call, reason):
        """What a caller may know. Not there, not yours and not allowed read the same."""
        words = {"missing_identity": "authenticate", "invalid_identity": "authenticate",
                 "expired_identity": "authenticate", "missing_scope": "a scope is missing",
                 "unknown_tool": "unknown tool", "invalid_arguments": "an argument is wrong",
                 "approval_required": "ask for an approval", "stale_approval": "ask for an approval",
                 "duplicate_invocation": "this was asked before"}
        if reason.endswith("_unavailable"):
            return "denied", "try later"
        return "denied", words.get(reason, "not available to you")

    # Routes that come back later.

    def submit(self, name, call):
        """Keeps who asked, never what was allowed then."""
        self.stores.rows[name] = json.dumps({"who": call.who, "tool": call.tool, "arguments": call.arguments,
                                             "key": call.key, "route": call.route})
        return "accepted", "will be done"

    def run_row(self, name, attempt=1):
        """Takes one row up: decided by what holds now. A refusal is the end of the row."""
        call = Call(**json.loads(self.stores.rows[name]), attempt=attempt)
        return self.invoke(call)

    def retry(self, name):
        return self.run_row(name, attempt=2)

    def start_denied(self, name):
        """There is no way to start what was denied."""
        return "denied", "not available to you"

    # Events.

    def record(self, *events):
        """All of them or none; numbered without gaps."""
        if "evidence" in self.stores.down:
            raise Down
        for event in events:
            numbered = dict(event, writer="executor", seq=len(self.stores.log) + 1)
            self.stores.log.append(json.dumps(numbered))

    def request(self, call):
        return {"event": "tool.request", "invocation_id": call.id, "tool": call.tool, "route": call.route,
                "attempt": call.attempt, "principal_state": call.state, "args_digest": call.digest()}

    def decision(self, call, decision, reason):
        event = {"event": "authorization.decision", "invocation_id": call.id, "tool": call.tool,
                 "route": call.route, "attempt": call.attempt, "decision_id": call.decision_id,
                 "decision": decision, "reason": reason, "principal_state": call.state,
                 "policy_version": self.stores.policy["version"], "args_digest": call.digest()}
        if call.principal is not None:
            event.update(principal_ref=call.principal["ref"], principal_class=call.principal["class"],
                         principal_tenant=call.principal["tenant"],
                         principal_revision=call.principal["revision"])
        return dict(event, **self.resource(call))

    def start(self, call):
        return dict({"event": "executor.start", "invocation_id": call.id, "tool": call.tool, "route": call.route,
                     "attempt": call.attempt, "decision_id": call.decision_id, "args_digest": call.digest()},
                    **self.resource(call, facts=False))

    def finish(self, call, outcome):
        return dict({"event": "executor.finish", "invocation_id": call.id, "tool": call.tool, "route": call.route,
                     "attempt": call.attempt, "outcome": outcome}, **self.resource(call, facts=False))

    def resource(self, call, facts=True):
        if not call.resources:
            return {"resource_id": None} if facts else {}
        first = call.resources[0]
        out = {"resource_type": first["type"], "resource_id": first["id"], "resource_tenant": first["tenant"]}
        if facts:
            out.update(resolution_source="resources", resolution_revision=first["revision"])
        return out
