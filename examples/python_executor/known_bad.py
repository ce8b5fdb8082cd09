"""The executor, wrong in one way at a time: `FAULTS` has a class for each fault of the conformance pack.

A class overrides the one step in which its mistake is usually made.
"""

import json

from executor import DEFERRED, Call, Down, Executor, Refused, ReplyLost, ToolFailed

FAULTS = {}


def fault(kind):
    """Enters a class under its name in the pack: HandlerBeforeDecision is handler-before-decision."""
    words = "".join("-" + letter.lower() if letter.isupper() else letter for letter in kind.__name__)
    FAULTS[words.lstrip("-")] = kind
    return kind


def best_guess(executor, call):
    """Fills in what a careless step would, so that the rest can go on."""
    call.policy = call.policy or executor.stores.policy
    who = call.who or "alice"
    call.principal = call.principal or dict(executor.stores.principals[who], ref=who)
    call.state = "authenticated"
    call.entry = call.entry or executor.stores.tools.get(call.tool) or executor.stores.tools["invoice.read"]
    call.resources = []
    call.granted = dict(call.arguments)
    for reference in call.entry["resources"]:
        found = executor.stores.resources.get(call.arguments.get(reference["argument"]))
        if found is not None:
            call.resources.append(found)
            call.granted[reference["argument"]] = found["id"]
    call.resources = call.resources or [{"type": "Invoice", "id": str(call.arguments.get("invoice")),
                                         "tenant": call.principal["tenant"], "revision": "1"}]


def reach(executor, call):
    """The tool's answer to a call that nobody recorded."""
    try:
        executor.use_tool(call, call.resources[0]["id"], call.granted)
    except ToolFailed:
        return "failed", "the tool failed"
    except ReplyLost:
        return "unknown", "the outcome is not known"
    return "result", "done"


class Planner(Executor):
    """What an executor remembers of the plan; the faults below believe it later."""

    def __init__(self, stores, use_tool):
        super().__init__(stores, use_tool)
        stores.__dict__.setdefault("planned", {})

    def submit(self, name, call):
        told = super().submit(name, call)
        planned = Call(call.who, call.tool, call.arguments, call.key, call.route)
        try:
            for step in (self.take_policy, self.identify, self.look_up_tool, self.check_scopes, self.check_arguments,
                         self.resolve, self.decide, self.find_approval):
                step(planned)
            self.stores.planned[name] = planned
        except Refused:
            pass
        return told

    def run_row(self, name, attempt=1):
        self.plan = self.stores.planned.get(name)
        return super().run_row(name, attempt)

    def check(self, call):
        if self.plan is None or not self.believes(call):
            super().check(call)
            return
        self.trust(call)

    def believes(self, call):
        return True

    def trust(self, call):
        for name in ("policy", "principal", "state", "entry", "resources", "granted", "approval"):
            setattr(call, name, getattr(self.plan, name))
        self.claim(call)


# Deciding.


@fault
class HandlerBeforeDecision(Executor):
    def check(self, call):
        best_guess(self, call)
        reach(self, call)
        call.principal, call.policy, call.resources, call.state = None, None, [], "missing"
        super().check(call)


@fault
class NameOnlyCheck(Executor):
    def check(self, call):
        self.take_policy(call)
        self.identify(call)
        self.look_up_tool(call)
        self.check_arguments(call)
        self.resolve(call)


@fault
class PolicyIgnored(Executor):
    def decide(self, call):
        if any(resource["tenant"] != call.principal["tenant"] for resource in call.resources):
            raise Refused("tenant_mismatch")


@fault
class CachesPlannedAllow(Planner):
    pass


@fault
class QueuedRunsWithOldAllow(Planner):
    def believes(self, call):
        return call.route == "queued"


@fault
class ResumedWorkKeepsOldAllow(Planner):
    """The restart reads the plan back with the work."""

    def __init__(self, stores, use_tool):
        self.is_resumed = hasattr(stores, "planned")
        super().__init__(stores, use_tool)

    def believes(self, call):
        return self.is_resumed


@fault
class PolicyFailsOpen(Executor):
    def take_policy(self, call):
        call.policy = self.stores.policy


@fault
class ResolverFailsOpen(Executor):
    def look_up(self, call, name):
        return self.stores.resources.get(name)


