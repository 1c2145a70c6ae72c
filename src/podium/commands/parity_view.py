"""How far decisions agree with recorded ones: a table with the first differences, a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec import field
from rich.table import Table

from podium.commands.answering import Answer
from podium.commands.console import Console, Text
from podium.commands.tables import Screen
from podium.golang.document_structs import Count, Document
from podium.net.files.versioned_documents import DocumentList
from podium.parity.comparison import FIELDS, Agreement, Difference, narrow


class AgreementDocument(Document, frozen=True):
    """How far decisions agree with a family of recorded ones, an item of `podium parity`."""

    KIND: ClassVar[str] = "Agreement"
    LISTED: ClassVar[str] = (
        "What `podium parity -o json` prints: a family of recorded decisions an item."
    )

    family: str
    """The family: the name of the file."""
    cases: Count
    """Recorded cases."""
    steps: Count
    """Decisions in them."""
    exact: Count
    """Those of which every field agrees."""
    differing_fields: Mapping[str, Count] = field(name="differing_fields")
    """Fields with the number of decisions in which they differ."""

    @classmethod
    def of(cls, tally: Agreement) -> AgreementDocument:
        return cls(tally.family, tally.cases, tally.steps, tally.exact, dict(tally.by_field))


@dataclass(frozen=True)
class AgreementView(Answer):
    tallies: Sequence[Agreement]
    has_crashed: bool = False

    @property
    def is_yes(self) -> bool:
        return all(each.exact == each.steps for each in self.tallies)

    def document(self) -> DocumentList:
        return DocumentList(AgreementDocument, tuple(map(AgreementDocument.of, self.tallies)))

    def show(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        _print_tables(self.tallies)


def _print_tables(tallies: Sequence[Agreement]) -> None:
    console = Console()
    table = Table(title="Agreement with the recorded decisions")
    table.add_column("family")
    for heading in ("cases", "steps", "exact"):
        table.add_column(heading, justify="right")
    table.add_column("differing fields")
    for tally in [*tallies, _sum(tallies)]:
        style = "bold" if tally.family == "all" else ("green" if tally.exact == tally.steps else "")
        fields = ", ".join(f"{n} {tally.by_field[n]}" for n in FIELDS if tally.by_field[n])
        table.add_row(
            tally.family,
            str(tally.cases),
            str(tally.steps),
            f"{tally.exact} ({_percent(tally)})",
            fields,
            style=style,
        )
    console.print(table)
    for tally in tallies:
        for difference in tally.first:
            _print_difference(console, difference)


def _print_difference(console: Console, difference: Difference) -> None:
    heading = f"{difference.case} step {difference.step}: {difference.field}"
    console.print()
    console.print(Text(heading, "bold"))
    for path, expected, found in narrow(difference.expected, difference.found)[:4]:
        place = f" {path}" if path else ""
        console.print(f"  recorded{place}: {expected!r}")
        console.print(f"  decided {place}: {found!r}")


def _sum(tallies: Sequence[Agreement]) -> Agreement:
    total = Agreement("all")
    for tally in tallies:
        total.cases += tally.cases
        total.steps += tally.steps
        total.exact += tally.exact
        total.by_field.update(tally.by_field)
    return total


def _percent(tally: Agreement) -> str:
    if not tally.steps:
        return "-"
    if tally.exact == tally.steps:
        return "100 %"
    return f"{min(99.99, 100 * tally.exact / tally.steps):.2f} %"
