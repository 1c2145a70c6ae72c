"""`podium explain` names the cause of every pending pod of the corpus, first of all."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.explain.pending_corpus import PENDING, PendingPod, cluster_manifests

from podium.cli import main


def write_list(path: Path, items: list[dict[str, Any]]) -> str:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(path)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_list(tmp_path_factory.mktemp("corpus") / "cluster.json", cluster_manifests())


def arguments(entry: PendingPod, cluster: str, folder: Path) -> list[str]:
    pods = write_list(folder / "pods.json", [*entry.extra, entry.pod])
    found = [entry.key, "-f", cluster, "-f", pods]
    if entry.plugin:
        plugin = folder / f"plugin_of_{entry.name.replace('-', '_')}.py"
        plugin.write_text(entry.plugin)
        found += ["--plugin", str(plugin)]
    if entry.config:
        config = folder / "scheduler.yaml"
        config.write_text(entry.config)
        found += ["--config", str(config)]
    return [*found, "--feature-gates", entry.gates] if entry.gates else found


def test_the_corpus_has_at_least_sixty_pods_with_names_of_their_own() -> None:
    assert len({entry.name for entry in PENDING}) == len(PENDING) >= 60


@pytest.mark.parametrize("entry", PENDING, ids=lambda entry: entry.name)
def test_the_pod_gets_no_node(
    entry: PendingPod, cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["explain", *arguments(entry, cluster, tmp_path), "-o", "json"])
    document = json.loads(capsys.readouterr().out)
    assert code == 1
    assert document["node"] is None
