"""A kubeconfig: clusters, users, and contexts that put them together.

Unlike a scheduler configuration it is read leniently: unknown fields are passed over, and neither
kind nor apiVersion must be written. Contract: what client-go cannot decode is refused in its words.
Which of the contexts counts, and whether what it names is usable, is decided elsewhere.

Source: `staging/src/k8s.io/client-go/tools/clientcmd/api/v1/types.go`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, TypeVar

import msgspec

from podium.scheduler.config.decode import ConfigDecodeError, decode, header_of
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.written import read_written

_SCHEME: Final = 'in scheme "k8s.io/client-go/tools/clientcmd/api/latest/latest.go:50"'
_OLD_EXEC: Final = (
    "client.authentication.k8s.io/v1beta1",
    "client.authentication.k8s.io/v1alpha1",
)

EntryT = TypeVar("EntryT")


class _KubeconfigStruct(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """What a kubeconfig is made of."""


class NamedExtension(_KubeconfigStruct, frozen=True):
    """What programs other than kubectl keep in a kubeconfig."""

    GO_TYPE: ClassVar[str] = "v1.NamedExtension"

    name: str = ""
    extension: Any = None


class ClusterEntry(_KubeconfigStruct, frozen=True):
    GO_TYPE: ClassVar[str] = "v1.Cluster"

    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority: str = ""
    certificate_authority_data: bytes = b""
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: tuple[NamedExtension, ...] = ()


class ExecVariable(_KubeconfigStruct, frozen=True):
    GO_TYPE: ClassVar[str] = "v1.ExecEnvVar"

    name: str = ""
    value: str = ""


class ExecPlugin(_KubeconfigStruct, frozen=True, rename="camel"):
    GO_TYPE: ClassVar[str] = "v1.ExecConfig"

    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[ExecVariable, ...] = ()
    api_version: str = ""
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class UserEntry(_KubeconfigStruct, frozen=True):
    GO_TYPE: ClassVar[str] = "v1.AuthInfo"

    client_certificate: str = ""
    client_certificate_data: bytes = b""
    client_key: str = ""
    client_key_data: bytes = b""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    impersonate: str = msgspec.field(default="", name="as")
    impersonate_uid: str = msgspec.field(default="", name="as-uid")
    impersonate_groups: tuple[str, ...] = msgspec.field(default=(), name="as-groups")
    impersonate_user_extra: dict[str, tuple[str, ...]] = msgspec.field(
        default_factory=dict, name="as-user-extra"
    )
    username: str = ""
    password: str = ""
    auth_provider: Any = None
    exec: ExecPlugin | None = None

    @property
    def interactive_mode(self) -> str:
        """Whether the exec plugin may ask; early versions had not to say so."""
        if self.exec is None:
            return ""
        silent = "IfAvailable" if self.exec.api_version in _OLD_EXEC else ""
        return self.exec.interactive_mode or silent


class ContextEntry(_KubeconfigStruct, frozen=True):
    GO_TYPE: ClassVar[str] = "v1.Context"

    cluster: str = ""
    user: str = ""
    namespace: str = ""


class _NamedCluster(_KubeconfigStruct, frozen=True):
    GO_TYPE: ClassVar[str] = "v1.NamedCluster"

    name: str = ""
    cluster: ClusterEntry = ClusterEntry()


class _NamedUser(_KubeconfigStruct, frozen=True):
    GO_TYPE: ClassVar[str] = "v1.NamedAuthInfo"

    name: str = ""
    user: UserEntry = UserEntry()


class _NamedContext(_KubeconfigStruct, frozen=True):
    GO_TYPE: ClassVar[str] = "v1.NamedContext"

    name: str = ""
    context: ContextEntry = ContextEntry()


class _Config(_KubeconfigStruct, frozen=True):
    GO_TYPE: ClassVar[str] = "v1.Config"

    clusters: tuple[_NamedCluster, ...] = ()
    users: tuple[_NamedUser, ...] = ()
    contexts: tuple[_NamedContext, ...] = ()
    current_context: str = ""


class Kubeconfig(msgspec.Struct, frozen=True, kw_only=True):
    """A kubeconfig with its parts by name."""

    clusters: Mapping[str, ClusterEntry] = {}
    users: Mapping[str, UserEntry] = {}
    contexts: Mapping[str, ContextEntry] = {}
    current_context: str = ""


class NotAKubeconfig(ConfigurationError):
    """The file is something else: `kind` says what, and is empty if nothing in the file does."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


def load_kubeconfig(data: bytes) -> Kubeconfig:
    """Raises ConfigurationError with client-go's text, NotAKubeconfig for files of another kind."""
    if not data:
        return Kubeconfig()
    value = read_written(data).value
    try:
        api_version, kind = header_of(value)
    except ConfigDecodeError as error:
        raise NotAKubeconfig(str(error), "") from None
    if (api_version or "v1", kind or "Config") != ("v1", "Config"):
        raise NotAKubeconfig(
            f'no kind "{kind or "Config"}" is registered for version "{api_version or "v1"}" '
            f"{_SCHEME}",
            kind,
        )
    try:
        config = decode(value, _Config).value
    except ConfigDecodeError as error:
        raise ConfigurationError(str(error)) from None
    return Kubeconfig(
        clusters=_by_name("NamedCluster", ((c.name, c.cluster) for c in config.clusters)),
        users=_by_name("NamedAuthInfo", ((u.name, u.user) for u in config.users)),
        contexts=_by_name("NamedContext", ((c.name, c.context) for c in config.contexts)),
        current_context=config.current_context,
    )


def _by_name(of: str, entries: Iterable[tuple[str, EntryT]]) -> dict[str, EntryT]:
    found: dict[str, EntryT] = {}
    for name, entry in entries:
        if name in found:
            kind = of.removeprefix("Named")
            raise ConfigurationError(
                f'error converting *[]{of} into *map[string]*api.{kind}: duplicate name "{name}" '
                "in list"
            )
        found[name] = entry
    return found
