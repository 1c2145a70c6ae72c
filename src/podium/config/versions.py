"""What is particular to each version of the configuration's format.

A `Version` knows how its files are decoded into the form of v1 and which plugins take arguments in
it; all the rest of loading is the same for all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from podium.config.decode import decode
from podium.config.plugin_args import ARGS_KINDS
from podium.config.strict_errors import StrictErrors
from podium.config.typed_args import ArgsKinds
from podium.config.types import API_VERSION, KubeSchedulerConfiguration

Read = Callable[[Mapping[str, Any], StrictErrors], KubeSchedulerConfiguration]


@dataclass(frozen=True, slots=True)
class Version:
    api_version: str
    read: Read
    args_kinds: ArgsKinds


def _read_v1(raw: Mapping[str, Any], strict: StrictErrors) -> KubeSchedulerConfiguration:
    written, unknown_fields = decode(raw, KubeSchedulerConfiguration)
    strict.add(unknown_fields)
    return written


V1: Final = Version(API_VERSION, _read_v1, ARGS_KINDS)
