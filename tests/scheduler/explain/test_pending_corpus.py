"""`podium explain` names the cause of every pending pod of the corpus, first of all."""

import json
from pathlib import Path

import pytest
from support.commands.document_schemas import require_valid
from support.scheduler.explain.pending_corpus import PENDING, PendingPod, cluster_manifests
from support.scheduler.explain.pending_input import write_list
from support.suite.slow_cases import few_of

from podium.commands import main
from podium.scheduler.plugins import in_tree_registry


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
def test_the_first_sentence_of_explain_names_the_cause(
    entry: PendingPod, cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["explain", *arguments(entry, cluster, tmp_path)])
    out = capsys.readouterr().out
    assert code == 1
    first = " ".join(out.split("\n\n")[0].split())
    for words in entry.words:
        assert words in first


@pytest.mark.parametrize("entry", few_of(PENDING, 4), ids=lambda entry: entry.name)
def test_the_document_holds_the_cause_and_what_every_filter_has_against_each_node(
    entry: PendingPod, cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["explain", *arguments(entry, cluster, tmp_path), "-o", "json"])
    document = json.loads(capsys.readouterr().out)
    require_valid(document)
    assert document["node"] is None
    cause = document["causes"][0]
    assert cause["code"] == entry.code
    assert cause["sentence"].endswith(".")
    assert set(cause) == {"code", "plugin", "subject", "sentence", "nodes", "facts"}
    known = {*in_tree_registry()}
    silent = {
        plugin
        for attempt in document["attempts"]
        for node in attempt["nodes"]
        for plugin, said in node.get("objections", {}).items()
        if plugin in known and not (said["details"] and all(said["details"]))
    }
    assert not silent


def test_simulate_groups_the_pods_by_cause_and_agrees_with_explain(
    cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    together = [entry for entry in PENDING if entry.is_plain]
    pods = write_list(
        tmp_path / "pods.json",
        [item for entry in together for item in (*entry.extra, entry.pod)],
    )
    assert main(["simulate", "-f", cluster, "-f", pods, "-o", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    codes = {f"{p['namespace']}/{p['name']}": p["causes"][0]["code"] for p in document["pods"]}
    assert codes == {entry.key: entry.code for entry in together}
    grouped = {key: cause for cause in document["causes"] for key in cause["pods"]}
    assert grouped.keys() == codes.keys()
    labels = grouped["default/label-value"], grouped["default/affinity-in"]
    assert labels[0]["code"] == labels[1]["code"]
    assert labels[0]["subject"] != labels[1]["subject"]
