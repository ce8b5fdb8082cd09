"""Trials: one process is stopped somewhere between intent and reply, and others go on meanwhile.

What each ends in is held against the effects at the tool: REQ-LG-001, REQ-LG-002, REQ-LG-004, REQ-LG-005, REQ-LG-006,
REQ-LG-030, REQ-LG-031, REQ-BD-057, REQ-BD-058, REQ-BD-070, REQ-QU-012, REQ-QU-013, REQ-QU-018, REQ-QU-021.
"""

import time
from dataclasses import dataclass, field

from databases import PATIENCE
from world import Process, Session, Stop, told

# What a process of each kind reads or writes before the first step that is of interest.
AFTER_CALL = "io.remit/idempotency-key"
AFTER_RUN = "run.started"
# What it writes later, and how many calls that count lie between that and the next such place, or a few more.
LATER = {"executor.start": 16, "executor.finish": 16}

CALL_STEPS = ["nothing yet", "key claimed", "start recorded", "key started", "at the tool", "effect",
              "finish recorded", "key finished", "told"]
WORK_STEPS = ["nothing yet", "row claimed", "key claimed", "start recorded", "key started", "row started",
              "at the tool", "effect", "finish recorded", "key finished", "row ended"]
PLAIN_STEPS = ["nothing yet", "row claimed", "start recorded", "row started", "at the tool", "effect",
               "finish recorded", "row ended"]

FATES = {"kill": 55, "kill later": 15, "killed by the tool": 14, "sleep": 10, "lost database": 6}
OPEN_ROWS = "select id from remit_queue_row where state in ('waiting', 'claimed', 'started')"
BRIEFLY = 0.3
HOLD_US = 500_000  # a tool goes with its gateway, and sooner than this
# What a slow machine or a database that was away a moment ago may still answer: then one asks again.
FOR_NOW = ("nothing", "unavailable", "permit_expired", "claim_lost")
MOMENTS = ["received", "effect", "answered"]


@dataclass
class Found:
    """What a trial left behind when its process ended."""

    fate: str
    step: str
    was_killed: bool
    told: list = field(default_factory=list)


def pick(chance, weights):
    return chance.choices(list(weights), list(weights.values()))[0]


def last_step(steps, reached):
    """The last of `steps` that was reached; the first needs nothing."""
    return max([step for step in steps if reached.get(step)], key=steps.index, default=steps[0])


def plan_of(chance, fate, calls, after):
    """Where the process stops, and what the spy does, if anything."""
    if fate == "none":
        return None, None
    if after is not None and chance.random() < 0.5:
        after = chance.choice(list(LATER))
        calls = LATER[after]
    at = chance.randint(1, max(calls, 1))
    if fate == "killed by the tool":
        later = chance.choice([0, 0, chance.randint(1, 2000)])
        return None, f"{chance.choice(MOMENTS)} {later} {chance.choice([0, HOLD_US])}"
    if fate in ("sleep", "lost database"):
        return Stop(at, "ask", after), None
    later_us = int(10 ** chance.uniform(0, 4)) if fate == "kill later" else 0
    return Stop(at, "kill", after, later_us), None


