"""What `/version` says: the Kubernetes whose behaviour this server has."""

import platform
from typing import Final

from podium.golang.json_values import JsonObject

KUBERNETES: Final = "v1.36.4"


def version_info() -> JsonObject:
    _, minor, _ = KUBERNETES.removeprefix("v").split(".")
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return {
        "major": "1",
        "minor": minor,
        "emulationMajor": "1",
        "emulationMinor": minor,
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": str(int(minor) - 1),
        "gitVersion": f"{KUBERNETES}+podium",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": platform.python_implementation(),
        "platform": f"{platform.system().lower()}/{machine}",
    }
