"""The plugin's arguments, in all versions that they ever had.

They are v1beta1 to v1 of `kubescheduler.config.k8s.io`. What an older version had and a newer one
has not is taken in any: `kubeMaster` and `kubeConfigPath` mean nothing here, and the time for
which a failed group was denied still counts where somebody writes it.
"""

from typing import Annotated, Final

import msgspec

_API_VERSIONS: Final = tuple(
    f"kubescheduler.config.k8s.io/{version}" for version in ("v1beta1", "v1beta2", "v1beta3", "v1")
)
_KIND: Final = "CoschedulingArgs"
_MAX_SECONDS: Final = 1 << 31
DEFAULT_WAIT_S: Final = 60.0

_Seconds = Annotated[int, msgspec.Meta(ge=0, lt=_MAX_SECONDS)]


class CoschedulingArgs(msgspec.Struct, rename="camel", frozen=True):
    permit_waiting_time_seconds: _Seconds = 60
    """How long members wait for each other if their group does not say."""
    pod_group_backoff_seconds: _Seconds = 0
    """For how long a group is turned away after it was rejected; 0: not at all."""
    pod_group_reject_percentage: Annotated[int, msgspec.Meta(ge=0, le=100)] = 10
    """How much of a group may be missing when one of it fails for the others to go on waiting."""
    denied_pg_expiration_time_seconds: _Seconds | None = msgspec.field(
        default=None, name="deniedPGExpirationTimeSeconds"
    )
    """For how long a group is denied after any failure. upstream: 20 s in releases 0.19 to 0.23.9,
    ignored later; here it counts if it is written."""
    kube_master: str | None = None
    kube_config_path: str | None = None
    api_version: str = ""
    kind: str = ""

    def __post_init__(self) -> None:
        if self.kind not in ("", _KIND):
            raise ValueError(f'kind "{self.kind}" is not {_KIND}')
        if self.api_version not in ("", *_API_VERSIONS):
            known = ", ".join(_API_VERSIONS)
            raise ValueError(f'apiVersion "{self.api_version}" is none of {known}')

    @property
    def wait_s(self) -> float:
        return float(self.permit_waiting_time_seconds) or DEFAULT_WAIT_S