class Calls:
    """Calls by `remit stdio`: the same call by one key, several times at once, in one process or in two."""

    tool = "pay"
    rivals = 0.6  # how often there is a second process
    # What a key may be told when nobody is left, and how often it had its effect before and after that was said.
    truths = {"done": (0, 1), "repeated succeeded": (1, 1), "repeated unknown": (None, None)}

    # The same once a person settled what nobody knew.
    settled = {("repeated succeeded", 1, 1), ("done", 0, 1)}

    def __init__(self, world, chance, lengths, broken):
        self.world = world
        self.chance = chance
        self.calls = lengths[f"calls {world.database.name}"]
        self.broken = broken
        self.keys = {}
        self.faults = []
        self.rival = None
        if chance.random() < self.rivals:
            self.rival = Session(world)
            [[owner]] = world.database.ask("select owner from ledger_owners")
            world.rivals_owner = owner

    def keys_of(self, number):
        """The keys by which a piece of work is asked for."""
        return [f"k{number}"]

    def prepare(self, order):
        """What has to be so before a call is made."""

    def trial(self, number):
        world, chance = self.world, self.chance
        fate = "none" if self.broken == "no-fire" else pick(chance, FATES)
        order = f"o{number}"
        keys = self.keys_of(number)
        self.keys.update(dict.fromkeys(keys, order))
        self.prepare(order)
        stop, plan = plan_of(chance, fate, self.calls * 3 // 2, AFTER_CALL)
        if plan is not None and self.rival is not None:
            plan += f" {self.rival.pid}"
        world.plan(plan)
        writers = world.writers()
        since = time.time_ns()
        victim = Session(world, stop)
        duplicates = chance.choices(keys, k=chance.choice([1, 1, 2, 4]))
        rivals = chance.choices(keys, k=chance.choice([0, 1, 2, 4]) if self.rival else 0)
        is_rival_first = chance.random() < 0.5
        theirs = self.rival.call(self.tool, order, rivals) if rivals and is_rival_first else []
        mine = victim.call(self.tool, order, duplicates)
        if rivals and not is_rival_first:
            theirs = self.rival.call(self.tool, order, rivals)
        key = duplicates[0]
        waits = stop is not None and stop.how == "ask"
        if victim.read_until(lambda: victim.has_answered(mine)):
            self.disturb(fate, victim, key)
            waits = False
            victim.read_until(lambda: victim.has_answered(mine))
        victim.end((lambda: self.disturb(fate, victim, key)) if waits else None)
        world.database.bring_back()
        if theirs:
            self.rival.read_until(lambda: self.rival.has_answered(theirs))
        world.plan(None)
        answers = [told(victim.answers.get(number)) for number in mine]
        step = self.step(order, since, world.writers() - writers, answers)
        answers += [told(self.rival.answers.get(number)) for number in theirs]
        count = effects_of(world).get(order, 0)
        if count != 1 and ("done" in answers or "repeated succeeded" in answers):
            self.faults.append(f"{order}: {answers} was told, and there were {count} effects")
        if self.broken == "forgetful":
            world.database.ask("delete from ledger_claims")
        return Found(fate, f"{self.tool}: {step}", victim.was_killed(), answers)

    def disturb(self, fate, victim, key):
        """The victim stands still between two steps."""
        world = self.world
        if fate == "lost database":
            world.database.take_away(self.chance)
            if self.chance.random() < 0.3:
                victim.process.kill()
            else:
                victim.go_on()
                time.sleep(self.chance.choice([0, self.chance.uniform(0, 0.3), 1.2]))
            world.database.bring_back()
            return
        # For so long that everybody takes it for lost; another has its turn meanwhile. Unless it stands in the middle
        # of a transaction: then it holds up the others.
        world.make_leases_old(BRIEFLY)
        other = self.rival or Session(world)
        numbers = other.call(self.tool, self.keys[key], [key])
        other.read_until(lambda: other.has_answered(numbers))
        if other is not self.rival:
            other.end()
        victim.go_on()

    def step(self, order, since, writers, answers):
        world = self.world
        rows = world.database.ask(f"select invocation, state from ledger_claims where claimed_ns >= {since} "
                                  f"and owner <> '{world.rivals_owner}'") or []
        journal = {(word, invocation) for word, at, invocation in world.journal() if at == order}
        reached = {}
        events = {(event["event"], event["invocation_id"]) for event in world.events(writers)
                  if "invocation_id" in event}
        for invocation, state in rows:
            reached["key claimed"] = True
            reached["key started"] = state != "claimed"
            reached["key finished"] = state == "succeeded"
            reached["start recorded"] = ("executor.start", invocation) in events
            reached["finish recorded"] = ("executor.finish", invocation) in events
            reached["at the tool"] = ("received", invocation) in journal
            reached["effect"] = ("effect", invocation) in journal
        reached["told"] = "done" in answers
        return last_step(CALL_STEPS, reached)

    def ask_all(self, session, keys):
        """What each of `keys` is told, once it is told something that lasts."""
        answers = dict.fromkeys(keys, "nothing")
        # What the rival could not write while the database was away it writes when it is back.
        for_now = FOR_NOW if self.rival is None else (*FOR_NOW, "repeated running")
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and not session.is_over:
            still = [key for key in keys if answers[key] in for_now]
            if not still:
                break
            numbers = {key: session.call(self.tool, self.keys[key], [key])[0] for key in still}
            session.read_until(lambda: session.has_answered(numbers.values()))
            answers.update({key: told(session.answers.get(number)) for key, number in numbers.items()})
            time.sleep(0.02)
        return answers

    def settle(self):
        """Everybody is asked again, when nobody is left: what each key is told, and how often it had its effect
        before and after."""
        world = self.world
        world.make_leases_old()
        asked = self.rival or Session(world)
        before = effects_of(world)
        answers = self.ask_all(asked, list(self.keys))
        after = effects_of(world)
        yield from self.faults
        for key, order in self.keys.items():
            counts = (before.get(order, 0), after.get(order, 0))
            if max(counts) > 1:
                yield f"{key}: two effects of one key"
            if answers[key] not in self.truths:
                yield f"{key} was told {answers[key]!r} when nobody was left"
            elif any(true not in (None, count) for true, count in zip(self.truths[answers[key]], counts)):
                yield f"{key} was told {answers[key]!r}, and its effects were {counts[0]}, then {counts[1]}"
            elif answers[key] == "repeated unknown" and counts[0] != counts[1]:
                yield f"{key} is unknown and had an effect when asked for again"
        yield from self.hear_a_person(asked, [key for key, answer in answers.items() if answer == "repeated unknown"])
        if asked.end() != 0:
            yield "the session that asked again did not end well"
        if asked is self.rival:
            Session(world).end()  # the next to start closes the logs of those that were killed

    def hear_a_person(self, session, keys):
        """A person looks at the journal and says what became of what nobody knows (REQ-LG-008)."""
        world = self.world
        done = effects_of_invocations(world)
        for claim, invocation in world.database.ask(
                "select claim_key, invocation from ledger_claims where state = 'unknown'"):
            word = "succeeded" if done.get(invocation) else "not-run"
            ran = world.remit("ledger", "resolve", "--config", "remit.yaml", claim, "--as", word, "--by", "carol",
                              "--reason", "the journal says so")
            if ran.returncode != 0:
                yield f"a claim that nobody knows the end of cannot be settled: {ran.stderr}"
        before = effects_of(world)
        answers = self.ask_all(session, keys)
        after = effects_of(world)
        for key in keys:
            order = self.keys[key]
            seen = (answers[key], before.get(order, 0), after.get(order, 0))
            if seen not in self.settled:
                yield f"{key}, once a person settled it: {seen}"

    def close(self):
        if self.rival is not None and self.rival.process.poll() is None:
            self.rival.process.kill()
            self.rival.end()


class Approved(Calls):
    """The same with a tool that needs an approval: one approval, asked for by several keys."""

    tool = "release"
    rivals = 1
    # Of several keys of one work another may have had the effect before this one was told.
    truths = {"done": (0, 1), "repeated succeeded": (1, 1), "repeated unknown": (None, None),
              "stale_approval": (None, None), "approval_required": (None, None)}

    # An approval that was used up stays used up.
    settled = {("repeated succeeded", 1, 1), ("approval_required", 0, 0), ("approval_required", 1, 1)}

    def keys_of(self, number):
        return [f"k{number}.{which}" for which in range(3)]

    def prepare(self, order):
        """A person grants what the rival was refused."""
        [number] = self.rival.call(self.tool, order, [None])
        self.rival.read_until(lambda: self.rival.has_answered([number]))
        request = self.rival.answers[number]["result"]["structuredContent"]["request"]
        granted = self.world.remit("approvals", "grant", "--config", "remit.yaml", request, "--by", "carol", "--reason",
                                   "due", "--expires", "1h")
        assert granted.returncode == 0, granted.stderr


def effects_of(world):
    counts = {}
    for word, order, _ in world.journal():
        if word == "effect":
            counts[order] = counts.get(order, 0) + 1
    return counts


class Work:
    """Rows of a queue by `remit queue work`: one worker or two, each to be stopped somewhere."""

    def __init__(self, world, chance, lengths, broken):
        self.world = world
        self.chance = chance
        self.tool = chance.choice(["pay", "pay", "note"])
        self.calls = lengths[f"work {world.database.name}"]
        self.broken = broken
        self.rows = {}
        self.workers = 0

    def worker(self, stop=None, until_idle=True):
        self.workers += 1
        words = ["queue", "work", "--config", "remit.yaml", "--name", f"w{self.workers}", "--threads",
                 str(self.chance.choice([1, 1, 2]))]
        return f"w{self.workers}", Process(self.world, words + (["--until-idle"] if until_idle else []), stop)

    def trial(self, number):
        world, chance = self.world, self.chance
        fate = "none" if self.broken == "no-fire" else pick(chance, FATES)
        order = f"o{number}"
        self.rows[world.enqueue(self.tool, order)] = order
        from_start = chance.random() < 0.1
        stop, plan = plan_of(chance, fate, self.calls * (3 if from_start else 1), None if from_start else AFTER_RUN)
        world.plan(plan)
        writers = world.writers()
        since = time.time_ns()
        name, victim = self.worker(stop)
        other = None
        if chance.random() < 0.25:
            second, _ = plan_of(chance, pick(chance, {"kill": 1, "kill later": 1}), self.calls, AFTER_RUN)
            _, other = self.worker(chance.choice([None, second]))
        if stop is not None and stop.how == "ask" and victim.wait_for_stop():
            self.disturb(fate, victim, from_start or other is not None)
        victim.wait()
        world.database.bring_back()
        if other is not None:
            other.wait()
        world.plan(None)
        step = self.step(name, since, world.writers() - writers)
        world.make_leases_old()
        world.make_claims_old()
        if self.broken == "forgetful":
            world.database.ask("delete from ledger_claims")
            world.database.ask("update remit_queue_row set state = 'waiting' where is_open = 1")
        return Found(fate, f"{self.tool}: {step}", victim.was_killed())

    def disturb(self, fate, victim, is_anybody_new):
        world = self.world
        if fate == "lost database":
            world.database.take_away(self.chance, is_anybody_new)
            if self.chance.random() < 0.3:
                victim.process.kill()
            else:
                victim.go_on()
                time.sleep(self.chance.choice([0, self.chance.uniform(0, 0.3), 1.2]))
            world.database.bring_back()
            return
        world.make_leases_old(BRIEFLY)
        world.make_claims_old(BRIEFLY)
        _, other = self.worker()
        other.wait()
        victim.go_on()

    def step(self, name, since, writers):
        world = self.world
        rows = world.database.ask("select id, state, last_invocation from remit_queue_row "
                                  f"where worker = '{name}' order by changed desc limit 1") or []
        steps = WORK_STEPS if self.tool == "pay" else PLAIN_STEPS
        if not rows:
            return steps[0]
        row, state, invocation = rows[0]
        order = self.rows[row]
        events = [event for event in world.events(writers) if "invocation_id" in event]
        # What this worker was about last: a row that ended says it itself.
        if not invocation and events:
            invocation = events[-1]["invocation_id"]
        seen = {event["event"] for event in events if event["invocation_id"] == invocation}
        tool = {word for word, named, _ in world.journal() if named == order}
        # A key that is claimed and whose call is not on record is that of the last one, too.
        claims = world.database.ask(f"select state from ledger_claims where claimed_ns >= {since} "
                                    f"and (invocation = '{invocation}' or state = 'claimed')") or []
        key = claims[0][0] if claims else ""
        return last_step(steps, {
            "row claimed": True, "key claimed": key != "", "key started": key in ("started", "succeeded"),
            "key finished": key == "succeeded", "start recorded": "executor.start" in seen,
            "finish recorded": "executor.finish" in seen, "row started": state in ("started", "succeeded", "unknown"),
            "at the tool": "received" in tool, "effect": "effect" in tool, "row ended": state == "succeeded"})

    def work_off(self):
        world = self.world
        for _ in range(20):
            world.make_leases_old()
            world.make_claims_old()
            _, worker = self.worker()
            worker.wait()
            if world.database.ask(OPEN_ROWS) == []:
                break

    def settle(self):
        """Workers that nobody stops take what is left; then each row says what is true."""
        world = self.world
        self.work_off()
        effects = effects_of(world)
        found = {row: (state, f"{state} {reason} {error}") for row, state, reason, error in world.database.ask(
            "select id, state, reason, error_type from remit_queue_row")}
        for row, order in self.rows.items():
            state, words = found.get(row, ("gone", "gone"))
            count = effects.get(order, 0)
            if count > 1:
                yield f"{order}: two effects of one row, which is {words}"
            elif state not in ("succeeded", "unknown"):
                yield f"{order}: the row is {words} in the end"
            elif state == "succeeded" and count != 1:
                yield f"{order}: the row is {words}, and there were {count} effects"
        yield from self.hear_a_person([row for row, (state, _) in found.items()
                                       if state == "unknown" and not effects.get(self.rows[row])])

    def hear_a_person(self, rows):
        """A person looks at the journal and has the rows run that had no effect (REQ-QU-020)."""
        world = self.world
        for row in rows:
            ran = world.remit("queue", "requeue", row, "--config", "remit.yaml", "--by", "carol", "--reason",
                              "the journal says so", "--settled")
            if ran.returncode != 0:
                yield f"a row that nobody knows the end of cannot be requeued: {ran.stderr}"
        if rows:
            self.work_off()
        effects = effects_of(world)
        for row in rows:
            [[state]] = world.database.ask(f"select state from remit_queue_row where id = '{row}'")
            if (state, effects.get(self.rows[row])) != ("succeeded", 1):
                yield f"{self.rows[row]}: requeued by a person, the row is {state}, with " \
                      f"{effects.get(self.rows[row], 0)} effects"

    def close(self):
        pass


def effects_of_invocations(world):
    counts = {}
    for word, _, invocation in world.journal():
        if word == "effect":
            counts[invocation] = counts.get(invocation, 0) + 1
    return counts


def check_claims(world):
    """Each claim of the ledger beside the effects of its invocation."""
    if world.database.was_made_anew:
        yield "a file that vanished was made anew"
    effects = effects_of_invocations(world)
    for invocation, state in world.database.ask("select invocation, state from ledger_claims"):
        count = effects.get(invocation, 0)
        if state in ("claimed", "started"):
            yield f"the claim of {invocation} is {state} when nobody is left"
        if (state == "succeeded" and count != 1) or (state in ("failed", "cancelled", "not_run") and count != 0):
            yield f"the claim of {invocation} is {state}, and there were {count} effects"


def check_evidence(world):
    """Each effect was decided and started on record; what is recorded as done was done."""
    effects = effects_of_invocations(world)
    starts = set()
    for event in world.events():
        invocation = event.get("invocation_id")
        if event["event"] == "executor.start":
            starts.add(invocation)
        if event["event"] == "executor.finish":
            count, outcome = effects.get(invocation, 0), event["outcome"]
            if (outcome == "succeeded" and count != 1) or (outcome == "cancelled" and count != 0):
                yield f"{invocation} is recorded as {outcome}, and there were {count} effects"
    for invocation in effects:
        if invocation not in starts:
            yield f"{invocation} had its effect without a start on record"
