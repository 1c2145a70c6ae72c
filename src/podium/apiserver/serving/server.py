"""A running server: a socket, uvicorn on it, and the store's write-ahead log if there is one.

`ApiServer` owns everything from the listening socket to that log. It listens from the moment it is
made, so that the port is known before anything is served; `serve` runs until it is told to stop.

The key by which tokens of service accounts are signed, kept where the certificates are. Tokens
outlive the server that made them if its next start finds the same key.

The address by which others would reach the server, as its endpoints tell it. upstream: a server
on loopback, or on all addresses, advertises the address of the interface by which the machine
reaches others; endpoints on loopback are not allowed.

What a server without TLS and without a token takes from whom. Whoever reaches it may do
everything, and it is only reached from the machine it runs on. That includes every web page
that is open in a browser there: a page can give its own name the address of the loopback, and
can send forms anywhere. So requests must name the loopback as their host, must not come from a
page of another origin, and must say that their body is none of a form's.
"""

import asyncio
import contextlib
import secrets
import socket
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random, SystemRandom
from typing import Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from podium.apiserver.access.tokens import Tokens
from podium.apiserver.http.app import Application
from podium.apiserver.http.commits import Commits
from podium.apiserver.http.messages import HttpRequest
from podium.apiserver.serving.assembly import build_service
from podium.apiserver.serving.certificates import Certificates, ensure_certificates
from podium.apiserver.serving.own_service import Advertised
from podium.apiserver.store.store import Store
from podium.apiserver.store.write_ahead_log import WriteAheadLog
from podium.golang.errors import InputError
from podium.golang.urls import parse_ip
from podium.kubernetes.admission import AdmissionSettings
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.resources.table import EVERYTHING, RuntimeConfig
from podium.kubernetes.status_errors import StatusError, forbidden_path, unsupported_media_type
from podium.net.files.private_files import (
    create_private_directory,
    read_private_file,
    refuse_shared_directory,
    write_private_file,
)
from podium.net.serving import Limits, WebServer, listen, run_until_signal
from podium.net.serving.foreign_pages import (
    FORM_TYPES,
    find_foreign_origin,
    is_loopback,
    read_host_name,
    read_media_type,
)
from podium.net.serving.self_signed import key_pem
from podium.net.tls import server_context_of_files

_FILE: Final = "service-accounts.key"


def ensure_account_key(directory: Path) -> ec.EllipticCurvePrivateKey:
    """The key in a directory, made if there is none. Raises InputError."""
    create_private_directory(directory)
    refuse_shared_directory(directory)
    path = directory / _FILE
    written = read_private_file(path)
    if written is None:
        made = ec.generate_private_key(ec.SECP256R1())
        write_private_file(path, key_pem(made))
        return made
    try:
        key = serialization.load_pem_private_key(written, None)
    except ValueError as problem:
        raise _unusable(path, str(problem)) from None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.curve.name != "secp256r1":
        raise _unusable(path, "it is none of the curve P-256")
    return key


def _unusable(path: Path, why: str) -> InputError:
    remedy = "remove it, and a new one is made; tokens of service accounts end with the old one"
    return InputError(f"holds a key that cannot be used: {why}", source=str(path), remedy=remedy)


_ELSEWHERE: Final = (("192.0.2.1", socket.AF_INET), ("2001:db8::1", socket.AF_INET6))
"""Addresses of nobody. Nothing is sent there: the kernel is asked which way it would take."""


def find_advertised_address(host: str) -> str | None:
    """The address for a server on `host`; None if the machine has none beyond loopback."""
    try:
        own = parse_ip(host)
    except ValueError:
        own = None
    if own is not None and not own.is_loopback and not own.is_unspecified:
        return str(own)
    for address, family in _ELSEWHERE:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as way:
                way.connect((address, 9))
                found = parse_ip(way.getsockname()[0])
        except OSError:
            continue
        if not found.is_loopback and not found.is_link_local:
            return str(found)
    return None


def refuse_browsers(request: HttpRequest) -> None:
    """Raises StatusError for what only a page of somebody else would send."""
    host = request.header(b"host")
    if not is_loopback(read_host_name(host)):
        raise _make_refusal(f"the host {host!r} is not this machine's loopback")
    origin = find_foreign_origin(request.header_values(b"origin"), host)
    if origin is not None:
        raise _make_refusal(f"a page of {origin!r} may not ask")
    if _has_body(request):
        found = read_media_type(request.header(b"content-type"))
        if not found or found in FORM_TYPES:
            raise unsupported_media_type(
                "a server without TLS takes bodies with a Content-Type such as application/json"
                " only"
            )


def _has_body(request: HttpRequest) -> bool:
    announced = request.header(b"content-length")
    return announced not in ("", "0") or bool(request.header(b"transfer-encoding"))


def _make_refusal(why: str) -> StatusError:
    return forbidden_path(
        f"{why}; a server without TLS takes requests to localhost, 127.0.0.1 or [::1] only: leave"
        " out --plain to serve others"
    )