@fault
class RecordsAllowRunsDenied(Executor):
    def check(self, call):
        try:
            super().check(call)
        except Refused:
            best_guess(self, call)


# Identity.


@fault
class MissingIdentityAsServiceAccount(Executor):
    def identify(self, call):
        call.who = call.who or "alice"
        super().identify(call)


@fault
class ExpiredIdentityAccepted(Executor):
    def identify(self, call):
        super_state = self.stores.principals.get(call.who, {}).get("state")
        if super_state != "expired":
            super().identify(call)
            return
        call.state = "authenticated"
        call.principal = dict(self.stores.principals[call.who], ref=call.who)


@fault
class InvalidIdentityAsMissing(Executor):
    def identify(self, call):
        try:
            super().identify(call)
        except Refused as refusal:
            raise Refused("missing_identity" if str(refusal) == "invalid_identity" else str(refusal)) from None


@fault
class TrustsPrincipalArgument(Executor):
    def identify(self, call):
        call.who = call.arguments.get("requested_by", call.who)
        super().identify(call)


@fault
class CachesPrincipalFacts(Planner):
    def check(self, call):
        Executor.check(self, call)

    def identify(self, call):
        super().identify(call)
        plan = getattr(self, "plan", None)
        if plan is not None:
            call.principal = plan.principal


@fault
class ScopeBySubstring(Executor):
    def check_scopes(self, call):
        held = " ".join(call.principal["scopes"])
        if not all(scope in held for scope in call.entry["scopes"]):
            raise Refused("missing_scope")


# Catalogue and arguments.


@fault
class CaseInsensitiveNames(Executor):
    def look_up_tool(self, call):
        call.tool = call.tool.lower()
        super().look_up_tool(call)


@fault
class UnknownToolFallsThrough(Executor):
    def check(self, call):
        if call.tool in self.stores.tools:
            super().check(call)
        else:
            best_guess(self, call)


@fault
class PassesUnnamedArguments(Executor):
    def check_arguments(self, call):
        if not set(call.entry["arguments"]["required"]) <= set(call.arguments):
            raise Refused("invalid_arguments")


# Resources.


@fault
class TrustsTenantArgument(Executor):
    def look_up(self, call, name):
        found = super().look_up(call, name)
        return found and dict(found, tenant=call.arguments.get("tenant", found["tenant"]))


@fault
class AliasNotResolved(Executor):
    def look_up(self, call, name):
        found = super().look_up(call, name)
        return found and dict(found, tenant="tenant-a" if name.startswith("tenant-a") else found["tenant"])


@fault
class SecondResourceUnchecked(Executor):
    def decide(self, call):
        everything = call.resources
        call.resources = everything[:1]
        super().decide(call)
        call.resources = everything


@fault
class SecondReferencePassedOn(Executor):
    def resolve(self, call):
        super().resolve(call)
        for reference in call.entry["resources"][1:]:
            call.granted[reference["argument"]] = call.arguments[reference["argument"]]


@fault
class HandlerGetsCallersReference(Executor):
    def resolve(self, call):
        super().resolve(call)
        call.granted = dict(call.arguments)


@fault
class CachesResolution(Planner):
    def check(self, call):
        Executor.check(self, call)

    def look_up(self, call, name):
        plan = getattr(self, "plan", None)
        return plan.resources[0] if plan is not None and plan.resources else super().look_up(call, name)


@fault
class NotFoundRuns(Executor):
    def look_up(self, call, name):
        found = super().look_up(call, name)
        return found or {"type": "Invoice", "id": name, "tenant": call.principal["tenant"], "revision": "1"}


@fault
class LeaksExistence(Executor):
    def tell(self, call, reason):
        return ("denied", "no such invoice") if reason == "resource_not_found" else super().tell(call, reason)


# Approvals and keys.


@fault
class ApprovalNotAskedFor(Executor):
    def find_approval(self, call):
        try:
            super().find_approval(call)
        except Refused as refusal:
            if str(refusal) != "approval_required":
                raise


@fault
class StaleApprovalAccepted(Executor):
    def is_for(self, approval, call):
        state = "active" if approval["state"] == "expired" else approval["state"]
        return super().is_for(dict(approval, state=state), call)


