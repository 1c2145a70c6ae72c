"""Whose client certificates are believed, and what a front proxy may say of its users.

The bundles are in files that the command line names, and are read again when they change. Where it
names none, what the cluster has published for servers like this one is used: the ConfigMap
`extension-apiserver-authentication`, which the API server keeps up to date.

Source: `DelegatingAuthenticationOptions` in `staging/src/k8s.io/apiserver/pkg/server/options`.
"""

from dataclasses import dataclass, replace
from typing import Final

import msgspec
from cryptography import x509
from cryptography.exceptions import InvalidSignature

from podium.client import KubeClient, RequestFailed
from podium.live.serving.watched_files import WatchedFile
from podium.scheduler.config.flags.options import Authentication

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
    """What is believed right now; PEM, empty if nobody is."""

    def __init__(self, flags: Authentication) -> None:
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
                names=_listed(data, "requestheader-allowed-names"),
                user_headers=_listed(data, "requestheader-username-headers"),
                uid_headers=_listed(data, "requestheader-uid-headers"),
                group_headers=_listed(data, "requestheader-group-headers"),
                extra_prefixes=_listed(data, "requestheader-extra-headers-prefix"),
            )
        except (RequestFailed, msgspec.MsgspecError) as problem:
            return str(problem)
        return ""


def _listed(data: dict[str, str], key: str) -> tuple[str, ...]:
    return msgspec.json.decode(data.get(key) or "[]", type=tuple[str, ...])


def has_signed(bundle: bytes, certificate: x509.Certificate) -> bool:
    """Whether one of a bundle's authorities has signed a certificate."""
    return any(_signs(authority, certificate) for authority in _loaded(bundle))


def _signs(authority: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _loaded(bundle: bytes) -> list[x509.Certificate]:
    return x509.load_pem_x509_certificates(bundle) if bundle.strip() else []
