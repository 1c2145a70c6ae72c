"""The cause of a refusal, as a person would name it.

A plugin's reason says what kind of thing is wrong ("node(s) had untolerated taint(s)"); a cause
says which thing, on which nodes, and what there is instead. Two pods with one message may have two
causes, and pods are grouped by cause.
"""

from dataclasses import dataclass, field

from podium.golang.json_values import JsonValue


@dataclass(frozen=True, slots=True)
class Cause:
    """`code` is a stable word for the kind of cause and `subject` the thing itself (a taint, a
    label, a resource, a claim): together they tell causes apart. `sentence` is for people and
    ends with a full stop. `nodes` are those that it rules out, in table order; none are named where
    the cause has nothing to do with single nodes. `facts` is what the sentence is made of."""

    code: str
    plugin: str
    subject: str
    sentence: str
    nodes: tuple[str, ...] = ()
    facts: dict[str, JsonValue] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str]:
        return self.code, self.plugin, self.subject
