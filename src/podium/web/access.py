"""Who may look at a page that is served without TLS and without accounts, and take steps there.

The link that is printed has a random token. The page's own scripts take it from the address, keep
it in the browser's storage and send it as `Authorization: Bearer` with every question and step.
There is no cookie: a browser sends those to every port of a host, and whoever serves another port
of this machine could use them. Storage belongs to one origin, its port included. The files of the
page hold no secret and are given to whoever asks for them.

A site that has its name resolve to this machine (DNS rebinding) gives itself away by `Host`, one
that sends a browser here by `Origin` and `Sec-Fetch-Site`.
"""

import hmac
import secrets
from collections.abc import Mapping
from typing import Final

from podium.net.serving.foreign_pages import JSON, read_media_type

_TOKEN_BYTES: Final = 32
_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
_OWN_SITES: Final = ("same-origin", "none")
_OPENED_FROM_ELSEWHERE: Final = ("navigate", "document")

WRONG_HOST: Final = "this page is served to loopback addresses only"
WRONG_ORIGIN: Final = "this page answers no other site"
NO_TOKEN: Final = "the link that was printed at the start opens this page"
READ_ONLY: Final = "this page can only be read"
NO_JSON: Final = "steps are sent as application/json"


class Refused(Exception):
    """A request that gets no answer; `status` is HTTP's."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class LinkAccess:
    """Lets in whoever has the link."""

    def __init__(self, port: int, token: str | None = None) -> None:
        self.token = token or secrets.token_urlsafe(_TOKEN_BYTES)
        self._hosts = frozenset(f"{name}:{port}" for name in _NAMES)

    def admit_to_files(self, headers: Mapping[str, str], tokens: list[str]) -> None:
        """`tokens` are those of the link, of which none may be wrong. Raises Refused."""
        if headers.get("host", "").lower() not in self._hosts:
            raise Refused(421, WRONG_HOST)
        origin = headers.get("origin")
        if origin is not None and origin.lower().removeprefix("http://") not in self._hosts:
            raise Refused(403, WRONG_ORIGIN)
        if not _comes_from_here(headers):
            raise Refused(403, WRONG_ORIGIN)
        if not all(self._is_right(token) for token in tokens):
            raise Refused(401, NO_TOKEN)

    def admit(self, headers: Mapping[str, str]) -> None:
        """Let in who shows the token. Raises Refused."""
        self.admit_to_files(headers, [])
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not self._is_right(token.strip()):
            raise Refused(401, NO_TOKEN)

    def admit_write(self, headers: Mapping[str, str]) -> None:
        """Let in what the page's own scripts send: with the token, from this very origin, and in
        a form that no form of another site can have. Raises Refused."""
        self.admit(headers)
        if headers.get("origin") != f"http://{headers.get('host', '')}":
            raise Refused(403, WRONG_ORIGIN)
        if headers.get("sec-fetch-site", _OWN_SITES[0]) != _OWN_SITES[0]:
            raise Refused(403, WRONG_ORIGIN)
        if read_media_type(headers.get("content-type", "")) != JSON:
            raise Refused(415, NO_JSON)

    def _is_right(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(errors="replace"), self.token.encode())


def _comes_from_here(headers: Mapping[str, str]) -> bool:
    """Whether the page itself asks, or a person who follows a link to it."""
    site = headers.get("sec-fetch-site", "none")
    how = (headers.get("sec-fetch-mode", ""), headers.get("sec-fetch-dest", ""))
    return site in _OWN_SITES or how == _OPENED_FROM_ELSEWHERE


class DelegatedAccess:
    """For a page behind a door at which everybody has been looked at already."""

    def admit_to_files(self, headers: Mapping[str, str], tokens: list[str]) -> None:  # noqa: ARG002
        """Raises Refused."""
        self.admit(headers)

    def admit(self, headers: Mapping[str, str]) -> None:
        """Raises Refused."""
        if not _comes_from_here(headers):
            raise Refused(403, WRONG_ORIGIN)

    def admit_write(self, headers: Mapping[str, str]) -> None:  # noqa: ARG002
        """Nobody: whoever may read there may not write. Raises Refused."""
        raise Refused(405, READ_ONLY)
