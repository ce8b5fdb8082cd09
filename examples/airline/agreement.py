"""Where a replay of the airline's recorded runs agrees with the benchmark's own reward.

usage: agreement.py TRAJECTORIES REPORT

TRAJECTORIES is tau-bench's file and REPORT what `remit replay --format json` printed of it. A denied call is set
beside what the airline's tool answered when it was recorded: where that was an error, the denial took nothing away.
"""

import json
import sys
from pathlib import Path

KINDS = ("nothing denied", "denied what failed anyway", "denied what was done")


def recorded(runs):
    """For each run its calls in order, and whether each was done: whether its answer was no error."""
    for run in runs:
        answers = []
        for asked, told in zip(run["traj"], run["traj"][1:] + [{}]):
            for _ in asked.get("tool_calls") or []:
                answers.append(told.get("role") == "tool" and not told["content"].startswith("Error"))
        yield f"trajectories/task-{run['task_id']}/trial-{run['trial']}", run["reward"], answers


def kind_of(calls, answers):
    denied = [done for call, done in zip(calls, answers) if call["decision"] == "deny"]
    return KINDS[0] if not denied else KINDS[2] if any(denied) else KINDS[1]


def agreement(trajectories, report):
    """Counts by reward and kind, and the rewarded runs that policy would have changed."""
    replayed = {run["run_id"]: run["calls"] for run in report["runs"]}
    counts = {reward: dict.fromkeys(KINDS, 0) for reward in (1.0, 0.0)}
    against = []
    for run, reward, answers in recorded(trajectories):
        if run not in replayed:
            continue
        kind = kind_of(replayed[run], answers)
        counts[reward][kind] += 1
        if reward == 1 and kind == KINDS[2]:
            against.append(run)
    return counts, against


def main(trajectories, report):
    counts, against = agreement(json.loads(Path(trajectories).read_text(encoding="utf-8")),
                                json.loads(Path(report).read_text(encoding="utf-8")))
    print(f"{'reward':<8}" + "".join(f"{kind:>28}" for kind in KINDS))
    for reward, row in counts.items():
        print(f"{reward:<8g}" + "".join(f"{row[kind]:>28}" for kind in KINDS))
    for run in against:
        print(f"rewarded, and policy denies what was done: {run}")


if __name__ == "__main__":
    main(*sys.argv[1:])
