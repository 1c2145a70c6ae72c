"""What can go wrong with an expression: it does not compile, or a value does not fit.

The texts are cel-go's, because they end up in a pod's condition. A run-time error is an exception
so that the hot path pays nothing for it; the logical operators catch it where CEL says they absorb
errors.
"""


class CelError(Exception):
    """Evaluation failed; the text is what users see."""


class CancelledError(Exception):
    """Evaluation was stopped for good: unlike a CelError, no operator absorbs this."""


class CompileError(ValueError):
    """The expression is not valid CEL, or does not fit the types of its variables."""


class IssueError(Exception):
    """One problem at one place of the source, before it is laid out for people."""

    def __init__(self, problem: str, offset: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.offset = offset


def no_such_overload() -> CelError:
    return CelError("no such overload")


def unreadable(kind: str) -> CelError:
    """A text does not spell a value of a type."""
    return CelError(f"type conversion error from 'string' to '{kind}'")


def cost_exceeded() -> CancelledError:
    return CancelledError("operation cancelled: actual cost limit exceeded")


def describe_issues(source: str, issues: list[IssueError]) -> str:
    """All problems, each with its line and a caret below the place."""
    lines = source.split("\n")
    shown: list[str] = []
    for issue in sorted(issues, key=lambda found: found.offset):
        before = source[: issue.offset]
        line = before.count("\n")
        column = issue.offset - (before.rfind("\n") + 1)
        shown.append(
            f"ERROR: <input>:{line + 1}:{column + 1}: {issue.problem}\n"
            f" | {lines[line]}\n"
            f" | {'.' * column}^"
        )
    return "\n".join(shown)
