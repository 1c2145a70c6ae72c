"""Scenario files from Python."""

from pathlib import Path

import pytest
import yaml
from support.commands.command_line import EXAMPLES
from support.offline.scenarios.files import document

from podium.offline.what_if import InputError, load_timed_scenario

PACKING = str(EXAMPLES / "what-if" / "packing.yaml")


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(document(duration="1h")))
    return str(path)


def test_a_run_answers_with_records(small: str) -> None:
    model = load_timed_scenario(small)
    answer = model.run()
    assert answer.metrics["arrived"] == len(answer.pods)
    assert answer.workloads[0]["workload"] == "web/pod"
    assert {sample["nodes"] for sample in answer.samples} == {2}
    assert model.run() == answer
    assert model.with_seed(9).run() != answer
    assert model.run(until="10m").metrics["arrived"] < answer.metrics["arrived"]
    with pytest.raises(InputError, match="is no length of time"):
        model.run(until="soon")


def test_configurations_are_compared_on_the_same_arrivals(small: str) -> None:
    found = load_timed_scenario(small).compare("default", PACKING, seeds=2)
    assert len(found.runs) == 4
    arrived = [record["arrived"] for record in found.runs]
    assert arrived[0] == arrived[1]
    assert arrived[2] == arrived[3]
    assert {record["configuration"] for record in found.metrics} == {"default", PACKING}
