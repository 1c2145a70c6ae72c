"""What `/version` says: the Kubernetes whose behaviour this server has."""

import platform

from podium.golang.json_values import JsonObject
from podium.kubernetes.releases.release import release


def version_info() -> JsonObject:
    known = release()
    minor = str(known.version.minor)
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return {
        "major": "1",
        "minor": minor,
        "emulationMajor": "1",
        "emulationMinor": minor,
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": str(known.version.before.minor),
        "gitVersion": f"{known.patch}+podium",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": platform.python_implementation(),
        "platform": f"{platform.system().lower()}/{machine}",
    }