_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
_GRACE_S: Final = 3
_CERTIFICATES: Final = "certificates"
"""The folder in the data directory."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How a server is to be run."""

    host: str = "127.0.0.1"
    port: int = 0
    """0: any free one."""
    data: Path | None = None
    """Where objects are kept; None: in memory."""
    recovers_data: bool = False
    """Whether to go on with what can be read of a store that is damaged."""
    plain: bool = False
    """HTTP without TLS; only on loopback, and whoever connects may do everything."""
    token: str = ""
    """Empty: the one in the data directory, or a new one."""
    taint_new_nodes: bool = False
    """Whether new nodes take no pods until somebody has seen that they are ready."""
    serves_metrics: bool = False
    """Whether `metrics.k8s.io` tells what simulated pods use."""
    limits: Limits = field(default_factory=Limits)
    gates: FeatureGates = field(default_factory=FeatureGates)
    """What is served of features that not every server has."""
    runtime_config: RuntimeConfig = EVERYTHING
    """Group-versions that are switched off."""


@dataclass
class ApiServer:
    options: ServerOptions
    token: str = field(init=False)
    certificates: Certificates | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        options = self.options
        if options.plain and options.host not in _LOOPBACK:
            raise InputError(
                f"a plain server would let everybody in who reaches {options.host}",
                remedy="leave out --plain, or listen on 127.0.0.1",
            )
        self._closing = contextlib.ExitStack()
        self._application: asyncio.Future[Application] | None = None
        try:
            self._socket = listen(options.host, options.port)
            self._closing.callback(self._socket.close)
            self._write_ahead_log = None
            if options.data:
                self._write_ahead_log = WriteAheadLog(options.data, recovers=options.recovers_data)
            self.token = options.token or _kept_token(options.data)
            if not options.plain:
                self.certificates = ensure_certificates(self._certificate_directory(), options.host)
            self._account_key = (
                ensure_account_key(options.data / _CERTIFICATES) if options.data else None
            )
            self._build()
        except BaseException:
            self.close()
            raise

    def _certificate_directory(self) -> Path:
        if self.options.data is not None:
            return self.options.data / _CERTIFICATES
        return Path(
            self._closing.enter_context(tempfile.TemporaryDirectory(prefix="podium-apiserver-"))
        )

    def _build(self) -> None:
        self._service = build_service(
            Store(self._write_ahead_log.load() if self._write_ahead_log else None),
            Tokens(self.token, anonymous_is_admin=self.options.plain),
            clock=time.time,
            randomness=SystemRandom(),
            settings=AdmissionSettings(taint_new_nodes=self.options.taint_new_nodes),
            gates=self.options.gates,
            account_key=self._account_key,
            advertised=self._find_advertised(),
            serves_metrics=self.options.serves_metrics,
            runtime_config=self.options.runtime_config,
            authority=self.certificates.authority if self.certificates else b"",
        )
        self.registry = self._service.registry

    def _find_advertised(self) -> Advertised | None:
        address = find_advertised_address(self.options.host)
        return Advertised(address, self._socket.getsockname()[1]) if address else None

    @property
    def recovered(self) -> str:
        """What was done to open a damaged store, "" if nothing had to be."""
        return self._write_ahead_log.recovered if self._write_ahead_log else ""

    @property
    def url(self) -> str:
        host, port = self._socket.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        return f"{'http' if self.options.plain else 'https'}://{shown}:{port}"

    async def serve(self) -> None:
        """Serve until `stop` or a signal; then end watches, finish requests, close the store."""
        self._failure: Exception | None = None
        commits = None
        if self._write_ahead_log is not None:
            commits = Commits(self.registry.store, self._write_ahead_log, self._log_failed)
            commits.start()
        if self.options.plain:
            application = Application(self._service, Random(), commits, refuse_browsers)
        else:
            application = Application(self._service, Random(), commits)
        self._server = self._web_server(application)
        self._application_future().set_result(application)
        try:
            await self._server.serve(sockets=[self._socket])
        finally:
            await application.close()
            if commits is not None:
                await commits.stop()
                self._write_ahead_log = None
            self.close()
        if self._failure is not None:
            raise InputError(f"cannot be written: {self._failure}", source=str(self.options.data))

    async def application(self) -> Application:
        """What is served, for callers in the same process; there once `serve` has begun."""
        return await asyncio.shield(self._application_future())

    def _application_future(self) -> asyncio.Future[Application]:
        if self._application is None:
            self._application = asyncio.get_running_loop().create_future()
        return self._application

    def stop(self) -> None:
        """End `serve`; may be called from the event loop."""
        self._server.should_exit = True

    def close(self) -> None:
        """Release what was opened; needed only if `serve` never ran."""
        log = getattr(self, "_write_ahead_log", None)
        if log is not None:
            log.close()
        self._closing.close()

    def _log_failed(self, problem: Exception) -> None:
        self._failure = problem
        self.stop()

    def _web_server(self, application: Application) -> WebServer:
        files = self.certificates
        context = server_context_of_files(files.certificate_file, files.key_file) if files else None
        return WebServer(
            application,
            limits=self.options.limits,
            grace_s=_GRACE_S,
            context=(lambda: context) if context else None,
            on_stopping=application.stop,
        )


def _kept_token(data: Path | None) -> str:
    """A new token, or the one that an earlier server in the same directory had."""
    if data is None:
        return secrets.token_urlsafe(32)
    path = data / "token"
    found = (read_private_file(path) or b"").decode(errors="replace").strip()
    if found:
        return found
    token = secrets.token_urlsafe(32)
    write_private_file(path, token.encode() + b"\n")
    return token


def run(server: ApiServer) -> None:
    """Serve in an event loop of its own until SIGTERM or SIGINT."""
    run_until_signal(server.serve, server.stop, hurry=server.stop)
