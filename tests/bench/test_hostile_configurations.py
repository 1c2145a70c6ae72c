"""A configuration of any size is refused in bounded time, or pods are scheduled by it in time."""

import json

import pytest
from support.suite.slow_cases import few_of
from support.yardstick import measure_work

from podium.bench.hostile_claims import HostileScene
from podium.bench.hostile_configurations import CONFIGURATIONS, MAX_VALUES
from podium.bench.hostile_pods import MAX_OBJECT_BYTES
from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.load import load_file
from podium.scheduler.config.types import Configuration

MAX_YARDSTICKS = 60


def load(data: bytes) -> Configuration | None:
    try:
        return load_file(data, gates=FeatureGates())
    except ConfigurationError:
        return None


def build(configuration: Configuration) -> HostileScene | None:
    try:
        return HostileScene(1_000, configuration)
    except (ConfigurationError, InputError):
        return None


@pytest.mark.parametrize("what", few_of(CONFIGURATIONS, 6))
def test_a_hostile_configuration_is_refused_or_schedules_within_the_budget(what: str) -> None:
    data = json.dumps(CONFIGURATIONS[what]).encode()
    assert len(data) <= 1.2 * MAX_OBJECT_BYTES
    spent: dict[str, float] = {}
    configuration, spent["load"] = measure_work(lambda: load(data))
    if configuration is not None:
        scene, spent["build"] = measure_work(lambda: build(configuration))
        # Extenders would have to be asked, and nobody does here.
        if scene is not None and not (configuration.extenders and "managed" not in what):
            for attempt in ("first attempt", "next attempt"):
                _, spent[attempt] = measure_work(lambda: scene.schedule_others(1))
                _, spent[f"change of a node after the {attempt}"] = measure_work(scene.change_node)

    assert {step: work for step, work in spent.items() if work > MAX_YARDSTICKS} == {}


def test_a_file_of_more_values_than_a_configuration_has_is_refused_at_once() -> None:
    names = [f"p{number}" for number in range(2 * MAX_VALUES)]
    with pytest.raises(ConfigurationError, match=f"holds more than {MAX_VALUES} values"):
        load_file(json.dumps({"profiles": names}).encode(), gates=FeatureGates())
