"""The fields of a scenario file, as they are written. docs/scenarios.md says what each means.

Only types are settled here; what values mean, and which of them go together, is read by the modules
that use them.

Fields of which exactly one is to be there, and numbers in a range.
"""

from collections.abc import Sequence

from podium.golang.errors import ObjectError
from podium.golang.json_values import DecodedValue, JsonObject
from podium.kubernetes.kinds.meta import KubeStruct, ObjectMeta, Quantity, ResourceList

KIND = "Scenario"


class WrittenPoisson(KubeStruct, frozen=True):
    rate: str = ""


class WrittenDiurnal(KubeStruct, frozen=True):
    rate: str = ""
    amplitude: Quantity = 0.5
    peak: str = "14h"
    period: str = "24h"
    weekend: Quantity = 1.0


class WrittenInterval(KubeStruct, frozen=True):
    every: str = ""
    first: str = "0s"


class WrittenBurst(KubeStruct, frozen=True):
    count: int = 1
    first: str = "0s"
    every: str = ""
    over: str = "0s"


class WrittenTrace(KubeStruct, frozen=True):
    times: tuple[str, ...] | None = None
    file: str = ""


class WrittenArrivals(KubeStruct, frozen=True):
    """Exactly one of them is there."""

    poisson: WrittenPoisson | None = None
    diurnal: WrittenDiurnal | None = None
    interval: WrittenInterval | None = None
    burst: WrittenBurst | None = None
    trace: WrittenTrace | None = None


class WrittenExponential(KubeStruct, frozen=True):
    mean: str = ""


class WrittenLognormal(KubeStruct, frozen=True):
    median: str = ""
    sigma: Quantity = 1.0


class WrittenUniform(KubeStruct, frozen=True):
    min: str = ""
    max: str = ""


class WrittenRunTime(KubeStruct, frozen=True):
    """Exactly one of them is there."""

    constant: str = ""
    exponential: WrittenExponential | None = None
    lognormal: WrittenLognormal | None = None
    uniform: WrittenUniform | None = None


class WrittenWorkload(KubeStruct, frozen=True):
    """Exactly one of `requests`, `pod`, `manifests` and `file` is there."""

    name: str = ""
    weight: Quantity = 1
    replicas: int = 1
    gang: bool = False
    bare: bool = False
    run_time: WrittenRunTime | None = None
    requests: ResourceList | None = None
    pod: JsonObject | None = None
    manifests: tuple[DecodedValue, ...] | None = None
    file: str = ""


class WrittenTenant(KubeStruct, frozen=True):
    name: str = ""
    namespace: str = ""
    arrivals: WrittenArrivals | None = None
    run_time: WrittenRunTime | None = None
    workloads: tuple[WrittenWorkload, ...] | None = None


class WrittenPool(KubeStruct, frozen=True):
    """Exactly one of `allocatable` and `node` is there."""

    name: str = ""
    count: int = 0
    zones: tuple[str, ...] | None = None
    price: Quantity | None = None
    labels: dict[str, str] | None = None
    allocatable: ResourceList | None = None
    node: JsonObject | None = None


class WrittenCluster(KubeStruct, frozen=True):
    files: tuple[str, ...] | None = None
    pools: tuple[WrittenPool, ...] | None = None
    objects: tuple[DecodedValue, ...] | None = None


class WrittenNodeFailure(KubeStruct, frozen=True):
    """Exactly one of `mtbf` and `times` is there."""

    name: str = ""
    pools: tuple[str, ...] | None = None
    zone: str = ""
    mtbf: str = ""
    times: tuple[str, ...] | None = None
    count: int = 0
    repair: WrittenRunTime | None = None


class WrittenAutoscaledPool(KubeStruct, frozen=True):
    pool: str = ""
    min: int = 0
    max: int = 0
    delay: str = "2m"


class WrittenAutoscaler(KubeStruct, frozen=True):
    interval: str = "10s"
    scale_down_after: str = "10m"
    pools: tuple[WrittenAutoscaledPool, ...] | None = None


class WrittenSpec(KubeStruct, frozen=True):
    description: str = ""
    duration: str = ""
    seed: int = 0
    feature_gates: dict[str, bool] | None = None
    cluster: WrittenCluster = WrittenCluster()
    tenants: tuple[WrittenTenant, ...] | None = None
    node_failures: tuple[WrittenNodeFailure, ...] | None = None
    autoscaler: WrittenAutoscaler | None = None


class WrittenScenario(KubeStruct, frozen=True):
    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()
    spec: WrittenSpec = WrittenSpec()


def choose_one(written: KubeStruct, names: Sequence[str], path: str) -> str:
    """The name of the only one that is there. Raises ObjectError."""
    found = [name for name in names if getattr(written, name) not in (None, "")]
    if len(found) == 1:
        return found[0]
    problem = f"has {' and '.join(found)}" if found else "is empty"
    raise ObjectError(path, problem, f"give exactly one of {', '.join(names)}")


def parse_number(
    written: Quantity, path: str, *, least: float = 0.0, most: float = float("inf")
) -> float:
    """Raises ObjectError."""
    try:
        number = float(written)
    except ValueError:
        raise ObjectError(path, f'"{written}" is no number') from None
    if not least <= number <= most:
        upper = "" if most == float("inf") else f" and at most {most:g}"
        raise ObjectError(path, f"{number:g} is out of range", f"at least {least:g}{upper}")
    return number
