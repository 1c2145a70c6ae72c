"""TLS as an extender's configuration asks for it, and the errors of building it.

Data wins over a file. Without a CA, `enableHTTPS` switches verification off; an https address
without `enableHTTPS` is verified against the system's roots all the same. What cannot be built is a
ConfigurationError in kube-scheduler's words.

Sources: `makeTransport` in `pkg/scheduler/extender.go` and `TLSConfigFor` in
`staging/src/k8s.io/client-go/transport/transport.go`.
"""

import ssl
from collections.abc import Sequence
from typing import NamedTuple

from podium.net.files.bounded_files import read_file
from podium.net.tls import TLSConfigError, cached_client_context, client_context, present_key_pair
from podium.scheduler.config.errors import ConfigurationError, FieldProblem
from podium.scheduler.config.types import Extender, ExtenderTLSConfig


class TLSClient(NamedTuple):
    """How to speak TLS to one extender; no server name means that of the address."""

    context: ssl.SSLContext | None = None
    server_name: str = ""

    def context_or_default(self) -> ssl.SSLContext:
        return self.context or cached_client_context()


def tls_clients(extenders: Sequence[Extender]) -> tuple[TLSClient, ...]:
    """One for each extender. Raises ConfigurationError."""
    clients = []
    for index, extender in enumerate(extenders):
        try:
            clients.append(_tls_client(extender))
        except TLSConfigError as problem:
            raise ConfigurationError(
                f"couldn't build extenders: {problem}",
                (FieldProblem(f"extenders[{index}].tlsConfig", str(problem)),),
            ) from None
    return tuple(clients)


def _tls_client(extender: Extender) -> TLSClient:
    tls = extender.tls_config or ExtenderTLSConfig()
    has_ca = bool(tls.ca_file or tls.ca_data)
    has_certificate = bool((tls.cert_file or tls.cert_data) and (tls.key_file or tls.key_data))
    insecure = tls.insecure or (extender.enable_https and not has_ca)
    if not (has_ca or has_certificate or insecure or tls.server_name):
        return TLSClient()
    if has_ca and insecure:
        raise TLSConfigError(
            "specifying a root certificates file with the insecure flag is not allowed"
        )
    ca = _data(tls.ca_data, tls.ca_file)
    certificate, key = _data(tls.cert_data, tls.cert_file), _data(tls.key_data, tls.key_file)
    context = client_context(ca if has_ca else None, verifies=not insecure)
    if has_certificate:
        present_key_pair(context, certificate, key)
    return TLSClient(context, tls.server_name)


def _data(given: bytes, file: str) -> bytes:
    if given or not file:
        return given
    try:
        return read_file(file)
    except IsADirectoryError:
        raise TLSConfigError(f"read {file}: is a directory") from None
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise TLSConfigError(f"open {file}: {reason}") from None
