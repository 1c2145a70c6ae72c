"""Configurations that articles print: our copies of them, and the articles where they are at hand.

The copies have no comments. Paths are those of the articles, `/etc/kubernetes/...`, and are put
into a test's own directory by `placed_in`.
"""

import re
from pathlib import Path

TESTS = Path(__file__).parents[2]
SEEDS = sorted((TESTS.parents[1] / "shared" / "seeds").glob("*.txt"))
_HERE = TESTS / "e2e" / "printed"
COPIES = {
    "000-0": _HERE / "gpu-admission.yaml",
    "001-0": _HERE / "coscheduling.yaml",
    "002-0": _HERE / "network-traffic.yaml",
    "002-1": _HERE / "storage-capacity.yaml",
    "002-2": _HERE / "devices.yaml",
    "002-3": _HERE / "policy.json",
    "003-0": TESTS / "addons" / "collection" / "wyq" / "effective.yaml",
}
"""By the number of the article, and the configuration's among those that it prints."""
_BLOCK = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
# What a scheduler logged around its configuration.
_BANNER = re.compile(r"^----.*\n", re.MULTILINE)
_KINDS = re.compile(r"""^["]?kind["]?\s*:\s*["]?(KubeSchedulerConfiguration|Policy)\b""", re.M)


def printed() -> dict[str, str]:
    """Every configuration in the articles; empty where they are not at hand."""
    return {
        f"{seed.name[:3]}-{number}": _BANNER.sub("", block)
        for seed in SEEDS
        for number, block in enumerate(
            block for block in _BLOCK.findall(seed.read_text()) if _KINDS.search(block)
        )
    }


def placed_in(directory: Path, name: str, file: str, **replaced: str) -> None:
    """A copy under the name of a file, with the article's directory and other texts replaced."""
    text = COPIES[name].read_text().replace("/etc/kubernetes", str(directory))
    for old, new in replaced.items():
        assert old in text, old
        text = text.replace(old, new)
    (directory / file).write_text(text)
