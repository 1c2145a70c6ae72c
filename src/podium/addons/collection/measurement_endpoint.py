"""Where measurements are asked for: an address, who vouches for it, and who asks.

Contract of `Endpoint.get`: one GET, ended within its time, with a bounded answer; certificates are
verified unless that was turned off, redirects are not followed and no proxy is used, so that a
token reaches nobody else. `file:PATH` in place of an address is an answer that was recorded before:
whatever is asked for, the file is what comes back.
"""

import time
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from podium.client.credentials import Credential, Credentials, FixedCredentials, TokenFile, bearer
from podium.client.http_transport import HttpTransport
from podium.client.transport import Reply, Request
from podium.golang.errors import PodiumError
from podium.net.files.bounded_files import read_file
from podium.plugin import ArgumentsError, ClusterEntry

MAX_ANSWER_BYTES: Final = 64 << 20
"""A few hundred bytes a node, for more nodes than there are."""
_FILE: Final = "file:"
_USER_AGENT: Final = ("User-Agent", "podium")
_OK: Final = 200
_MAX_SHOWN: Final = 200


class NoMeasurements(PodiumError):
    """Whoever measures gave no answer that can be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    address: str
    token: str = ""
    token_file: str = ""
    certificate_authority: str = ""
    insecure_skip_verify: bool = False

    def __repr__(self) -> str:
        return f"<Endpoint {self.address}>"

    @property
    def is_file(self) -> bool:
        return self.address.startswith(_FILE)

    async def get(
        self, path: str, query: tuple[tuple[str, str], ...] = (), *, timeout_s: float
    ) -> bytes:
        """Raises NoMeasurements, and what a request raises."""
        reply = await self.ask(path, query, timeout_s=timeout_s)
        if reply.status != _OK:
            raise NoMeasurements(f"{self.address}{path} answered {reply.status}{_words(reply)}")
        return reply.body

    async def ask(
        self, path: str, query: tuple[tuple[str, str], ...] = (), *, timeout_s: float
    ) -> Reply:
        """The answer, whatever its status. Raises NoMeasurements if there is no such file."""
        if self.is_file:
            return Reply(_OK, {}, self._read_file())
        cluster = ClusterEntry(
            server=self.address,
            certificate_authority=self.certificate_authority,
            insecure_skip_tls_verify=self.insecure_skip_verify,
        )
        transport = HttpTransport(
            cluster,
            self._credentials(),
            headers=(_USER_AGENT,),
            uses_proxy=False,
            max_bytes=MAX_ANSWER_BYTES,
        )
        try:
            return await transport.send(Request("GET", path, query), timeout_s=timeout_s)
        finally:
            await transport.close()

    def _credentials(self) -> Credentials:
        if self.token_file:
            return TokenFile(self.token_file, None, time.monotonic)
        return FixedCredentials(Credential(bearer(self.token) if self.token else {}))

    def _read_file(self) -> bytes:
        place = self.address.removeprefix(_FILE)
        # file:///a/b is an absolute path, file:a/b one below the current directory.
        path = place.removeprefix("//") if place.startswith("///") else place
        try:
            return read_file(path, MAX_ANSWER_BYTES)
        except OSError as problem:
            reason = (problem.strerror or str(problem)).lower()
            raise NoMeasurements(f"{path} cannot be read: {reason}") from None


def check_address(address: str, field: str) -> str:
    """An address as it is used, without a slash at its end. Raises ArgumentsError for one that
    leads nowhere; `field` is where it stands."""
    if not address:
        raise ArgumentsError(f"args.{field}", "is missing", "write it as http://HOST:PORT")
    if address.startswith(_FILE):
        return address
    try:
        parts = urlsplit(address)
        is_known = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        is_known = False
    if not is_known:
        remedy = "write it as http://HOST:PORT or https://HOST:PORT"
        raise ArgumentsError(f"args.{field}", f'"{address}" is no address of a server', remedy)
    if parts.username or parts.password:
        remedy = "give a token in a file of its own"
        raise ArgumentsError(f"args.{field}", "must hold no name or password", remedy)
    if parts.query or parts.fragment:
        raise ArgumentsError(f"args.{field}", "must end with the path", "leave out ? and #")
    return address.rstrip("/")


def _words(reply: Reply) -> str:
    """The first line of what a refusal says, if it is text."""
    lines = reply.body[: 4 * _MAX_SHOWN].decode("utf-8", "replace").strip().splitlines()
    return f": {lines[0][:_MAX_SHOWN]}" if lines else ""
