"""What a command loads: each pays for what it needs, and help and mistakes for next to nothing.

The table is the promise. A package of Podium's counts as loaded from its fifth module on: the names
and defaults that help shows stand in one or two light ones.
"""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from podium.commands.app import COMMANDS

ROOT: Final = Path(__file__).resolve().parents[2]
HEAVY: Final = (
    *("aiohttp", "asyncio", "cryptography", "numpy", "prometheus_client", "pyarrow", "re2"),
    *("rich", "rich.markdown", "uvicorn", "yaml"),
    *("podium.apiserver", "podium.bench", "podium.client", "podium.live", "podium.net.serving"),
    *("podium.addons.collection", "podium.addons.extenders", "podium.addons.gpu.cards"),
    *("podium.addons.gpu.dialects", "podium.addons.gpu.extender", "podium.addons.gpu.packing"),
    *("podium.addons.gpu.plugin", "podium.addons.gpu.study", "podium.commands.processes"),
    *("podium.kubernetes.cel", "podium.kubernetes.kinds", "podium.kubernetes.validation"),
    *("podium.offline.optimum", "podium.offline.scenarios", "podium.offline.simulate"),
    *("podium.offline.sweeps", "podium.offline.traces", "podium.offline.what_if"),
    *("podium.scheduler.config", "podium.scheduler.engine", "podium.scheduler.explain"),
    *("podium.scheduler.plugins", "podium.simulated", "podium.user_code", "podium.web"),
)
FEW: Final = 4
"""Modules of a package of ours that do not count."""

HELP: Final = {"rich", "rich.markdown"}
MISTAKE: Final = {"rich"}
DECIDING: Final = {
    *("numpy", "rich", "yaml", "podium.kubernetes.kinds", "podium.kubernetes.validation"),
    *("podium.offline.simulate", "podium.scheduler.config", "podium.scheduler.engine"),
    *("podium.scheduler.explain", "podium.scheduler.plugins", "podium.user_code"),
}
FILES: Final = ("-f", "examples/cluster.yaml", "-f", "examples/pods.yaml")
LOADS: Final[dict[tuple[str, ...], set[str]]] = {
    ("--help",): HELP,
    ("--version",): HELP,
    **{(name, "--help"): HELP for name, *_ in COMMANDS if name != "run"},
    ("config", "check", "--help"): HELP,
    ("gpu", "defrag", "--help"): HELP,
    ("extender", "gpu", "--help"): HELP,
    ("study", "gpu-packing", "--help"): HELP,
    ("scenario", "run", "--help"): HELP,
    # kube-scheduler's flags have a help of their own.
    ("run", "--help"): {"podium.scheduler.config"},
    ("run", "--no-such-flag"): {"podium.scheduler.config"},
    ("simulat",): MISTAKE,
    ("--no-such-option",): MISTAKE,
    ("simulate", "--no-such-option"): MISTAKE,
    ("scenario", "no-such-command"): MISTAKE,
    ("simulate", "-f", "no-such-file.yaml"): MISTAKE,
    ("simulate", *FILES): DECIDING,
    ("simulate", *FILES, "-o", "json"): DECIDING,
    ("config", "check", "examples/scheduler.yaml"): {
        *("asyncio", "numpy", "rich", "uvicorn", "yaml", "podium.kubernetes.kinds"),
        *("podium.net.serving", "podium.scheduler.config", "podium.scheduler.plugins"),
        "podium.user_code",
    },
    # Flags of kube-scheduler are completed as well.
    ("completion", "bash"): {"rich", "podium.scheduler.config"},
}
_CALL: Final = """
import sys
from podium.__main__ import main
try:
    main()
finally:
    sys.__stderr__.write("\\nloaded " + " ".join(sys.modules) + "\\n")
"""


def loaded_by(words: Sequence[str]) -> set[str]:
    """The heavy modules that a command has loaded when it ends."""
    done = subprocess.run(  # noqa: PLW1510
        [sys.executable, "-c", _CALL, *words],
        cwd=ROOT,
        env={**os.environ, "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
    )
    modules = done.stderr.rpartition("\nloaded ")[2].split()
    assert "podium.commands.app" in modules, done.stderr
    sizes = Counter(each for each in HEAVY for name in modules if f"{name}.".startswith(f"{each}."))
    return {name for name, size in sizes.items() if size > FEW or not name.startswith("podium.")}


@pytest.mark.parametrize("words", LOADS, ids=" ".join)
def test_a_command_loads_no_more_than_it_needs(words: tuple[str, ...]) -> None:
    assert loaded_by(words) <= LOADS[words]
