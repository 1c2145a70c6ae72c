"""Minor releases of Kubernetes by number."""

from typing import NamedTuple


class Version(NamedTuple):
    """`1.36`: what `--emulated-version` names, and by which a release is found."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"

    @property
    def before(self) -> "Version":
        """The release before; there is none before .0."""
        return Version(self.major, max(self.minor - 1, 0))

    @classmethod
    def parse(cls, text: str) -> "Version":
        """`1.36` only. Raises ValueError."""
        major, minor = map(int, text.split("."))
        return cls(major, minor)
