"""The loader against what the reference recorded, where that corpus stands next to the project."""

import gzip
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from podium.config import (
    DEFAULT_GATES,
    Configuration,
    ConfigurationError,
    ExtensionPoint,
    FeatureGates,
    PluginListError,
    expand_profiles,
    load_configuration,
)
from podium.config.expand import PointLists

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
PARITY = sorted((SHARED / "parity").glob("*.jsonl.gz"))
CASES = SHARED / "config-cases" / "cases.jsonl"

# What these cases are about happens while text becomes values, before the loader.
ABOUT_TEXT = frozenset(
    {
        "api-version-missing",
        "comment-only",
        "empty-file",
        "garbage-binary",
        "json-duplicate-and-unknown",
        "json-float-for-int",
        "json-trailing-garbage",
        "json-truncated",
        "qps-fraction-exponent",
        "qps-huge",
        "qps-overflow",
        "yaml-boolean-n",
        "yaml-duplicate-and-unknown",
        "yaml-duplicate-key-in-args",
        "yaml-flow-mapping",
        "yaml-integer-octal-0o",
        "yaml-scheduler-name-binary",
        "yaml-tab-after-colon",
        "yaml-tab-indent",
        "yaml-unclosed-bracket",
    }
)
# A file system or a cluster would have to be asked.
ABOUT_CLIENTS = frozenset({"kubeconfig-empty-string", "kubeconfig-missing", "no-client-connection"})
# Upstream's internal version; nobody writes it.
NOT_KEPT = frozenset({"api-version-internal"})

NO_EXTENDERS = "couldn't build extenders: scheduler extenders are not supported yet"


@pytest.mark.skipif(not PARITY, reason="the parity corpus is not here")
@pytest.mark.parametrize("family", PARITY, ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_every_configuration_of_the_parity_corpus_loads(family: Path) -> None:
    with gzip.open(family, "rt") as lines:
        cases = [json.loads(line) for line in lines]
    assert cases
    for case in cases:
        configuration = load_configuration(case["config"], source=case["name"])
        assert configuration.profiles


@cache
def recorded() -> tuple[dict[str, Any], ...]:
    if not CASES.exists():
        return ()
    return tuple(map(json.loads, CASES.read_text().splitlines()))


def within_reach() -> list[dict[str, Any]]:
    left_out = ABOUT_TEXT | ABOUT_CLIENTS | NOT_KEPT
    return [case for case in recorded() if case["name"] not in left_out]


def named(case: dict[str, Any]) -> str:
    return str(case["name"])


def document(case: dict[str, Any]) -> Any:
    if case["format"] == "json":
        return json.loads(case["file"])
    return sorted_by_key(next(iter(yaml.safe_load_all(case["file"]))))


def sorted_by_key(value: Any) -> Any:
    """Upstream turns YAML into JSON first, which sorts the keys of every object."""
    if isinstance(value, dict):
        return {key: sorted_by_key(value[key]) for key in sorted(value, key=str)}
    return [sorted_by_key(entry) for entry in value] if isinstance(value, list) else value


def gates(case: dict[str, Any]) -> FeatureGates:
    flag = "--feature-gates="
    settings = ",".join(f.removeprefix(flag) for f in case["flags"] if f.startswith(flag))
    pairs = (setting.split("=") for setting in settings.split(",") if setting)
    return DEFAULT_GATES.with_overrides({name: value == "true" for name, value in pairs})


@cache
def seen_at() -> dict[str, set[str]]:
    """Which plugins implement a point, going by all the cases in which one ran there."""
    at: dict[str, set[str]] = {point.value: set() for point in ExtensionPoint}
    for case in recorded():
        for profile in case["expanded"] or ():
            for point, plugins in profile.items():
                at[point].update(p if isinstance(p, str) else p[0] for p in plugins)
    return at


def implements(name: str, point: ExtensionPoint) -> bool:
    return name in seen_at()[point]


def exists(name: str) -> bool:
    return any(name in names for names in seen_at().values())


def load(case: dict[str, Any]) -> tuple[Configuration, Mapping[str, PointLists]] | str:
    """The configuration with its plugin lists, or the text of the refusal."""
    try:
        configuration = load_configuration(document(case), gates=gates(case))
        return configuration, expand_profiles(configuration, implements, exists)
    except ConfigurationError as error:
        return error.message
    except PluginListError as error:
        return str(error)


@pytest.mark.skipif(not recorded(), reason="the configuration corpus is not here")
@pytest.mark.parametrize("case", within_reach(), ids=named)
def test_a_recorded_case_ends_as_it_did_upstream(case: dict[str, Any]) -> None:
    outcome = load(case)
    if outcome == NO_EXTENDERS:
        pytest.skip("extenders are not there yet")
    if isinstance(outcome, str):
        assert outcome == case["message"]
        return
    configuration, lists = outcome
    assert case["message"] is None
    assert [
        {
            point.value: [[p.name, p.weight] if point.is_weighted else p.name for p in found]
            for point, found in profile.items()
            if found
        }
        for profile in lists.values()
    ] == case["expanded"]
    if "--leader-elect=false" not in case["flags"]:
        effective = load_configuration(case["effective"], gates=gates(case))
        assert in_use(configuration) == in_use(effective)


def in_use(configuration: Configuration) -> Any:
    """A configuration with only the arguments that some plugin reads, in no order."""
    return (
        [
            {
                name: args
                for name, args in profile.plugin_args.items()
                if name in profile.plugins.enabled_names()
            }
            for profile in configuration.profiles
        ],
        [profile.plugins for profile in configuration.profiles],
        [
            (profile.scheduler_name, profile.percentage_of_nodes_to_score)
            for profile in configuration.profiles
        ],
        configuration.leader_election,
        configuration.client_connection,
        (configuration.parallelism, configuration.percentage_of_nodes_to_score),
        (configuration.pod_initial_backoff_seconds, configuration.pod_max_backoff_seconds),
        (configuration.enable_profiling, configuration.enable_contention_profiling),
        configuration.delay_cache_until_active,
    )
