"""Everything that strict decoding objects to, collected so that a user sees it all at once."""

from collections.abc import Sequence

from podium.golang.errors import did_you_mean
from podium.scheduler.config.decode import UnknownField
from podium.scheduler.config.errors import ConfigurationError, FieldProblem
from podium.scheduler.config.findings import Finding


class StrictErrors:
    """Fields with no place in the format, or with two: upstream's texts, and where they are.

    Names of earlier times are collected beside them, or with `takes_old=False` are errors too.
    """

    def __init__(self, repeated_keys: Sequence[str] = (), *, takes_old: bool = True) -> None:
        self.takes_old = takes_old
        self.old_spellings: list[Finding] = []
        self._texts: list[str] = []
        self._problems: list[FieldProblem] = []
        if repeated_keys:
            self._texts.append("\n  ".join(("yaml: unmarshal errors:", *repeated_keys)))
            self._problems.extend(FieldProblem("", text) for text in repeated_keys)

    def add(self, fields: Sequence[UnknownField], *, before: str = "", at: str = "") -> None:
        """Note fields; `before` opens their text, `at` is the path they hang below."""
        if not fields:
            return
        self._texts.append(before + ", ".join(field.text for field in fields))
        self._problems.extend(
            FieldProblem(f"{at}{field.path}", field.problem, did_you_mean(field.suggestion))
            for field in fields
        )

    @property
    def problems(self) -> tuple[FieldProblem, ...]:
        return tuple(self._problems)

    def __bool__(self) -> bool:
        return bool(self._texts)

    def error(self, further: Sequence[FieldProblem]) -> ConfigurationError:
        """The refusal; `further` mistakes are told with these, though upstream stops here."""
        return ConfigurationError(
            f"strict decoding error: {', '.join(self._texts)}",
            [*self._problems, *further],
            remedy=next((problem.remedy for problem in self._problems if problem.remedy), ""),
        )
