"""How a command that answers a question is run: it works the answer out, the rest is done here.

A command is a function of its own options that gives back an `Answer`. `answers` adds the options
of how it is printed and makes an exit code of it: the document is made if somebody wants it, the
report for browsers if there is `--html`, and either the document or the table is printed. The
command line that a report shows is that of the arguments, see `same_command`.

    @answers("capacity")
    def capacity(*paths: str, want: Want = None) -> Answer:
        ...
        return CapacityView(answer, report, notes, has_crashed=tell_crashes_of(report))

Contract: nothing heavy is imported here, since every command is loaded for its help.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, ParamSpec, TypeVar

from cyclopts import Parameter

from podium.commands.exit_codes import BROKEN, NO, OK
from podium.commands.options import Output, ShowAll
from podium.commands.same_command import HowOptions, same_command

if TYPE_CHECKING:  # loaded when there is an answer
    from podium.commands.tables import Screen
    from podium.golang.document_structs import Document
    from podium.net.files.versioned_documents import DocumentList, ReceivedDocument
    from podium.web.report_file import Fact, ReportView

_Arguments = ParamSpec("_Arguments")
_PRINTED: Final = "printed"
"""The parameter with options of how an answer is printed."""

Html = Annotated[
    Path | None,
    Parameter(
        name=["--html"],
        metavar="FILE",
        show_default=False,
        help="Write a report for browsers as well: one file that needs no server.",
    ),
]


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class PrintOptions(HowOptions):
    """How an answer is given."""

    output: Output = "table"


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class NarrowPrintOptions(PrintOptions):
    """The same where a table is as wide as it gets."""

    output: Annotated[
        Literal["table", "json", "yaml"], Parameter(name=["--output", "-o"], help="What to print.")
    ] = "table"


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class ReportOptions(PrintOptions):
    """The same where there is a report for browsers as well."""

    html: Html = None


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class AnswerOptions(ReportOptions):
    """The same where a table may be longer than anybody wants to read."""

    show_all: ShowAll = False


AS_TABLE: Final = AnswerOptions()
IN_FULL: Final = ReportOptions()
ON_A_TERMINAL: Final = PrintOptions()
IN_ONE_WIDTH: Final = NarrowPrintOptions()


class Answer(ABC):
    """What a command has found out, in all its forms."""

    has_crashed: bool
    """Whether a pod met a bug; that was told then."""

    @property
    @abstractmethod
    def is_yes(self) -> bool:
        """Whether the exit code is 0, and not 1."""

    @abstractmethod
    def document(self) -> Document | DocumentList | ReceivedDocument:
        """For `-o json` and `-o yaml`, and for reports."""

    @abstractmethod
    def show(self, screen: Screen, *, wide: bool, show_all: bool) -> None:
        """On a terminal."""

    def report(self, document: Any) -> Report:
        """For browsers; `document` is what `document` has made."""
        raise NotImplementedError

    def make_page(self, document: Callable[[], Any], command: str) -> bytes:
        """The file for browsers, which names the command that asks the same."""
        return self.report(document()).make_file(command)

    def carry_out(self) -> bool:
        """Do what was asked for beside the answer, which has been given; whether it was done."""
        return True

    @property
    def exit_code(self) -> int:
        if self.has_crashed:
            return BROKEN
        return OK if self.is_yes else NO


@dataclass(frozen=True, slots=True)
class Report:
    """What the file for browsers is made of: figures for its head, documents by the paths by which
    views ask for them, the views, and what else they find in the overview.

    Contract: bounded. Whoever makes one cuts lists that are too long for a page."""

    facts: Sequence[Fact]
    documents: Mapping[str, Document]
    views: Iterable[ReportView]
    totals: Mapping[str, int] | None = None
    """How many entries lists have in truth that were cut."""
    metric_words: Mapping[str, str] | None = None
    phases: tuple[str, ...] | None = None

    def make_file(self, command: str) -> bytes:
        from msgspec import UNSET

        from podium.web.report_file import ReportOverview, make_report_file

        overview = ReportOverview(
            command=command,
            facts=tuple(self.facts),
            totals=UNSET if self.totals is None else self.totals,
            metric_words=UNSET if self.metric_words is None else self.metric_words,
            phases=UNSET if self.phases is None else self.phases,
        )
        return make_report_file({"overview": overview, **self.documents}, self.views)


MAX_ROWS: Final = 20_000
"""In one list of a report."""

_Document = TypeVar("_Document", bound="Document")


def bound_lists(document: _Document, limits: Mapping[str, int]) -> tuple[_Document, dict[str, int]]:
    """A document with lists that are no longer than these limits, and by their names in JSON how
    long they are in truth."""
    from msgspec.structs import fields, replace

    written = {each.name: each.encode_name for each in fields(document)}
    lists = {name: getattr(document, name) for name in limits}
    bounded = {name: lists[name][:most] for name, most in limits.items()}
    totals = {written[name]: len(found) for name, found in lists.items()}
    return replace(document, **bounded), totals


def answers(
    name: str, how: PrintOptions = AS_TABLE
) -> Callable[[Callable[_Arguments, Answer | int]], Callable[..., int]]:
    """A command of this name from a function that works out an answer, or has said why there is
    none and gives back its exit code. It gets the options that are `how` by default, unless it has
    them itself because they matter to it."""

    def decorate(command: Callable[_Arguments, Answer | int]) -> Callable[..., int]:
        own = inspect.signature(command)
        adds = _PRINTED not in own.parameters
        printed = inspect.Parameter(
            _PRINTED, inspect.Parameter.KEYWORD_ONLY, default=how, annotation=type(how)
        )

        @wraps(command)
        def run(*args: Any, **kwargs: Any) -> int:
            given = kwargs.pop(_PRINTED, how) if adds else kwargs.get(_PRINTED, how)
            answer = command(*args, **kwargs)
            if isinstance(answer, int):
                return answer
            give(answer, given, lambda: same_command(name, command, own.bind(*args, **kwargs)))
            was_done = answer.carry_out()
            return answer.exit_code or (OK if was_done else NO)

        if adds:
            run.__annotations__ = {**run.__annotations__, _PRINTED: type(how)}
            parameters = [*own.parameters.values(), printed]
            run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        return run

    return decorate


def give(answer: Answer, how: PrintOptions, asked: Callable[[], str]) -> None:
    """Write the report that was asked for, and print what was asked for. Raises InputError for a
    file that cannot be written."""
    document = cache(answer.document)
    prints_document = how.output in ("json", "yaml")
    if isinstance(how, ReportOptions) and how.html is not None:
        from podium.net.files.private_files import write_private_file

        write_private_file(how.html, answer.make_page(document, asked()))
    if prints_document:
        from podium.commands.documents import print_struct

        print_struct(document(), how.output)
    else:
        from podium.commands.tables import Screen

        shows_all = isinstance(how, AnswerOptions) and how.show_all
        answer.show(Screen(), wide=how.output == "wide", show_all=shows_all)
