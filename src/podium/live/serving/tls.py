"""TLS of the serving port as the flags ask for it.

The port shows a certificate of the flags' files, or one that it makes itself; it asks clients for
theirs as soon as there is an authority to check them by (`Trust`), and never requires one. OpenSSL
checks a client's certificate during the handshake, so a client with a bad one is not answered by a
page; a client without one is.

Contract: each new connection asks for the context that is right at that moment. It is built anew
when a certificate, a key or a bundle of client authorities has changed; what cannot be used is
logged, and the last good one stays in use.

Sources: `DelegatingAuthenticationOptions` in `staging/src/k8s.io/apiserver/pkg/server/options`,
`GenerateSelfSignedCertKey` in `staging/src/k8s.io/client-go/util/cert`.
"""

import ipaddress
import logging
import os
import ssl
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import rsa

from podium.client import KubeClient, RequestFailed
from podium.golang.errors import InputError
from podium.net.files.bounded_files import read_file
from podium.net.files.private_files import write_private_file
from podium.net.serving.self_signed import (
    Validity,
    certificate_pem,
    key_pem,
    make_authority,
    sign_server_certificate,
)
from podium.net.tls import present, server_context
from podium.scheduler.config.flags.client_settings import StartRefused
from podium.scheduler.config.flags.kinds import CertificatePair
from podium.scheduler.config.flags.options import AuthenticationFlags, SecureServingFlags
from podium.scheduler.config.flags.tls_checks import PAIR_NAME

PUBLISHED: Final = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"


class _Published(msgspec.Struct):
    data: dict[str, str] = msgspec.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FrontProxy:
    """A proxy that says in headers for whom it asks; any name will do if `names` is empty."""

    authority: bytes = b""
    names: tuple[str, ...] = ()
    user_headers: tuple[str, ...] = ()
    uid_headers: tuple[str, ...] = ()
    group_headers: tuple[str, ...] = ()
    extra_prefixes: tuple[str, ...] = ()


class Trust:
    """Whose client certificates are believed, and what a front proxy may say of its users; PEM,
    empty if nobody is.

    The bundles are in files that flags name, and are read again when they change. Where no flag
    names one, what the cluster has published for servers like this one is used: the ConfigMap
    `extension-apiserver-authentication`, which the API server keeps up to date."""

    def __init__(self, flags: AuthenticationFlags) -> None:
        self._flags = flags
        self._client_file = WatchedFile(flags.client_ca_file)
        self._proxy_file = WatchedFile(flags.requestheader_client_ca_file)
        self._published_client = b""
        self._published_proxy = FrontProxy()

    @property
    def client_authority(self) -> bytes:
        """Who signs the certificates of users."""
        return self._client_file.content() or self._published_client

    @property
    def front_proxy(self) -> FrontProxy:
        flags, authority = self._flags, self._proxy_file.content()
        if not authority:
            return self._published_proxy
        return FrontProxy(
            authority,
            flags.requestheader_allowed_names,
            flags.requestheader_username_headers,
            flags.requestheader_uid_headers,
            flags.requestheader_group_headers,
            flags.requestheader_extra_headers_prefix,
        )

    @property
    def lacks_something(self) -> bool:
        """Whether what the cluster has published would be used."""
        flags = self._flags
        complete = flags.client_ca_file and flags.requestheader_client_ca_file
        return not complete and not flags.authentication_skip_lookup

    async def look_up(self, client: KubeClient) -> str:
        """Read what the cluster has published; what went wrong with that, if anything did."""
        try:
            found = msgspec.json.decode(await client.request("GET", PUBLISHED), type=_Published)
            data = found.data
            self._published_client = data.get("client-ca-file", "").encode()
            proxy = FrontProxy(data.get("requestheader-client-ca-file", "").encode())
            self._published_proxy = replace(
                proxy,
                names=_list_texts(data, "requestheader-allowed-names"),
                user_headers=_list_texts(data, "requestheader-username-headers"),
                uid_headers=_list_texts(data, "requestheader-uid-headers"),
                group_headers=_list_texts(data, "requestheader-group-headers"),
                extra_prefixes=_list_texts(data, "requestheader-extra-headers-prefix"),
            )
        except (RequestFailed, msgspec.MsgspecError) as problem:
            return str(problem)
        return ""


def _list_texts(data: dict[str, str], key: str) -> tuple[str, ...]:
    return msgspec.json.decode(data.get(key) or "[]", type=tuple[str, ...])


def has_signed(bundle: bytes, certificate: x509.Certificate) -> bool:
    """Whether one of a bundle's authorities has signed a certificate."""
    return any(_signs(authority, certificate) for authority in _load_certificates(bundle))


