"""Credentials from a program, as a kubeconfig's `exec` section names one.

The program is told in `KUBERNETES_EXEC_INFO` what is wanted and answers on its standard output
with an ExecCredential: a token, a client certificate, or both, perhaps with a time at which they
expire. Its answer is kept until then, or until the server refuses it. What the program says on its
standard error is for the user's eyes and goes there.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from podium.client.credentials import Credential, bearer
from podium.client.tls import Certificate
from podium.golang.errors import InputError
from podium.scheduler.config.kubeconfig import ClusterEntry, ExecPlugin

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

    def refused(self) -> bool:
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
