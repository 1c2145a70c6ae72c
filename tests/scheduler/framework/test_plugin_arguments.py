"""Arguments of plugins that are not in-tree, and what is said about wrong ones."""

from typing import Annotated, Any, Literal

import msgspec
import pytest
from support.scheduler.framework.fake_plugins import Arrival, Binder

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.growth import Rows
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.plugin_args import NodeResourcesFitArgs, RawArgs
from podium.scheduler.config.types import API_VERSION, KIND
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.points import FilterPlugin, Plugin
from podium.scheduler.framework.profile import Profile, build_profiles
from podium.scheduler.framework.queued import WaitingPods
from podium.scheduler.framework.registry import ArgumentsError, PluginRegistry, arguments_of


class Rule(msgspec.Struct):
    zone: str
    points: int = 10


class Accepting(FilterPlugin):
    def filter(self, cycle: Cycle, rows: Rows) -> None:
        return None


class Zones(Accepting):
    name = "Zones"

    class Args(msgspec.Struct, rename="camel"):
        rules: list[Rule] = []
        by_name: dict[str, Rule] = {}
        mode: Literal["hard", "soft"] = "soft"
        most: Annotated[int, msgspec.Meta(ge=1)] | None = None
        one: Rule | None = None


class Needy(Accepting):
    name = "Needy"

    class Args(msgspec.Struct):
        must: str


class Untyped(Accepting):
    name = "Untyped"


def test_written_arguments_become_the_plugins_own_type() -> None:
    raw = {"rules": [{"zone": "a"}], "byName": {"x": {"zone": "b", "points": 3}}, "mode": "hard"}
    args = arguments_of(Zones, RawArgs(raw))
    assert args == Zones.Args(rules=[Rule("a")], by_name={"x": Rule("b", 3)}, mode="hard")


def test_without_arguments_the_defaults_count() -> None:
    assert arguments_of(Zones, None) == Zones.Args()
    assert arguments_of(Zones, RawArgs(None)) == Zones.Args()


def test_a_plugin_without_a_type_gets_what_was_written() -> None:
    assert arguments_of(Untyped, RawArgs({"a": [1]})) == {"a": [1]}
    assert arguments_of(Untyped, None) is None


def test_typed_arguments_of_in_tree_plugins_stay() -> None:
    args = NodeResourcesFitArgs()
    assert arguments_of(Untyped, args) is args


@pytest.mark.parametrize(
    ("raw", "path", "problem", "remedy"),
    [
        ({"most": "x"}, "args.most", "expected `int | null`, got `str`", ""),
        ({"most": 0}, "args.most", "expected `int` >= 1", ""),
        ({"mode": "loud"}, "args.mode", "invalid enum value 'loud'", ""),
        ({"rules": [{}]}, "args.rules[0]", "object missing required field `zone`", ""),
        ([], "args", "expected `object`, got `array`", ""),
        ({"rule": []}, "args.rule", "unknown field", "did you mean rules?"),
        (
            {"xyz": 1},
            "args.xyz",
            "unknown field",
            "there are byName, mode, most, one, rules",
        ),
        (
            {"rules": [{"zone": "a", "point": 1}]},
            "args.rules[0].point",
            "unknown field",
            "did you mean points?",
        ),
        (
            {"byName": {"x": {"zone": "a", "pointz": 1}}},
            "args.byName.x.pointz",
            "unknown field",
            "did you mean points?",
        ),
        (
            {"one": {"zone": "a", "zonee": "b"}},
            "args.one.zonee",
            "unknown field",
            "did you mean zone?",
        ),
    ],
)
def test_a_mistake_is_told_with_its_place(raw: Any, path: str, problem: str, remedy: str) -> None:
    with pytest.raises(ArgumentsError) as caught:
        arguments_of(Zones, RawArgs(raw))
    assert (caught.value.path, caught.value.problem) == (path, problem)
    assert caught.value.remedy == remedy


# in a configuration


def built(plugin: type[Plugin], *configs: dict[str, Any]) -> Profile:
    enabled = [{"name": kind.name} for kind in (Arrival, Binder, plugin)]
    profile = {
        "plugins": {"multiPoint": {"disabled": [{"name": "*"}], "enabled": enabled}},
        "pluginConfig": list(configs),
    }
    raw = {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile]}
    registry = PluginRegistry([Arrival, Binder, plugin])
    profiles = build_profiles(
        load_configuration(raw, gates=FeatureGates()),
        registry,
        Cluster(ALL_REQUESTS),
        FeatureGates(),
        WaitingPods(),
    )
    return profiles["default-scheduler"]


def test_a_profile_hands_them_to_the_constructor() -> None:
    profile = built(Zones, {"name": "Zones", "args": {"mode": "hard"}})
    assert profile.plugins["Zones"].args == Zones.Args(mode="hard")


def test_an_error_names_the_field_in_the_file() -> None:
    other = {"name": "NodeResourcesFit", "args": {}}
    with pytest.raises(ConfigurationError) as caught:
        built(Zones, other, {"name": "Zones", "args": {"rules": [{"zone": 1}]}})
    (problem,) = caught.value.problems
    assert problem.path == "profiles[0].pluginConfig[1].args.rules[0].zone"
    assert problem.text == "expected `str`, got `int` (plugin Zones)"


def test_an_argument_that_is_missing_altogether_has_a_place_too() -> None:
    with pytest.raises(ConfigurationError) as caught:
        built(Needy)
    assert str(caught.value) == (
        "profiles[0].pluginConfig[].args: object missing required field `must` (plugin Needy)"
    )


def test_a_constructor_that_raises_is_an_error_of_the_configuration() -> None:
    class Moody(Accepting):
        name = "Moody"

        def __init__(self, args: Any, handle: Handle) -> None:
            raise ValueError("not today")

    with pytest.raises(ConfigurationError) as caught:
        built(Moody)
    text = str(caught.value)
    assert text.startswith(
        "initializing profiles: creating profile for scheduler name default-scheduler:"
        ' initializing plugin "Moody": ValueError: not today (test_plugin_arguments.py, line '
    )
    assert isinstance(caught.value.__cause__, ValueError)
