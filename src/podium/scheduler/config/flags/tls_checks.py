"""What is wrong with serving certificates and with the delegation of requests, as files tell.

Upstream finds these while it sets up its endpoints, one after the other, and only if they are
served at all (`--secure-port` is not 0). Contract: the first failure is raised with its text.

Sources: `staging/src/k8s.io/apiserver/pkg/server/options/serving.go` (`ApplyTo`),
`pkg/server/dynamiccertificates` there, and Go's `crypto/tls`.

What is inside a PEM file, as far as its labels tell.

Whom the endpoints would ask about a request, and what does not work without that. Contract: as in
upstream, a file that cannot be used is refused, and what merely will not work is a warning. Looking
things up in the cluster is left to whoever serves.

Sources: `ApplyTo` in `staging/src/k8s.io/apiserver/pkg/server/options/{authentication,
authorization}.go`.
"""

import re
from collections.abc import Callable
from typing import Final

from podium.golang.quoting import go_quote
from podium.scheduler.config.flags.client_settings import (
    NOT_IN_CLUSTER,
    ClientSettings,
    FileProblem,
    HostEnvironment,
    StartRefused,
    Warn,
    in_cluster,
    kubeconfig_settings,
)
from podium.scheduler.config.flags.options import (
    AuthenticationFlags,
    AuthorizationFlags,
    SecureServingFlags,
)

PAIR_NAME: Final = "kube-scheduler"
_TLS_VERSIONS: Final = ("", "VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13")
_KEY: Final = "PRIVATE KEY"
_LARGEST_CURVE: Final = 65535
_CURVES: Final = frozenset({23, 24, 25, 29, 4587, 4588, 4589})
# The names of Go 1.26, and two that Kubernetes keeps from earlier.
_CIPHER_SUITES: Final = frozenset(
    f"TLS_{name}"
    for name in (
        "AES_128_GCM_SHA256",
        "AES_256_GCM_SHA384",
        "CHACHA20_POLY1305_SHA256",
        *(
            f"ECDHE_{key}_WITH_{cipher}"
            for key in ("ECDSA", "RSA")
            for cipher in (
                "AES_128_CBC_SHA",
                "AES_128_CBC_SHA256",
                "AES_128_GCM_SHA256",
                "AES_256_CBC_SHA",
                "AES_256_GCM_SHA384",
                "CHACHA20_POLY1305",
                "CHACHA20_POLY1305_SHA256",
                "RC4_128_SHA",
            )
        ),
        "ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
        "RSA_WITH_3DES_EDE_CBC_SHA",
        "RSA_WITH_AES_128_CBC_SHA",
        "RSA_WITH_AES_128_CBC_SHA256",
        "RSA_WITH_AES_128_GCM_SHA256",
        "RSA_WITH_AES_256_CBC_SHA",
        "RSA_WITH_AES_256_GCM_SHA384",
        "RSA_WITH_RC4_128_SHA",
    )
)


def check_own_certificate(serving: SecureServingFlags, host: HostEnvironment) -> None:
    """Whether a certificate can be had from `--cert-dir`. Raises StartRefused."""
    if not serving.cert_dir or serving.tls_cert_file or serving.tls_private_key_file:
        return
    pair = _pair_in(serving.cert_dir)
    missing = [file for file in pair if not _opens(file, host)]
    if len(missing) == 1:
        raise StartRefused(
            f"error creating self-signed certificates: error reading {missing[0]}, certificate "
            "and key must be supplied as a pair"
        )


def check_tls(serving: SecureServingFlags, host: HostEnvironment) -> None:
    """Raises StartRefused."""
    certificate, key = serving.tls_cert_file, serving.tls_private_key_file
    if serving.cert_dir and not certificate and not key:
        certificate, key = _pair_in(serving.cert_dir)
        if not _opens(certificate, host):
            certificate, key = "", ""
    if certificate or key:
        _check_pair("serving-cert", certificate, key, host)
    for name in serving.tls_cipher_suites:
        if name not in _CIPHER_SUITES:
            raise StartRefused(f"Cipher suite {name} not supported or doesn't exist")
    _check_curves(serving.tls_curve_preferences)
    if serving.tls_min_version not in _TLS_VERSIONS:
        raise StartRefused(f"unknown tls version {go_quote(serving.tls_min_version)}")
    for pair in serving.tls_sni_cert_key:
        try:
            _check_pair("sni-serving-cert", pair.certificate_file, pair.key_file, host)
        except StartRefused as problem:
            raise StartRefused(f"failed to load SNI cert and key: {problem}") from None


def _check_pair(purpose: str, certificate: str, key: str, host: HostEnvironment) -> None:
    if not certificate or not key:
        raise StartRefused("missing filename for serving cert")
    certificate_data, key_data = host.read(certificate), host.read(key)
    if not certificate_data or not key_data:
        name = go_quote(f"{purpose}::{certificate}::{key}")
        raise StartRefused(f"missing content for serving cert {name}")
    blocks = block_types(certificate_data)
    if CERTIFICATE not in blocks:
        raise StartRefused(f"tls: {_no_certificate(blocks)}")
    blocks = block_types(key_data)
    if not any(block == _KEY or block.endswith(f" {_KEY}") for block in blocks):
        raise StartRefused(f"tls: {_no_key(blocks)}")


