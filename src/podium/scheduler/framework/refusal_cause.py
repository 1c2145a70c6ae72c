"""What is behind a plugin's refusal, as the plugin itself can tell it.

A plugin may say more than its status does by `explain_refusal`; what a filter holds against single
nodes it says by `explain_rejections`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from podium.golang.json_values import JsonValue


class RefusalCause(NamedTuple):
    """`code` tells causes apart for programs, `subject` is what it is about (`default/training`),
    `sentence` says it in words, `facts` are its numbers by JSON name.

    `keeps_message` is set where the status has a text that people know and search for. That stays
    the reason then that `podium why` gives; the cause is told where a pod is turned away before any
    node was looked at."""

    code: str
    subject: str
    sentence: str
    facts: Mapping[str, JsonValue] = MappingProxyType({})
    keeps_message: bool = False
