"""What is behind a plugin's refusal, as the plugin itself can tell it.

Explanations look behind the refusals of in-tree plugins by themselves; any other plugin may say
more than its status does by `explain_refusal`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from podium.golang.json_values import JsonValue


class RefusalCause(NamedTuple):
    """`code` tells causes apart for programs, `subject` is what it is about (`default/training`),
    `sentence` says it in words, `facts` are its numbers by JSON name."""

    code: str
    subject: str
    sentence: str
    facts: Mapping[str, JsonValue] = MappingProxyType({})
