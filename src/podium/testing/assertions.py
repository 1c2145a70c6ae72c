"""Assertions on decisions that say the whole reason when they fail.

    assert_placed(decision, on="b")
    assert_rejected(decision, node="a", by="MyPlugin", reason="node(s) were too hot")
    assert_unplaced(decision, message="0/2 nodes are available: ...")
    assert_scores(decision, "MyPlugin", {"a": 0, "b": 100})

A failure shows what the scheduler found: nodes that fit with their totals and scores, nodes that do
not with who rejected them and why.
"""

from collections.abc import Mapping
from typing import Final

from podium.scheduler.engine.decision import Decision
from podium.scheduler.framework.status import Status

MAX_LINES: Final = 12
"""Nodes of a kind that a failure shows."""


def assert_placed(decision: Decision, on: str | None = None) -> None:
    """The pod got a node, or just this one."""
    if decision.bound is None:
        raise _failure(
            decision, f"{_pod(decision)} got no node" + (f", not {on} either" if on else "")
        )
    if on is not None and decision.bound != on:
        raise _failure(decision, f"{_pod(decision)} went to {decision.bound}, not to {on}")


def assert_unplaced(decision: Decision, message: str | None = None) -> None:
    """The pod got no node; `message` is a part of what is said of it."""
    if decision.bound is not None:
        raise _failure(decision, f"{_pod(decision)} went to {decision.bound} and should not have")
    if message is not None and message not in (decision.message or ""):
        raise _failure(decision, f"the message is not {message!r} but {decision.message!r}")


def assert_rejected(
    decision: Decision, *, node: str, by: str | None = None, reason: str | None = None
) -> None:
    """A node was rejected, by this plugin, with this reason among its reasons."""
    status = _status_of(decision, node)
    if status is None:
        raise _failure(decision, f"{node} was not rejected")
    if by is not None and status.plugin != by:
        raise _failure(decision, f"{node} was rejected by {status.plugin}, not by {by}")
    if reason is not None and reason not in status.reasons:
        raise _failure(decision, f"{node} was rejected because {status.message!r}, not {reason!r}")


def assert_fits(decision: Decision, node: str) -> None:
    """No filter rejected a node."""
    status = _status_of(decision, node)
    if status is not None:
        raise _failure(decision, f"{node} was rejected by {status.plugin}: {status.message}")


def assert_scores(decision: Decision, plugin: str, expected: Mapping[str, int]) -> None:
    """What one plugin's normalised scores of some nodes are."""
    found = scores_of(decision, plugin)
    wrong = {name: found.get(name) for name, score in expected.items() if found.get(name) != score}
    if wrong:
        wanted = {name: expected[name] for name in wrong}
        raise _failure(decision, f"{plugin} gave {wrong}, not {wanted}")


def scores_of(decision: Decision, plugin: str) -> dict[str, int]:
    """Node name -> normalised score by a plugin; empty if it scored nothing."""
    return {
        decision.node_names[row]: int(scores.normalized[position])
        for scores in decision.scores
        if scores.plugin == plugin
        for position, row in enumerate(decision.feasible)
    }


def describe_decision(decision: Decision) -> str:
    """A decision in a few lines: what fits and how well, what does not and why."""
    lines = [f"{_pod(decision)}: {_outcome(decision)}"]
    lines += _cut([_fitting_line(decision, at) for at in _by_total(decision)])
    rejected = {name: status for name, status in decision.filter_statuses().items() if status}
    lines += _cut(
        [
            f"  {name:<20} rejected by {status.plugin}: {status.message}"
            for name, status in sorted(rejected.items())
        ]
    )
    if decision.message:
        lines.append(f"  {decision.message}")
    return "\n".join(lines)


def _outcome(decision: Decision) -> str:
    if decision.bound is not None:
        return f"on {decision.bound}"
    held = decision.pre_enqueue
    if held is not None:
        return f"held back by {held.plugin}: {held.message}"
    if decision.is_error:
        return "failed"
    refused = decision.refused_by
    if refused is not None:
        return f"refused by {refused.plugin}: {refused.message}"
    prepared = decision.pre_filter
    if prepared is not None and prepared.status is not None:
        return f"rejected by {prepared.status.plugin} for all nodes"
    return "no node"


def _by_total(decision: Decision) -> list[int]:
    total = decision.total
    count = len(decision.feasible)
    if total is None:
        return list(range(count))
    return sorted(range(count), key=lambda at: -int(total[at]))


def _fitting_line(decision: Decision, position: int) -> str:
    name = decision.node_names[decision.feasible[position]]
    total = decision.total
    if total is None:
        return f"  {name:<20} fits"
    scores = decision.node_scores(position)
    said = " ".join(f"{plugin}={score.weighted}" for plugin, score in scores.items())
    return f"  {name:<20} total {int(total[position])}: {said}"


def _cut(lines: list[str]) -> list[str]:
    more = len(lines) - MAX_LINES
    return lines if more <= 0 else [*lines[:MAX_LINES], f"  ... and {more} more"]


def _status_of(decision: Decision, node: str) -> Status | None:
    statuses = decision.filter_statuses()
    if node in statuses:
        return statuses[node]
    prepared = decision.pre_filter
    if prepared is not None and prepared.status is not None:
        return prepared.status
    if node not in decision.node_names:
        raise _failure(decision, f"there is no node {node}")
    if any(decision.node_names[row] == node for row in decision.feasible):
        return None
    if prepared is not None and prepared.nodes is not None and decision.diagnosis is not None:
        return decision.diagnosis.absent.by(", ".join(sorted(prepared.narrowed_by)))
    raise _failure(decision, f"{node} was not looked at")


def _pod(decision: Decision) -> str:
    return f"pod {decision.pod.key}"


def _failure(decision: Decision, problem: str) -> AssertionError:
    return AssertionError(f"{problem}\n{describe_decision(decision)}")
