"""Who a client says it is: a token, a password, a certificate, or what a plugin answers.

Credentials may change while a client runs: a token file is read again when it has grown old, a
plugin is asked again when its answer has expired or the server has refused it. Transports ask for
the current credential before each request.

Contract: no secret ever appears in a text, neither of an error nor of a `repr`.
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from podium.client.tls import Certificate, certificate_of
from podium.golang.errors import InputError
from podium.net.files.bounded_files import read_file
from podium.scheduler.config.kubeconfig import UserEntry

_TOKEN_FILE_AGE_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Credential:
    """What goes with a request: headers, and a certificate for the connection."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    certificate: Certificate | None = None


class Credentials(Protocol):
    async def current(self) -> Credential:
        """Raises InputError when there is none to be had."""

    def refused(self) -> bool:
        """The server did not take the current one; whether the next one may be another."""


@dataclass(slots=True)
class FixedCredentials:
    """The same for ever."""

    credential: Credential

    async def current(self) -> Credential:
        return self.credential

    def refused(self) -> bool:
        return False


class TokenFile:
    """A token in a file that somebody else renews, as for service accounts."""

    def __init__(
        self, path: str, certificate: Certificate | None, now: Callable[[], float]
    ) -> None:
        self._path = path
        self._certificate = certificate
        self._now = now
        self._read_at = 0.0
        self._credential: Credential | None = None

    async def current(self) -> Credential:
        fresh = self._now() - self._read_at < _TOKEN_FILE_AGE_S
        if self._credential is None or not fresh:
            self._credential = self._read()
            self._read_at = self._now()
        return self._credential

    def refused(self) -> bool:
        before, self._credential = self._credential, None
        return before is not None

    def _read(self) -> Credential:
        try:
            token = read_file(self._path).decode().strip()
        except (OSError, UnicodeDecodeError) as problem:
            if self._credential is not None:
                # upstream: a file that cannot be read for a moment leaves the token as it was.
                return self._credential
            reason = getattr(problem, "strerror", None) or "it is not text"
            raise InputError(
                f"cannot be read: {reason.lower()}", source=self._path, path="user.tokenFile"
            ) from None
        if not token:
            raise InputError("is empty", source=self._path, path="user.tokenFile")
        return Credential(bearer(token), self._certificate)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def user_credentials(user: UserEntry, now: Callable[[], float]) -> Credentials:
    """How a kubeconfig's user proves itself; exec plugins are `exec_plugin`'s. Raises InputError.

    upstream: a token file wins over a token, and either over a password.
    """
    certificate = certificate_of(user)
    if user.token_file:
        return TokenFile(user.token_file, certificate, now)
    headers: dict[str, str] = {}
    if user.token:
        headers = bearer(user.token)
    elif user.username or user.password:
        both = f"{user.username}:{user.password}".encode()
        headers = {"Authorization": f"Basic {base64.b64encode(both).decode()}"}
    return FixedCredentials(Credential(headers, certificate))
