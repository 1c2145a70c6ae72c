"""What the page asks for, by path: an interface with two ends.

A scheduler that runs answers as things are at that moment; a report has its answers in the file.
"""

from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, Protocol

import msgspec

from podium.golang.document_structs import Document

if TYPE_CHECKING:  # reports of files need nothing of a scheduler's
    from podium.web.page_overview import PageChanges

Parameters = Mapping[str, Sequence[str]]


class NotThere(LookupError):
    """There is nothing at that path; says what is missing."""


class TooBusy(Exception):
    """It would be worked out, but so much is asked for already."""


class Documents(Protocol):
    async def follow(self) -> None:
        """Gather what cannot be read afterwards, until cancelled."""

    def document(
        self, path: str, parameters: Parameters
    ) -> Document | Awaitable[Document | msgspec.Raw]:
        """Raises NotThere and TooBusy. One that is encoded already is `Raw`."""


class ChangeSource(Protocol):
    """What has changed in between, for whoever keeps looking."""

    def changes(self, mark: str) -> "PageChanges | Awaitable[PageChanges]":
        """What is different from the moment of a mark on, with a `mark` of its own; a mark that
        is unknown or too old is answered with `reload`. Of a state that is not of now, it says
        `stale` and `ageSeconds`."""


Mode = Literal["live", "report"]
LIVE: Final = "live"
REPORT: Final = "report"
