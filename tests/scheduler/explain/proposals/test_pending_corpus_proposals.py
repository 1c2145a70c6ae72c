"""For every pending pod of the corpus that can fit, the first proposal makes it fit."""

from pathlib import Path

import pytest
from support.scheduler.explain.pending_corpus import PENDING, PendingPod, cluster_manifests
from support.scheduler.explain.pending_input import prepare_entry, prepare_files, write_list
from support.scheduler.explain.supposed_scenario import suppose
from support.suite.slow_cases import few_of

from podium.scheduler.explain.proposals.search import MAX_TRIALS, ProposalAnswer, find_proposals
from podium.scheduler.explain.trial import Trial


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_list(tmp_path_factory.mktemp("corpus") / "cluster.json", cluster_manifests())


@pytest.mark.parametrize("entry", few_of(PENDING, 3), ids=lambda entry: entry.name)
def test_the_first_proposal_makes_the_pod_fit_and_is_found_in_few_trials(
    entry: PendingPod, cluster: str, tmp_path: Path
) -> None:
    prepared, scenario = prepare_entry(entry, cluster, tmp_path)
    with prepared.open_run(scenario=scenario) as (report, engine, ask):
        assert not report.pods[0].placed
        pod = engine.state.pods.get(entry.key, report.pods[0].pod)
        answer = find_proposals(Trial(engine, pod, ask))
    assert answer.trials <= MAX_TRIALS
    if not entry.can_fit:
        assert not answer.proposals
        assert answer.reason
        return
    first = answer.proposals[0]
    changed = suppose(scenario, first.hypothesis, first.destinations)
    result = prepared.run(scenario=changed).pods[0]
    assert result.placed, (first.sentence, result.message)
    assert first.commands
    assert_ranked(answer)


@pytest.mark.slow
def test_the_first_proposal_holds_although_all_others_wait_as_well(
    cluster: str, tmp_path: Path
) -> None:
    entries = [entry for entry in PENDING if entry.is_plain and entry.can_fit]
    manifests = [each for entry in entries for each in (*entry.extra, entry.pod)]
    prepared = prepare_files([cluster, write_list(tmp_path / "pods.json", manifests)])
    refuted = []
    for entry in entries:
        with prepared.open_run() as (report, engine, ask):
            found = engine.state.pods[entry.key]
            assert not next(r for r in report.pods if r.key == entry.key).placed
            first = find_proposals(Trial(engine, found, ask)).proposals[0]
        changed = suppose(prepared.scenario, first.hypothesis, first.destinations)
        results = {result.key: result for result in prepared.run(scenario=changed).pods}
        if not results[entry.key].placed:
            refuted.append((entry.name, first.sentence, results[entry.key].message))
    assert refuted == []


def assert_ranked(answer: ProposalAnswer) -> None:
    weights = [proposal.disturbance for proposal in answer.proposals]
    assert weights == sorted(weights)
