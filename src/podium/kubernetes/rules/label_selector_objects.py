"""LabelSelector objects, as budgets and workloads carry them, made ready to match."""

import msgspec

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import LabelSelector
from podium.kubernetes.rules.labels import NOTHING, Selector, SelectorError, selector_of


def object_selector(written: JsonObject | None) -> Selector:
    """What a LabelSelector selects; one that cannot be read selects nothing."""
    if written is None:
        return NOTHING
    try:
        return selector_of(msgspec.convert(written, LabelSelector))
    except (msgspec.ValidationError, SelectorError):
        return NOTHING
