"""Which group-versions are served: kube-apiserver's `--runtime-config`.

    api/all=false, api/ga, api/beta, api/alpha     all versions, or those of one stage
    v1=true, apps/v1=false                         one group-version
    batch/v1/cronjobs=false                        one resource of it

The narrower setting wins, in whatever order they come (`MergeAPIResourceConfigs` in
`k8s.io/apiserver`). What is switched off is neither found under its path nor told by discovery; its
objects stay where they are, and the server itself goes on using them. Versions that this server
does not have cannot be switched on: that is a warning, so that command lines of other servers work.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.resources.builtin import resource_gates, served_resources
from podium.kubernetes.resources.resource import Resource

_STAGE: Final = re.compile(r"v\d+(?P<stage>alpha|beta)?\d*")
_STAGES: Final = {"api/ga": "", "api/beta": "beta", "api/alpha": "alpha"}
_ALL: Final = "api/all"


@dataclass(frozen=True, slots=True)
class RuntimeConfig:
    """What was said of group-versions, by the keys of the flag; by default all are served."""

    settings: Mapping[str, bool] = field(default_factory=dict)

    def serves(self, resource: Resource) -> bool:
        keys = (f"{resource.api_version}/{resource.plural}", resource.api_version)
        for key in (*keys, _stage_key(resource.version), _ALL):
            if key in self.settings:
                return self.settings[key]
        return True

    def find_warnings(self, gates: FeatureGates) -> list[str]:
        """Settings that change nothing, because there is nothing to switch."""
        served = _names(served_resources(gates))
        behind = {
            name: gate
            for gate in resource_gates()
            for name in _names(served_resources(gates.with_overrides({gate: True})))
        }
        found = []
        for key, on in self.settings.items():
            if key == _ALL or key in _STAGES or key in served:
                continue
            if key in behind:
                if on:
                    found.append(f"{key} is served with --feature-gates {behind[key]}=true only")
            elif on or key.partition("/")[0] not in {name.partition("/")[0] for name in served}:
                found.append(f"{key} is not served by this server")
        return found


EVERYTHING: Final = RuntimeConfig()


def _stage_key(version: str) -> str:
    found = _STAGE.fullmatch(version)
    stage = (found["stage"] if found else None) or ""
    return next(key for key, each in _STAGES.items() if each == stage)


def _names(resources: Iterable[Resource]) -> set[str]:
    """The keys by which resources can be named."""
    names: set[str] = set()
    for each in resources:
        names |= {each.api_version, f"{each.api_version}/{each.plural}"}
    return names
