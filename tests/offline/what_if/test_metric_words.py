"""Every metric has words, and no two the same."""

import re
from pathlib import Path

import pytest

from podium.offline.what_if.run_metrics import describe_metric, describe_metrics

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("page", ["compare.md", "scenarios.md"])
def test_each_metric_of_a_page_has_words_and_the_page_has_them(page: str) -> None:
    text = (ROOT / "docs" / page).read_text()
    (table,) = re.findall(
        r"^\| Metric \| In tables \| Means \|\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.M
    )
    found: dict[str, str] = {}
    for line in table.splitlines():
        names, words = line.split("|")[1:3]
        metrics = re.findall(r"`(\w+)`", names)
        found |= dict(zip(metrics, words.strip().split("; "), strict=False))
    assert found == describe_metrics(found)
    assert len(set(found.values())) == len(found)
    assert not any("_" in words for words in found.values())


def test_a_metric_of_a_resource_is_named_after_it() -> None:
    assert describe_metric("nvidia.com/gpu_share") == "nvidia.com/gpu requested"
    assert describe_metric("pods_share") == "places for pods taken"
