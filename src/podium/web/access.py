"""Who may look at a page that is served without TLS and without accounts, and take steps there.

The link that is printed has a random token; after the first visit the browser keeps it in a cookie
that scripts cannot read and other sites cannot use. A site that has its name resolve to this
machine (DNS rebinding) gives itself away by `Host`, one that sends a browser here by `Origin` and
`Sec-Fetch-Site`.
"""

import hmac
import secrets
from collections.abc import Mapping
from typing import Final

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
        # Cookies are for a host, whatever its port: each page has one of its own name.
        self._cookie = f"podium-page-{port}"
        self._hosts = frozenset(f"{name}:{port}" for name in _NAMES)

    def admit(self, headers: Mapping[str, str], tokens: list[str]) -> tuple[tuple[str, str], ...]:
        """Headers to answer with; `tokens` are those of the link. Raises Refused."""
        if headers.get("host", "").lower() not in self._hosts:
            raise Refused(421, WRONG_HOST)
        origin = headers.get("origin")
        if origin is not None and origin.lower().removeprefix("http://") not in self._hosts:
            raise Refused(403, WRONG_ORIGIN)
        if not _comes_from_here(headers):
            raise Refused(403, WRONG_ORIGIN)
        if any(self._is_right(token) for token in tokens):
            kept = f"{self._cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
            return (("Set-Cookie", kept),)
        if not any(self._is_right(value) for value in self._cookies(headers.get("cookie", ""))):
            raise Refused(401, NO_TOKEN)
        return ()

    def admit_write(self, headers: Mapping[str, str]) -> None:
        """Let in what the page's own scripts send: with the cookie, from this very origin, and in
        a form that no form of another site can have. Raises Refused."""
        self.admit(headers, [])
        if headers.get("origin") != f"http://{headers.get('host', '')}":
            raise Refused(403, WRONG_ORIGIN)
        if headers.get("sec-fetch-site", _OWN_SITES[0]) != _OWN_SITES[0]:
            raise Refused(403, WRONG_ORIGIN)
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, NO_JSON)

    def _is_right(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(errors="replace"), self.token.encode())

    def _cookies(self, header: str) -> list[str]:
        pairs = (pair.strip().partition("=") for pair in header.split(";"))
        return [value for name, _, value in pairs if name == self._cookie]


def _comes_from_here(headers: Mapping[str, str]) -> bool:
    """Whether the page itself asks, or a person who follows a link to it."""
    site = headers.get("sec-fetch-site", "none")
    how = (headers.get("sec-fetch-mode", ""), headers.get("sec-fetch-dest", ""))
    return site in _OWN_SITES or how == _OPENED_FROM_ELSEWHERE


class DelegatedAccess:
    """For a page behind a door at which everybody has been looked at already."""

    def admit(self, headers: Mapping[str, str], tokens: list[str]) -> tuple[tuple[str, str], ...]:  # noqa: ARG002
        """Raises Refused."""
        if not _comes_from_here(headers):
            raise Refused(403, WRONG_ORIGIN)
        return ()

    def admit_write(self, headers: Mapping[str, str]) -> None:  # noqa: ARG002
        """Nobody: whoever may read there may not write. Raises Refused."""
        raise Refused(405, READ_ONLY)