def _no_certificate(blocks: list[str]) -> str:
    if not blocks:
        return "failed to find any PEM data in certificate input"
    if len(blocks) == 1 and blocks[0].endswith(_KEY):
        return (
            "failed to find certificate PEM data in certificate input, but did find a private "
            "key; PEM inputs may have been switched"
        )
    return (
        'failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks '
        f"of the following types: [{' '.join(blocks)}]"
    )


def _no_key(blocks: list[str]) -> str:
    if not blocks:
        return "failed to find any PEM data in key input"
    if blocks == [CERTIFICATE]:
        return "found a certificate rather than a key in the PEM for the private key"
    return (
        'failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping '
        f"PEM blocks of the following types: [{' '.join(blocks)}]"
    )


def _check_curves(curves: tuple[int, ...]) -> None:
    seen: set[int] = set()
    for curve in curves:
        if not 0 < curve <= _LARGEST_CURVE:
            raise StartRefused(
                f"curve preference {curve} is out of range (must be 1-{_LARGEST_CURVE})"
            )
        if curve in seen:
            raise StartRefused(f"duplicate curve preference {curve}")
        if curve not in _CURVES:
            raise StartRefused(
                f"curve preference {curve} is not supported by the current Go version"
            )
        seen.add(curve)


def _pair_in(directory: str) -> tuple[str, str]:
    below = directory.rstrip("/") or "/"
    prefix = below if below.endswith("/") else f"{below}/"
    return f"{prefix}{PAIR_NAME}.crt", f"{prefix}{PAIR_NAME}.key"


def _opens(file: str, host: HostEnvironment) -> bool:
    try:
        host.open(file)
    except FileProblem:
        return False
    return True


CERTIFICATE: Final = "CERTIFICATE"
_PEM: Final = re.compile(rb"-----BEGIN ([^\n-]+)-----\r?\n.*?-----END \1-----", re.DOTALL)


def block_types(data: bytes) -> list[str]:
    """The types of all PEM blocks, in order."""
    return [match[1].decode(errors="replace") for match in _PEM.finditer(data)]


def check_authentication(
    authentication: AuthenticationFlags, host: HostEnvironment, warn: Warn
) -> ClientSettings | None:
    """The API server that knows who asks, if there is one. Raises StartRefused."""
    try:
        client = _delegate("authentication", authentication.authentication_kubeconfig, host, warn)
    except StartRefused as problem:
        # upstream: says so twice.
        raise StartRefused(
            f"failed to get delegated authentication kubeconfig: {problem}"
        ) from None
    looks_up = not authentication.authentication_skip_lookup and client is None
    in_map = "in configmap/extension-apiserver-authentication in kube-system"
    if authentication.client_ca_file:
        _check_bundle(
            "client-ca-bundle",
            authentication.client_ca_file,
            host,
            lambda problem: f"unable to load client CA provider: {problem}",
        )
    elif looks_up:
        warn(
            f"No authentication-kubeconfig provided in order to lookup client-ca-file {in_map}, "
            "so client certificate authentication won't work."
        )
    if authentication.requestheader_client_ca_file:
        _check_bundle(
            "request-header",
            authentication.requestheader_client_ca_file,
            host,
            lambda problem: f"unable to create request header authentication config: {problem}",
        )
    elif looks_up:
        warn(
            "No authentication-kubeconfig provided in order to lookup "
            f"requestheader-client-ca-file {in_map}, so request-header client certificate "
            "authentication won't work."
        )
    return client


def check_authorization(
    authorization: AuthorizationFlags, host: HostEnvironment, warn: Warn
) -> ClientSettings | None:
    """The API server that knows who may do what, if there is one. Raises StartRefused."""
    client = _delegate("authorization", authorization.authorization_kubeconfig, host, warn)
    for path in authorization.authorization_always_allow_paths:
        bare = path.removeprefix("/")
        if "*" in bare[:-1]:
            raise StartRefused(f"only trailing * allowed in {go_quote(bare)}")
    if client is None:
        warn(
            "No authorization-kubeconfig provided, so SubjectAccessReview of authorization tokens "
            "won't work."
        )
    return client


def _delegate(
    what: str, kubeconfig: str, host: HostEnvironment, warn: Warn
) -> ClientSettings | None:
    """The API server that is asked about others' requests, if there is one."""
    if kubeconfig:
        try:
            return kubeconfig_settings(kubeconfig, "", host)
        except StartRefused as problem:
            raise StartRefused(f"failed to get delegated {what} kubeconfig: {problem}") from None
    try:
        return in_cluster(host)
    except StartRefused as problem:
        if str(problem) != NOT_IN_CLUSTER:
            warn(f"failed to read in-cluster kubeconfig for delegated {what}: {problem}")
        return None


def _check_bundle(
    purpose: str, file: str, host: HostEnvironment, worded: Callable[[str], str]
) -> None:
    name = go_quote(f"{purpose}::{file}")
    try:
        data = host.read(file)
    except FileProblem as problem:
        raise StartRefused(worded(str(problem))) from None
    if not data:
        raise StartRefused(worded(f"missing content for CA bundle {name}"))
    if CERTIFICATE not in block_types(data):
        nothing = "data does not contain any valid RSA or ECDSA certificates"
        raise StartRefused(worded(f"error loading CA bundle for {name}: {nothing}"))
