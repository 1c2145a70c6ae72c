"""A cause as plain data, the same in reports, explanations and on the page."""

from copy import deepcopy
from typing import Any

from podium.scheduler.explain.cause import Cause


def cause_document(cause: Cause) -> dict[str, Any]:
    """A cause with all that its sentence is made of; told twice, it is written out twice."""
    return {
        "code": cause.code,
        "plugin": cause.plugin or None,
        "subject": cause.subject,
        "sentence": cause.sentence,
        "nodes": list(cause.nodes),
        "facts": deepcopy(cause.facts),
    }
