"""The failure message, composed as upstream composes it.

Dashboards, alerts and people match on these texts, so count, order and punctuation are part of the
contract: reasons are counted over nodes and the finished lines are sorted as plain strings, the
number included (`10 x` stands before `2 y`).
"""

from podium.scheduler.framework.diagnosis import Diagnosis
from podium.scheduler.framework.status import Status

NO_NODES = "no nodes available to schedule pods"


def fit_error(diagnosis: Diagnosis) -> str:
    """`0/3 nodes are available: 1 Insufficient memory, 2 node(s) were unschedulable. ...`"""
    text = f"0/{diagnosis.node_count} nodes are available:"
    if diagnosis.prefilter_message:
        text += f" {diagnosis.prefilter_message}."
    else:
        lines = reason_lines(diagnosis)
        if lines:
            text += f" {', '.join(lines)}."
    if diagnosis.postfilter_message:
        text += f" {diagnosis.postfilter_message}"
    return text


def reason_lines(diagnosis: Diagnosis) -> list[str]:
    return sorted(f"{count} {reason}" for reason, count in reason_counts(diagnosis).items())


def reason_counts(diagnosis: Diagnosis) -> dict[str, int]:
    """Reason -> number of nodes, those included that were ruled out without a look."""
    counts, explained = diagnosis.histogram()
    silent = diagnosis.node_count - explained
    if silent > 0:
        for reason in diagnosis.absent.reasons:
            counts[reason] = counts.get(reason, 0) + silent
    return counts


def one_node_error(status: Status) -> str:
    """The message when Reserve or Permit refuses the one chosen node."""
    return fit_error(Diagnosis(1, own={0: status}))
