"""Who a client says it is: a token, a password, a certificate, a program, and TLS with it.

Credentials may change while a client runs: a token file is read again when it has grown old, a
plugin is asked again when its answer has expired or the server has refused it. Transports ask for
the current credential before each request.

Contract: no secret ever appears in a text, neither of an error nor of a `repr`.

TLS towards an API server, as a kubeconfig asks for it. Data wins over files, as everywhere in a
kubeconfig. Without a certificate authority the system's are trusted; `insecure-skip-tls-verify`
trusts everybody, and then a certificate authority must not be named. What cannot be used is an
`InputError` that names the field and, if it is one, the file.

Credentials from a program, as a kubeconfig's `exec` section names one. The program is told in
`KUBERNETES_EXEC_INFO` what is wanted and answers on its standard output with an ExecCredential: a
token, a client certificate, or both, perhaps with a time at which they expire. Its answer is kept
until then, or until the server refuses it. What the program says on its standard error is for the
user's eyes and goes there.
"""

import asyncio
import base64
import os
import ssl
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Protocol

import msgspec

from podium.golang.errors import InputError
from podium.net.files.bounded_files import read_file
from podium.net.tls import TLSConfigError, client_context, present
from podium.scheduler.config.kubeconfig import ClusterEntry, ExecPlugin, UserEntry


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a client shows of itself: certificate and key, both PEM."""

    chain: bytes
    key: bytes

    def __repr__(self) -> str:
        return "<Certificate>"


def certificate_of(user: UserEntry) -> Certificate | None:
    """The client certificate of a user, if there is one. Raises InputError."""
    chain = _data(user.client_certificate_data, user.client_certificate, "user.client-certificate")
    if not chain:
        return None
    key = _data(user.client_key_data, user.client_key, "user.client-key")
    if not key:
        raise InputError(
            "is missing beside client-certificate",
            path="user.client-key",
            remedy="give client-key or client-key-data",
        )
    return Certificate(chain, key)


def authority_of(cluster: ClusterEntry) -> bytes:
    """The certificate authority that a cluster is verified by, PEM; empty if none is named.

    Raises InputError.
    """
    return _data(
        cluster.certificate_authority_data,
        cluster.certificate_authority,
        "cluster.certificate-authority",
    )


def tls_context(cluster: ClusterEntry, certificate: Certificate | None) -> ssl.SSLContext:
    """Raises InputError."""
    authority = authority_of(cluster)
    if cluster.insecure_skip_tls_verify and authority:
        raise InputError(
            "contradicts certificate-authority",
            path="cluster.insecure-skip-tls-verify",
            remedy="keep one of the two",
        )
    try:
        context = client_context(authority or None, verifies=not cluster.insecure_skip_tls_verify)
    except TLSConfigError:
        raise InputError(
            "holds no certificate in PEM form", path="cluster.certificate-authority"
        ) from None
    if certificate is not None:
        _present(context, certificate)
    return context


def _present(context: ssl.SSLContext, certificate: Certificate) -> None:
    try:
        present(context, certificate.chain, certificate.key)
    except (ssl.SSLError, OSError, ValueError) as problem:
        if getattr(problem, "reason", "") == "KEY_VALUES_MISMATCH":
            why = "does not belong to the client certificate"
        else:
            why = "cannot be used: it and client-certificate must be PEM without a password"
        raise InputError(why, path="user.client-key") from None


def _data(given: bytes, file: str, field: str) -> bytes:
    if given or not file:
        return given
    try:
        return read_file(file)
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise InputError(f"{file} cannot be read: {reason}", path=field) from None


_TOKEN_FILE_AGE_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Credential:
    """What goes with a request: headers, and a certificate for the connection."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    certificate: Certificate | None = None


class Credentials(Protocol):
    async def current(self) -> Credential:
        """Raises InputError when there is none to be had."""

    def handle_unauthorized(self) -> bool:
        """The server did not take the current one; whether the next one may be another."""


@dataclass(slots=True)
class FixedCredentials:
    """The same for ever."""

    credential: Credential

    async def current(self) -> Credential:
        return self.credential

    def handle_unauthorized(self) -> bool:
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

    def handle_unauthorized(self) -> bool:
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


_TIME_S: Final = 60.0
_MAX_BYTES: Final = 1 << 20
_VERSIONS: Final = (
    "client.authentication.k8s.io/v1",
    "client.authentication.k8s.io/v1beta1",
)


