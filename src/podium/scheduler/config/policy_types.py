"""A Policy file as it was written: predicates, priorities and their arguments.

Policy was the way to configure kube-scheduler before profiles, and was read until 1.22. An absent
list of predicates or priorities stands for the default ones, an empty list for none, so these two
are None when absent.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from podium.scheduler.config.decode import DecodeError, Int32, Int64, json_kind
from podium.scheduler.config.plugin_args import ResourceSpec, UtilizationShapePoint
from podium.scheduler.config.types import Extender, ExtenderManagedResource, ExtenderTLSConfig


class _PolicyStruct(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the parts of a Policy are made of."""


class ServiceAffinityArgument(_PolicyStruct, frozen=True):
    labels: tuple[str, ...] = ()


class LabelsPresenceArgument(_PolicyStruct, frozen=True):
    labels: tuple[str, ...] = ()
    presence: bool = False


class PredicateArgument(_PolicyStruct, frozen=True):
    service_affinity: ServiceAffinityArgument | None = None
    labels_presence: LabelsPresenceArgument | None = None


class PredicatePolicy(_PolicyStruct, frozen=True):
    name: str = ""
    argument: PredicateArgument | None = None


class ServiceAntiAffinityArgument(_PolicyStruct, frozen=True):
    label: str = ""


class LabelPreferenceArgument(_PolicyStruct, frozen=True):
    label: str = ""
    presence: bool = False


class RatioArgument(_PolicyStruct, frozen=True):
    GO_TYPE: ClassVar[str] = "v1.RequestedToCapacityRatioArguments"

    shape: tuple[UtilizationShapePoint, ...] = ()
    resources: tuple[ResourceSpec, ...] = ()


class PriorityArgument(_PolicyStruct, frozen=True):
    service_anti_affinity: ServiceAntiAffinityArgument | None = None
    label_preference: LabelPreferenceArgument | None = None
    requested_to_capacity_ratio_arguments: RatioArgument | None = None


class PriorityPolicy(_PolicyStruct, frozen=True):
    name: str = ""
    weight: Int64 = 0
    argument: PriorityArgument | None = None


class Policy(_PolicyStruct, frozen=True):
    api_version: str = ""
    kind: str = ""
    predicates: tuple[PredicatePolicy, ...] | None = None
    priorities: tuple[PriorityPolicy, ...] | None = None
    extenders: Any = None
    hard_pod_affinity_symmetric_weight: Int32 = 0
    always_check_all_predicates: bool = False


def respelled(raw: Any, shape: type[msgspec.Struct] = Extender) -> Any:
    """An extender of a Policy in today's spelling.

    upstream: below `extenders` names are matched without regard to case, members that do not exist
    are passed over, and a timeout is a number of nanoseconds. Raises DecodeError.
    """
    if not isinstance(raw, Mapping):
        return raw
    inner: dict[str, type[msgspec.Struct]] = {
        "tls_config": ExtenderTLSConfig,
        "managed_resources": ExtenderManagedResource,
    }
    known = {info.encode_name.lower(): info for info in msgspec.structs.fields(shape)}
    written: dict[str, Any] = {}
    for name, value in raw.items():
        info = known.get(str(name).lower())
        if info is None or value is None:
            continue
        if info.name == "http_timeout":
            value = _timeout(value)
        elif info.name in inner:
            of = inner[info.name]
            is_list = isinstance(value, list)
            value = [respelled(v, of) for v in value] if is_list else respelled(value, of)
        written[info.encode_name] = value
    return written


def _timeout(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int):
        raise DecodeError(
            f"json: cannot unmarshal {json_kind(value)} into Go struct field "
            "LegacyExtender.extenders.httpTimeout of type time.Duration"
        )
    return f"{value}ns"