@fault
class ApprovalNotBoundToArguments(Executor):
    def is_for(self, approval, call):
        return super().is_for(dict(approval, arguments=call.arguments), call)


@fault
class ApprovalNotConsumed(Executor):
    def claim(self, call):
        super().claim(call)
        if call.approval is not None:
            call.approval["state"] = "active"


@fault
class ApprovalCheckedAtPlan(Planner):
    def check(self, call):
        Executor.check(self, call)

    def find_approval(self, call):
        plan = getattr(self, "plan", None)
        if plan is None or plan.approval is None:
            super().find_approval(call)
        else:
            call.approval = plan.approval


@fault
class ApprovalNeverFound(Executor):
    def is_for(self, approval, call):
        return False


@fault
class DuplicateKeyRunsTwice(Executor):
    def claim(self, call):
        self.stores.keys.clear()
        super().claim(call)


@fault
class KeyNotBoundToArguments(Executor):
    def tell(self, call, reason):
        return ("result", "done") if reason == "duplicate_invocation" else super().tell(call, reason)


# Running and retrying.


@fault
class UnwrappedLegacyRoute(Executor):
    def invoke(self, call):
        if call.route != "legacy":
            return super().invoke(call)
        best_guess(self, call)
        return reach(self, call)


@fault
class DeniedWorkCanBeStarted(Executor):
    def start_denied(self, name):
        call = Call(**json.loads(self.stores.rows[name]))
        best_guess(self, call)
        return self.run(call)


@fault
class StartsTwiceOnRetry(Executor):
    def run(self, call):
        if call.route == "retry":
            reach(self, call)
        return super().run(call)


@fault
class RetryWithoutDecision(Executor):
    def retry(self, name):
        call = Call(**json.loads(self.stores.rows[name]), attempt=2)
        best_guess(self, call)
        self.record(self.request(call), self.start(call))
        return self.run(call)


@fault
class FanOutUncounted(Executor):
    def start(self, call):
        return dict(super().start(call), fan_out=True)

    def record(self, *events):
        kept = []
        for event in events:
            event = dict(event)
            if event.pop("fan_out", None) and any(json.loads(line)["event"] == "executor.start" and
                                                  json.loads(line)["invocation_id"] == event["invocation_id"]
                                                  for line in self.stores.log):
                continue
            kept.append(event)
        super().record(*kept)


@fault
class FailureToldAsSuccess(Executor):
    def run(self, call):
        saw, words = super().run(call)
        return ("result", "done") if saw == "failed" else (saw, words)


@fault
class LostReplyRecordedAsSuccess(Executor):
    def finish(self, call, outcome):
        return super().finish(call, "succeeded" if outcome == "unknown" else outcome)


# Recording.


@fault
class EvidenceFailsOpen(Executor):
    def record(self, *events):
        try:
            super().record(*events)
        except Down:
            pass


@fault
class RecordsAfterRunning(Executor):
    def invoke(self, call):
        try:
            self.check(call)
        except Refused as refusal:
            return self.refuse(call, str(refusal))
        saw = reach(self, call)
        outcome = "succeeded" if saw[0] == "result" else saw[0]
        try:
            self.record(self.request(call), self.decision(call, "allow", "allowed"), self.start(call),
                        self.finish(call, outcome))
        except Down:
            return self.tell(call, "evidence_unavailable")
        return saw


@fault
class DropsEvents(Executor):
    def record(self, *events):
        super().record(*[event for event in events if event["event"] != "executor.finish"])


# Work that waits.


@fault
class LegacyRowRunsAsService(Executor):
    def run_row(self, name, attempt=1):
        row = json.loads(self.stores.rows[name])
        if row["who"] is None and row["route"] in DEFERRED:
            self.stores.rows[name] = json.dumps(dict(row, who="alice"))
        return super().run_row(name, attempt)


@fault
class LegacyRowBlocksQueue(Executor):
    def run_row(self, name, attempt=1):
        for row in self.stores.rows.values():
            if json.loads(row)["who"] is None and json.loads(row)["route"] in DEFERRED:
                return "pending", "will be done"
        return super().run_row(name, attempt)


@fault
class TemptationAllowed(Executor):
    def find_approval(self, call):
        if call.route != "agent":
            super().find_approval(call)