def _signs(authority: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _load_certificates(bundle: bytes) -> list[x509.Certificate]:
    return x509.load_pem_x509_certificates(bundle) if bundle.strip() else []


_HOST: Final = "localhost"
_LOOPBACK: Final = ipaddress.ip_address("127.0.0.1")
_BEFORE: Final = timedelta(hours=1)
_LIFE: Final = timedelta(days=365)
_KEY_BITS: Final = 2048
_EXPONENT: Final = 65537
_CERTIFICATE_MODE: Final = 0o644


class Pair(NamedTuple):
    """A certificate with what signed it, and its key; PEM."""

    chain: bytes
    key: bytes


def self_signed(bind_address: str, now: float) -> Pair:
    """A certificate for a year, for a server that was given none; `now` is in seconds since 1970.

    It is signed by an authority of its own that is thrown away, so nobody can check it: good for
    looking by hand, and for scrapers that are told not to verify. Names, ages and kinds of keys are
    kube-scheduler's."""
    start = datetime.fromtimestamp(int(now), UTC) - _BEFORE
    validity = Validity(start, start + _LIFE)
    # RSA, because cipher suites that an operator chooses may allow nothing else.
    authority_key = rsa.generate_private_key(_EXPONENT, _KEY_BITS)
    authority = make_authority(f"{_HOST}-ca@{int(now)}", authority_key, validity)
    key = rsa.generate_private_key(_EXPONENT, _KEY_BITS)
    certificate = sign_server_certificate(
        authority, f"{_HOST}@{int(now)}", key, _names(bind_address), validity
    )
    chain = certificate_pem(certificate) + certificate_pem(authority.certificate)
    return Pair(chain, key_pem(key))


def kept_pair(directory: str, bind_address: str, now: float) -> tuple[Path, Path]:
    """The files of the pair in a directory, made if there is none. Raises StartRefused."""
    certificate = Path(directory, f"{PAIR_NAME}.crt")
    key = Path(directory, f"{PAIR_NAME}.key")
    if certificate.exists() and key.exists():
        return certificate, key
    pair = self_signed(bind_address, now)
    try:
        certificate.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        write_private_file(certificate, pair.chain, _CERTIFICATE_MODE)
        write_private_file(key, pair.key)
    except (OSError, InputError) as problem:
        raise StartRefused(f"error creating self-signed certificates: {problem}") from None
    return certificate, key


def _names(bind_address: str) -> list[x509.GeneralName]:
    """upstream: `localhost` is named twice where the server listens on all addresses."""
    address = ipaddress.ip_address(bind_address)
    if address.is_unspecified:
        return [x509.DNSName(_HOST), x509.DNSName(_HOST), x509.IPAddress(_LOOPBACK)]
    return [x509.DNSName(_HOST), x509.IPAddress(_LOOPBACK), x509.IPAddress(address)]


_LOG: Final = logging.getLogger("podium.live")


class _PairFiles:
    """A certificate and its key in files."""

    def __init__(self, certificate: str, key: str) -> None:
        self._certificate = WatchedFile(certificate)
        self._key = WatchedFile(key)

    def __call__(self) -> Pair:
        return Pair(self._certificate.content(), self._key.content())


class ServingTls:
    def __init__(self, flags: SecureServingFlags, trust: Trust, now: float) -> None:
        """`now` is in seconds since 1970. Raises StartRefused."""
        self._flags = flags
        self._trust = trust
        self._own = self._own_pair(now)
        self._others = [
            (pair, _PairFiles(pair.certificate_file, pair.key_file))
            for pair in flags.tls_sni_cert_key
        ]
        self._seen = self._material()
        try:
            self._context = self._built(self._seen)
        except (ssl.SSLError, OSError, ValueError) as problem:
            raise StartRefused(f"the serving certificate cannot be used: {problem}") from None

    def context(self) -> ssl.SSLContext:
        material = self._material()
        if material != self._seen:
            self._seen = material
            try:
                self._context = self._built(material)
                _LOG.info("the serving certificates have changed and are used from now on")
            except (ssl.SSLError, OSError, ValueError) as problem:
                _LOG.error("the changed serving certificates cannot be used: %s", problem)
        return self._context

    def _own_pair(self, now: float) -> Callable[[], Pair]:
        flags = self._flags
        if flags.tls_cert_file or flags.tls_private_key_file:
            return _PairFiles(flags.tls_cert_file, flags.tls_private_key_file)
        if flags.cert_dir:
            certificate, key = kept_pair(flags.cert_dir, flags.bind_address, now)
            return _PairFiles(str(certificate), str(key))
        made = self_signed(flags.bind_address, now)
        return lambda: made

    def _material(self) -> tuple[Pair, tuple[Pair, ...], bytes]:
        """All that a context is made of."""
        believed = (self._trust.client_authority, self._trust.front_proxy.authority)
        authorities = b"\n".join(filter(None, believed))
        return self._own(), tuple(files() for _, files in self._others), authorities

    def _built(self, material: tuple[Pair, tuple[Pair, ...], bytes]) -> ssl.SSLContext:
        own, others, authorities = material
        context = self._with(own, authorities)
        named: dict[str, ssl.SSLContext] = {}
        for (pair, _), content in zip(self._others, others, strict=True):
            other = self._with(content, authorities)
            for name in _names_of(pair, content):
                named.setdefault(name.lower(), other)
        if named:
            context.sni_callback = _chooser(named)
        return context

    def _with(self, pair: Pair, authorities: bytes) -> ssl.SSLContext:
        flags = self._flags
        context = server_context(client_authority=authorities or None)
        # Versions before 1.2 are no choice: what OpenSSL still has of them is switched off.
        if flags.tls_min_version == "VersionTLS13":
            context.minimum_version = ssl.TLSVersion.TLSv1_3
        if flags.tls_cipher_suites:
            _limit_ciphers(context, flags.tls_cipher_suites)
        curve = curve_name(flags.tls_curve_preferences)
        if curve:
            context.set_ecdh_curve(curve)
        present(context, pair.chain, pair.key)
        return context


def _limit_ciphers(context: ssl.SSLContext, suites: tuple[str, ...]) -> None:
    """Only some suites of TLS 1.2; those of 1.3 are not for choosing, here as in Go."""
    names = cipher_names(suites)
    try:
        if not names:
            raise ssl.SSLError("no suite of TLS 1.2 is allowed")
        context.set_ciphers(":".join(names))
    except ssl.SSLError as problem:
        _LOG.warning("TLS 1.3 alone is served: %s", problem)
        context.minimum_version = ssl.TLSVersion.TLSv1_3


def _names_of(pair: CertificatePair, content: Pair) -> Iterator[str]:
    """The server names that a certificate is for."""
    if pair.names:
        yield from pair.names
        return
    certificate = x509.load_pem_x509_certificates(content.chain)[0]
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return
    yield from names.get_values_for_type(x509.DNSName)


def _chooser(
    named: dict[str, ssl.SSLContext],
) -> Callable[[ssl.SSLObject, str | None, ssl.SSLContext], None]:
    """Picks the certificate by the name that a client asks for, `*.example.com` for one level."""

    def choose(connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        asked = (name or "").lower()
        wildcard = f"*.{asked.partition('.')[2]}"
        found = named.get(asked) or named.get(wildcard)
        if found is not None:
            connection.context = found

    return choose


_CURVES: Final = {23: "prime256v1", 24: "secp384r1", 25: "secp521r1", 29: "X25519"}
_CIPHERS: Final = {
    "AES_128_CBC_SHA": "AES128-SHA",
    "AES_128_CBC_SHA256": "AES128-SHA256",
    "AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "AES_256_CBC_SHA": "AES256-SHA",
    "AES_256_GCM_SHA384": "AES256-GCM-SHA384",
    "CHACHA20_POLY1305": "CHACHA20-POLY1305",
    "CHACHA20_POLY1305_SHA256": "CHACHA20-POLY1305",
    "RC4_128_SHA": "RC4-SHA",
    "3DES_EDE_CBC_SHA": "DES-CBC3-SHA",
}


def cipher_names(suites: Sequence[str]) -> list[str]:
    """OpenSSL's names of the suites of TLS 1.2 and before.

    >>> cipher_names(["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"])
    ['ECDHE-RSA-AES128-GCM-SHA256']
    """
    found: list[str] = []
    for suite in suites:
        exchange, with_, cipher = suite.removeprefix("TLS_").partition("_WITH_")
        if with_ and cipher in _CIPHERS:
            before = "" if exchange == "RSA" else f"{exchange.replace('_', '-')}-"
            found.append(before + _CIPHERS[cipher])
    return list(dict.fromkeys(found))


def curve_name(preferences: Sequence[int]) -> str:
    """The first curve that OpenSSL can be told to use, or nothing; it takes one alone."""
    return next((_CURVES[curve] for curve in preferences if curve in _CURVES), "")


class WatchedFile:
    """A file whose content is read again when it has changed.

    Looking at its times costs some microseconds, so whoever needs the content asks for it each
    time. A file that cannot be read for the moment, half way through being replaced, say, counts
    with what it was."""

    def __init__(self, path: str) -> None:
        """No path: a file that is always empty."""
        self._path = path
        self._seen: tuple[int, ...] = ()
        self._content = b""

    def content(self) -> bytes:
        if not self._path:
            return b""
        try:
            found = os.stat(self._path)
            mark = (found.st_mtime_ns, found.st_size, found.st_ino)
            if mark != self._seen:
                self._content = read_file(self._path)
                self._seen = mark
        except OSError as problem:
            if self._seen:
                _LOG.error("%s cannot be read any more: %s", self._path, problem)
                self._seen = ()
        return self._content
