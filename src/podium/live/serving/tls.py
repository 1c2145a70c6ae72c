"""TLS as the flags ask for it, renewed when files change.

Each new connection asks for the context that is right at that moment. It is built anew when a
certificate, a key or a bundle of client authorities has changed; one that cannot be used is told of
in the log and the last good one goes on.

Client certificates are asked for as soon as anybody's are believed, and are never required.
OpenSSL checks them while the connection is made, so a client with a bad one does not get through to
be refused by a page; without one it does.
"""

import logging
import ssl
from collections.abc import Callable, Iterator
from typing import Final

from cryptography import x509

from podium.live.serving.certificates import Pair, kept_pair, self_signed
from podium.live.serving.tls_names import cipher_names, curve_name
from podium.live.serving.trust import Trust
from podium.live.serving.watched_files import WatchedFile
from podium.net.tls import present, server_context
from podium.scheduler.config.flags.client_settings import StartRefused
from podium.scheduler.config.flags.kinds import CertificatePair
from podium.scheduler.config.flags.options import SecureServing

_LOG: Final = logging.getLogger("podium.live")


class _PairFiles:
    """A certificate and its key in files."""

    def __init__(self, certificate: str, key: str) -> None:
        self._certificate = WatchedFile(certificate)
        self._key = WatchedFile(key)

    def __call__(self) -> Pair:
        return Pair(self._certificate.content(), self._key.content())


class ServingTls:
    def __init__(self, flags: SecureServing, trust: Trust, now: float) -> None:
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
