"""How amounts, lists and numbers of nodes are put in sentences."""

from collections.abc import Iterable, Sequence

from podium.kubernetes.rules.labels import EVERYTHING, IN, Selector
from podium.kubernetes.rules.node_affinity import NodeTerm
from podium.kubernetes.rules.requests import CPU, EPHEMERAL_STORAGE, MEMORY

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


def joined(parts: Iterable[str], last: str = "and") -> str:
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
    return joined((term_text(term) for term in terms), "or")


def term_text(term: NodeTerm) -> str:
    parts = [str(expression) for expression in term.expressions]
    parts += [
        f"{field.key}{'=' if field.operator == IN else '!='}{field.value}" for field in term.fields
    ]
    return ", ".join(parts)
