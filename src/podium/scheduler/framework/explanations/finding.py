"""What one plugin holds against some nodes, and how amounts and lists are put in sentences.

Amounts of resources stand as in manifests, for people and for `kubectl` alike.
"""

import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from podium.golang.errors import did_you_mean
from podium.golang.json_values import JsonValue
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.labels import EVERYTHING, IN, Selector
from podium.kubernetes.rules.node_affinity import NodeTerm
from podium.kubernetes.rules.quantity import NANO_PER_MILLI, NANO_PER_UNIT
from podium.kubernetes.rules.requests import CPU, EPHEMERAL_STORAGE, MEMORY
from podium.scheduler.cluster.growth import Mask

TYPO: Final = 0.85
"""How alike two values have to be for one to be a slip of the pen."""


@dataclass(frozen=True, slots=True)
class Relaxation:
    """The pod without one of its demands, and the words for that ("with that toleration")."""

    words: str
    pod: Pod


@dataclass(frozen=True, slots=True)
class Finding:
    """`clause` reads on after "20 nodes match pool=gpu; " and, with a capital, on its own.

    `nodes` is a mask over the nodes of the examination. `detail` is about any single one of them,
    and `describe` says more about the one at a position, from what is known of it by then. `relax`
    makes the pod that would get past it, where a change of the pod can.
    """

    code: str
    subject: str
    nodes: Mask
    clause: str
    detail: str
    describe: Callable[[int], str] | None = None
    facts: dict[str, JsonValue] = field(default_factory=dict)
    relax: Callable[[], Relaxation] | None = None

    def on(self, position: int) -> str:
        """What there is to say about one node."""
        return self.detail if self.describe is None else self.describe(position)


def or_rather(meant: str) -> str:
    """Behind a name that nothing has: the one that was probably meant, if there is one."""
    return f" ({did_you_mean(meant)})" if meant else ""


class NodeRequirement(enum.IntEnum):
    """What a pod asks of nodes that no change of other pods can give it, in the order in which a
    person would look for it."""

    LABELS = enum.auto()
    FEATURES = enum.auto()
    SIZE = enum.auto()
    VOLUMES = enum.auto()
    ZONES = enum.auto()
    DEVICES = enum.auto()
    PODS = enum.auto()


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Where the pod itself wants to be: `plural` reads on after "20 nodes". `explain` says why none
    of some nodes serves it, where that is more than what is held against each of them."""

    plugin: str
    passes: Mask
    plural: str
    singular: str
    explain: Callable[[Mask], list[Finding]] | None = None


class Restated(NamedTuple):
    """Nodes on which a filter objects to the same thing as another one does."""

    plugin: str
    nodes: Mask


MAX_NAMES = 3
MAX_EXACT = 100_000
"""Amounts are told exactly in units of which they have fewer."""
_BYTES = (("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10))


def amount_text(resource: str, number: int) -> str:
    """An amount of a resource without its name: `1.5` (cpu), `24Gi` (memory), `8`."""
    if resource == CPU:
        return f"{number / 1000:,.3f}".rstrip("0").rstrip(".")
    if resource in (MEMORY, EPHEMERAL_STORAGE):
        return bytes_text(number)
    return f"{number:,}"


def amount_texts(resource: str, *numbers: int) -> tuple[str, ...]:
    """Amounts that are told beside one another, in units so small that different ones differ."""
    texts = tuple(amount_text(resource, number) for number in numbers)
    for unit, size in _BYTES:
        if len(set(texts)) == len(set(numbers)):
            return texts
        texts = tuple(_text_in(unit, size, number) for number in numbers)
    return texts if len(set(texts)) == len(set(numbers)) else tuple(f"{n:,}" for n in numbers)


def bytes_text(number: int) -> str:
    """In the largest unit; in a smaller one where that is exact and the larger one is not, so that
    4100Mi does not look like 4Gi."""
    units = [(unit, size) for unit, size in _BYTES if abs(number) >= size]
    for unit, size in units:
        if number * 10 % size == 0 and abs(number) < MAX_EXACT * size:
            return _text_in(unit, size, number)
    return _text_in(*units[0], number) if units else f"{number:,}"


def _text_in(unit: str, size: int, number: int) -> str:
    return f"{number / size:,.1f}".removesuffix(".0") + unit


def some(names: Sequence[str], most: int = MAX_NAMES) -> str:
    """`a, b, c and 40 more`"""
    left = len(names) - most
    listed = ", ".join(names[:most])
    return f"{listed} and {left:,} more" if left > 0 else listed


def join_words(parts: Iterable[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`"""
    found = list(parts)
    if len(found) < 2:
        return "".join(found)
    return f"{', '.join(found[:-1])} {last} {found[-1]}"


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def counted_values(counts: Sequence[tuple[str, int]], most: int = 5) -> str:
    """Values with their numbers of nodes: `a, b, c, 100 each`, or `a on 100 nodes, b on 1`."""
    numbers = {number for _, number in counts}
    if numbers == {1} and len(counts) > most:
        return f"{len(counts):,} values, such as {', '.join(value for value, _ in counts[:3])}"
    if len(counts) > 1 and len(numbers) == 1 and len(counts) <= most:
        return f"{', '.join(value for value, _ in counts)}, {counts[0][1]:,} each"
    first = [f"{value} on {count(number, 'node')}" for value, number in counts[:1]]
    return some([*first, *(f"{value} on {number:,}" for value, number in counts[1:])], most)


def sentence(clauses: Iterable[str]) -> str:
    """Clauses as one sentence with a capital and a full stop."""
    text = "; ".join(clause for clause in clauses if clause)
    return f"{text[:1].upper()}{text[1:]}".rstrip(".") + "."


def selector_text(selector: Selector) -> str:
    """A label selector as one would write it for kubectl."""
    return "any labels" if selector == EVERYTHING else str(selector)


def terms_text(terms: Iterable[NodeTerm]) -> str:
    """Terms of a node selector, one of which has to hold."""
    return join_words((term_text(term) for term in terms), "or")


def term_text(term: NodeTerm) -> str:
    parts = [str(expression) for expression in term.expressions]
    parts += [
        f"{field.key}{'=' if field.operator == IN else '!='}{field.value}" for field in term.fields
    ]
    return ", ".join(parts)


_BINARY = (MEMORY, EPHEMERAL_STORAGE)


def is_counted_in_pieces(resource: str) -> bool:
    return resource not in (CPU, *_BINARY)


def describe(resource: str, amount: int) -> str:
    """An amount as the scheduler counts it, for people and for manifests alike."""
    return spell(resource, amount * (NANO_PER_MILLI if resource == CPU else NANO_PER_UNIT))


def spell(resource: str, nanos: int) -> str:
    if resource == CPU:
        milli = nanos // NANO_PER_MILLI
        return f"{milli}m" if milli % 1000 else str(milli // 1000)
    units = nanos // NANO_PER_UNIT
    if resource in _BINARY or resource.startswith("hugepages-"):
        for suffix in ("", "Ki", "Mi", "Gi", "Ti"):
            if suffix == "Ti" or units == 0 or units % 1024:
                return f"{units}{suffix}"
            units //= 1024
    return str(units)
