"""What every component of Kubernetes says of itself: its release and its feature gates."""

import platform

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.releases.release import Release
from podium.live import metric_definitions as known
from podium.live.exposition import Exposition, Reading

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def show_component(shown: Exposition, gates: FeatureGates) -> None:
    shown.read(known.FEATURE_ENABLED, lambda: _features(gates))
    shown.read(known.BUILD_INFO, lambda: [(_build(gates.release), 1)])


def runtime() -> str:
    """What stands where other components name their version of Go: `CPython 3.11.9`."""
    return f"{platform.python_implementation()} {platform.python_version()}"


def _features(gates: FeatureGates) -> Reading:
    stages = gates.known
    return [((name, stages[name].stage.value), int(on)) for name, on in gates.items()]


def _build(release: Release) -> tuple[str, ...]:
    machine = _ARCHITECTURES.get(platform.machine(), platform.machine())
    return (
        str(release.version.major),
        str(release.version.minor),
        release.patch,
        "",
        "",
        "",
        "",
        runtime(),
        f"{platform.system().lower()}/{machine}",
    )
