"""Moves that reach a goal as records, in the form of `records.py`."""

from podium.offline.what_if.rebalance_answer import RebalanceAnswer
from podium.offline.what_if.records import Record


def step_records(answer: RebalanceAnswer) -> list[Record]:
    """Each move in order, with the commands that make it."""
    return [
        {
            "step": number,
            "namespace": step.pod.partition("/")[0],
            "name": step.pod.partition("/")[2],
            "source_node": step.source,
            "target_node": step.target,
            "placed": len(step.placed),
            "commands": "; ".join(step.commands),
        }
        for number, step in enumerate(answer.steps, 1)
    ]


def goal_record(answer: RebalanceAnswer) -> Record:
    """What the moves come to, in one record."""
    state = answer.state
    return {
        "goal": answer.goal,
        "reached": answer.is_reached,
        "measure": state.name,
        "before": state.before,
        "after": state.after,
        "wanted": state.wanted,
        "bound": state.bound,
        "moves": len(answer.steps),
        "fewest_moves": answer.fewest,
        "first_command": answer.commands[0] if answer.closed else None,
    }
