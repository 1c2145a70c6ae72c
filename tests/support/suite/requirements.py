"""What some tests need that a machine may not have, and the command that would provide it.

A test that cannot run is skipped with one of these reasons, so that the report at the end of a run
(`support.suite.report`) can group them and say what to do.
"""

from dataclasses import dataclass
from typing import Final, NoReturn

import pytest

SEPARATOR: Final = " -> "


@dataclass(frozen=True)
class Requirement:
    """Something outside the project that a test needs."""

    missing: str
    """What the machine lacks, as a sentence."""
    enable: str
    """The command that runs these tests, or makes them runnable."""

    @property
    def reason(self) -> str:
        return f"{self.missing}{SEPARATOR}{self.enable}"

    def skip(self) -> NoReturn:
        pytest.skip(self.reason)

    def skip_unless(self, condition: object) -> pytest.MarkDecorator:
        return pytest.mark.skipif(not condition, reason=self.reason)


KUBECTL: Final = Requirement("no kubectl", "apt-get install kubernetes-client")
NEWER_KUBECTL: Final = Requirement(
    "no kubectl of 1.25 or later", "put a newer kubectl first on the PATH"
)
CHROMIUM: Final = Requirement("no Chromium that starts", "apt-get install chromium")
PROMETHEUS: Final = Requirement("no Prometheus", "apt-get install prometheus")
JQ: Final = Requirement("no jq", "apt-get install jq")
BASH: Final = Requirement("no bash", "apt-get install bash")
C_COMPILER: Final = Requirement("no C compiler", "apt-get install gcc libc6-dev")
IMAGE_ENGINE: Final = Requirement(
    "no buildah and debootstrap, or not root", "apt-get install buildah debootstrap (as root)"
)
DEBIAN_MIRROR: Final = Requirement(
    "no Debian mirror answers", "run where debootstrap and pip reach one, such as through a proxy"
)
PROC: Final = Requirement("no /proc", "run on Linux with /proc mounted")
DEV_FULL: Final = Requirement("no /dev/full", "run on Linux with /dev mounted")
TERMINALS: Final = Requirement("no pseudo-terminals", "mount -t devpts devpts /dev/pts (as root)")
SEMAPHORES: Final = Requirement(
    "no semaphores between processes", "mount -t tmpfs tmpfs /dev/shm (as root)"
)
CLUSTER: Final = Requirement(
    "no cluster was named for tests", "PODIUM_E2E_KUBECONFIG=FILE make test-all"
)
GPU: Final = Requirement("no CuPy with a GPU", "pip install 'podium[study-cuda]' on such a machine")
PUBLISHED_TRACES: Final = Requirement(
    "the published GPU traces are not here",
    "put the openb trace into ../shared/traces/openb (docs/study.md)",
)
ARTICLES: Final = Requirement(
    "the articles that the project starts from are not here", "put their texts into ../shared/seeds"
)
CHECKLIST: Final = Requirement(
    "the checklist of the articles is not here", "put it at ../shared/mission-checklist.md"
)