class _Status(msgspec.Struct, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None


class _ExecCredential(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _Status | None = None


class ExecCredentials:
    """What one plugin answers; `now` is in seconds since 1970, as expirations are."""

    def __init__(
        self,
        plugin: ExecPlugin,
        cluster: ClusterEntry,
        now: Callable[[], float],
        *,
        interactive_mode: str = "IfAvailable",
        timeout_s: float = _TIME_S,
    ) -> None:
        if plugin.api_version not in _VERSIONS:
            raise InputError(
                f'"{plugin.api_version}" is not a version that can be asked for',
                path="user.exec.apiVersion",
                remedy=f"use {_VERSIONS[0]}",
            )
        self._plugin = plugin
        self._cluster = cluster
        self._now = now
        self._interactive = interactive_mode != "Never" and sys.stdin.isatty()
        if interactive_mode == "Always" and not self._interactive:
            raise InputError(
                f"{plugin.command} wants to ask questions, and there is no terminal",
                path="user.exec.interactiveMode",
            )
        self._timeout_s = timeout_s
        self._credential: Credential | None = None
        self._expires_at: float | None = None
        self._asking = asyncio.Lock()

    async def current(self) -> Credential:
        async with self._asking:
            if self._credential is None or self._is_expired():
                status = _answer(await self._run(), self._plugin)
                self._credential = _credential(status, self._plugin.command)
                expires = status.expiration_timestamp
                self._expires_at = None if expires is None else expires.timestamp()
            return self._credential

    def handle_unauthorized(self) -> bool:
        before, self._credential = self._credential, None
        return before is not None

    def _is_expired(self) -> bool:
        return self._expires_at is not None and self._now() >= self._expires_at

    async def _run(self) -> bytes:
        command = self._plugin.command
        try:
            process = await asyncio.create_subprocess_exec(
                command,
                *self._plugin.args,
                stdin=None if self._interactive else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                env={**os.environ, **self._environment()},
            )
        except OSError as problem:
            hint = self._plugin.install_hint.strip().splitlines()
            raise InputError(
                f"{command} cannot be run: {(problem.strerror or str(problem)).lower()}",
                path="user.exec.command",
                remedy=hint[0] if hint else "",
            ) from None
        try:
            async with asyncio.timeout(self._timeout_s):
                assert process.stdout is not None
                answer = await process.stdout.read(_MAX_BYTES)
                code = await process.wait()
        except TimeoutError:
            raise InputError(
                f"{command} has not answered within {self._timeout_s:g} s",
                path="user.exec.command",
            ) from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if code:
            raise InputError(f"{command} failed with exit code {code}", path="user.exec.command")
        return answer

    def _environment(self) -> Mapping[str, str]:
        spec: dict[str, Any] = {"interactive": self._interactive}
        if self._plugin.provide_cluster_info:
            spec["cluster"] = _cluster_info(self._cluster)
        info = {"apiVersion": self._plugin.api_version, "kind": "ExecCredential", "spec": spec}
        named = {variable.name: variable.value for variable in self._plugin.env}
        return {**named, "KUBERNETES_EXEC_INFO": msgspec.json.encode(info).decode()}


def _cluster_info(cluster: ClusterEntry) -> dict[str, Any]:
    info: dict[str, Any] = {"server": cluster.server}
    if cluster.tls_server_name:
        info["tls-server-name"] = cluster.tls_server_name
    if cluster.insecure_skip_tls_verify:
        info["insecure-skip-tls-verify"] = True
    if cluster.certificate_authority_data:
        info["certificate-authority-data"] = cluster.certificate_authority_data
    if cluster.proxy_url:
        info["proxy-url"] = cluster.proxy_url
    return info


def _answer(written: bytes, plugin: ExecPlugin) -> _Status:
    where = f"the answer of {plugin.command}"
    try:
        found = msgspec.json.decode(written, type=_ExecCredential)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        # Not a word of it may be shown: what is not understood may still be secret.
        raise InputError("is no ExecCredential in JSON", source=where) from None
    if found.kind != "ExecCredential" or found.api_version != plugin.api_version:
        raise InputError(
            f"is not of kind ExecCredential and version {plugin.api_version}", source=where
        )
    if found.status is None:
        raise InputError("has no status", source=where)
    return found.status


def _credential(status: _Status, command: str) -> Credential:
    where = f"the answer of {command}"
    chain, key = status.client_certificate_data, status.client_key_data
    if bool(chain) is not bool(key):
        raise InputError("has a certificate without a key, or the other way round", source=where)
    if not status.token and not chain:
        raise InputError("has neither a token nor a client certificate", source=where)
    certificate = Certificate(chain.encode(), key.encode()) if chain else None
    return Credential(bearer(status.token) if status.token else {}, certificate)
