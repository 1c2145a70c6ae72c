"""Keys of runs: the same for equal values, in every process."""

import subprocess
import sys
from itertools import permutations

MODULES = ("podium.kubernetes.kinds.workloads", "podium.kubernetes.controllers.workloads")
DIGEST = """
import sys
from importlib import import_module
from msgspec.json import decode
read, other = map(import_module, sys.argv[1:])
from podium.kubernetes.controllers import workloads
from podium.kubernetes.kinds.workloads import ReplicaSet
from podium.offline.sweeps.executors import digest_values
manifest = b'{"apiVersion": "apps/v1", "metadata": {"name": "web"}}'
print(digest_values(*(decode(manifest, type=each) for each in (ReplicaSet, workloads.Deployment))))
"""


def digest_after(*modules: str) -> str:
    words = [sys.executable, "-c", DIGEST, *modules]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def test_a_key_does_not_depend_on_what_was_imported_first() -> None:
    assert len({digest_after(*modules) for modules in permutations(MODULES)}) == 1
