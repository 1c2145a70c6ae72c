"""All mistakes at once, each with its place and with what would be right."""

import json
from typing import Any

import pytest
from support.scheduler.config.known_plugins import in_tree

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.examine import MAX_TOLD, ConfigurationMistake, Examination, examine

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def examined(text: str) -> Examination:
    return examine(text.encode(), in_tree(), gates=FeatureGates())


def mistakes(text: str) -> tuple[ConfigurationMistake, ...]:
    return examined(text).mistakes


def as_json(**fields: Any) -> str:
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return json.dumps({**head, **fields}, indent=1)


def test_all_values_of_a_wrong_type_are_told_and_the_first_one_is_upstream_s() -> None:
    found = examined(HEADER + "parallelism: four\npercentageOfNodesToScore: [1]\nfoo: 1\n")
    assert found.message == (
        "json: cannot unmarshal string into Go struct field "
        "KubeSchedulerConfiguration.parallelism of type int32"
    )
    assert [(m.line, m.sentence) for m in found.mistakes] == [
        (3, "parallelism: is a text, must be an integer"),
        (4, "percentageOfNodesToScore: is a list, must be an integer"),
        (5, "foo: unknown field"),
    ]


def test_a_duration_that_is_none_ends_the_decoding_and_is_told_first() -> None:
    found = examined(
        HEADER + "clientConnection: {burst: x}\nleaderElection: {leaseDuration: soon}\n"
    )
    assert found.message == 'time: invalid duration "soon"'
    assert [m.path for m in found.mistakes] == [
        "leaderElection.leaseDuration",
        "clientConnection.burst",
    ]


def test_arguments_of_several_plugins_are_told_together() -> None:
    found = examined(
        HEADER
        + """\
profiles:
- pluginConfig:
  - name: NodeAffinity
    args: {foo: 1}
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: x}
  - name: DynamicResources
    args:
      filterTimeout: 5
"""
    )
    assert found.message == (
        "decoding .profiles[0].pluginConfig[1]: decoding args for plugin InterPodAffinity: json: "
        "cannot unmarshal string into Go struct field InterPodAffinityArgs.hardPodAffinityWeight "
        "of type int32"
    )
    assert [(m.line, m.path) for m in found.mistakes] == [
        (8, "profiles[0].pluginConfig[1].args.hardPodAffinityWeight"),
        (11, "profiles[0].pluginConfig[2].args.filterTimeout"),
        (6, "profiles[0].pluginConfig[0].args.foo"),
    ]


def test_every_entry_of_every_plugin_list_is_looked_at() -> None:
    found = examined(
        HEADER
        + """\
profiles:
- plugins:
    filter:
      enabled:
      - name: NodeNam
      - name: ImageLocality
      - name: NodePorts
      - name: NodePorts
    multiPoint:
      enabled:
      - name: Foo
"""
    )
    assert found.message == (
        "initializing profiles: creating profile for scheduler name default-scheduler: "
        'FilterPlugin "NodeNam" does not exist'
    )
    assert [(m.line, m.text, m.remedy) for m in found.mistakes[:3]] == [
        (7, 'FilterPlugin "NodeNam" does not exist', "did you mean NodeName?"),
        (8, 'plugin "ImageLocality" does not extend FilterPlugin plugin', "it runs at score"),
        (10, 'plugin "NodePorts" already registered as "FilterPlugin"', "list it once"),
    ]
    assert found.mistakes[3].line == 13
    assert found.mistakes[3].text == 'PreFilterPlugin "Foo" does not exist'
    assert "--plugin" in found.mistakes[3].remedy


def test_what_would_show_only_later_is_told_with_the_rest() -> None:
    fit = {"scoringStrategy": {"type": "MostAlocated"}}
    found = examined(
        as_json(
            parallelism=0,
            profiles=[
                {
                    "plugins": {"score": {"enabled": [{"name": "NodeName"}]}},
                    "pluginConfig": [{"name": "NodeResourcesFit", "args": fit}],
                }
            ],
        )
    )
    assert found.message == (
        "parallelism: Invalid value: 0: should be an integer value greater than zero"
    )
    paths = [m.path for m in found.mistakes]
    assert paths == [
        "parallelism",
        "profiles[0].pluginConfig[0].args.scoringStrategy.type",
        "profiles[0].plugins.score.enabled[0]",
    ]
    assert found.mistakes[1].remedy == "did you mean MostAllocated?"


def test_lines_are_known_in_json_too() -> None:
    (mistake,) = mistakes(as_json(profiles=[{"percentageOfNodesToScore": 101}]))
    assert mistake.line == 6


def test_a_key_written_twice_is_told_at_its_line() -> None:
    (mistake,) = mistakes(HEADER + "parallelism: 1\nparallelism: 2\n")
    assert mistake == ConfigurationMistake(
        'key "parallelism" already set in map', line=4, remedy="remove one of the two"
    )


def test_a_syntax_error_has_one_line_number_and_it_is_the_right_one() -> None:
    found = examined("a: 1\nb: [1\nc: 2\n")
    assert found.message == "yaml: line 2: did not find expected ',' or ']'"
    (mistake,) = found.mistakes
    assert (mistake.line, mistake.text) == (3, "yaml: did not find expected ',' or ']'")


def test_the_whole_file_is_not_repeated_to_people() -> None:
    found = examined("parallelism: 3\n")
    assert found.message == "Object 'Kind' is missing in 'parallelism: 3\n'"
    assert found.mistakes[0].text == "Object 'Kind' is missing"


def test_there_is_an_end_to_what_is_told() -> None:
    found = examined(as_json(**{f"field{i}": 1 for i in range(MAX_TOLD + 20)}))
    assert len(found.mistakes) == MAX_TOLD + 1
    assert found.mistakes[-1].text == "and 20 more problems"


@pytest.mark.parametrize(
    ("fields", "errors"),
    [
        ({}, []),
        ({"parallelism": 0}, 1),
        ({"foo": 1, "bar": 2}, 1),
        ({"parallelism": 0, "percentageOfNodesToScore": 101}, 3),
    ],
)
def test_errors_are_the_message_and_its_parts(fields: dict[str, Any], errors: Any) -> None:
    found = examined(as_json(**fields))
    if not errors:
        assert found.errors == []
        return
    assert found.errors[0] == found.message
    assert len(found.errors) == errors
    assert all(part in found.errors[0] for part in found.errors)


def test_profiles_are_built_one_after_another() -> None:
    bad_args = [{"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "X"}}}]
    unknown = {"filter": {"enabled": [{"name": "Nope"}]}}
    first = {"schedulerName": "a", "plugins": unknown}
    second = {"schedulerName": "b", "pluginConfig": bad_args}
    start = "initializing profiles: creating profile for scheduler name "
    assert examined(as_json(profiles=[first, second])).message == (
        f'{start}a: FilterPlugin "Nope" does not exist'
    )
    message = examined(as_json(profiles=[second, first])).message
    assert message is not None
    assert message.startswith(f'{start}b: initializing plugin "NodeResourcesFit": ')
