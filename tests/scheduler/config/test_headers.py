"""apiVersion and kind: what they may be, and what is said when they are not."""

import json

import pytest
from support.scheduler.config.known_plugins import in_tree

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.examine import examine

GROUP = "kubescheduler.config.k8s.io"
KIND = "KubeSchedulerConfiguration"
SCHEME = 'in scheme "pkg/scheduler/apis/config/scheme/scheme.go:29"'


def message(text: str) -> str | None:
    return examine(text.encode(), in_tree(), gates=FeatureGates()).message


def of(**fields: object) -> str | None:
    return message(json.dumps({"apiVersion": f"{GROUP}/v1", "kind": KIND, **fields}))


@pytest.mark.parametrize(
    ("api_version", "shown"),
    [
        ("a/b", '"a/b"'),
        ("/v1", '"v1"'),
        ("v1", '"v1"'),
        (f"{GROUP}/v2", f'"{GROUP}/v2"'),
        (f"{GROUP}/V1", f'"{GROUP}/V1"'),
        ('a"b', r'"a\"b"'),
    ],
)
def test_an_unknown_version_is_shown_in_its_canonical_form(api_version: str, shown: str) -> None:
    assert of(apiVersion=api_version) == (
        f'no kind "{KIND}" is registered for version {shown} {SCHEME}'
    )


def test_a_group_without_a_version_is_no_api_version() -> None:
    for api_version in ("/", f"{GROUP}/"):
        found = of(apiVersion=api_version)
        assert found is not None
        assert found.startswith("Object 'apiVersion' is missing in '{")


def test_two_slashes_are_told_before_a_missing_kind() -> None:
    assert message("apiVersion: a/b/c\n") == "unexpected GroupVersion string: a/b/c"


def test_the_case_of_the_two_names_does_not_count_and_is_then_an_unknown_field() -> None:
    assert message(f"apiVersion: {GROUP}/v1\nKind: {KIND}\n") == (
        'strict decoding error: unknown field "Kind"'
    )
    assert message(f"APIVERSION: {GROUP}/v1\nkind: {KIND}\n") == (
        'strict decoding error: unknown field "APIVERSION"'
    )


def test_of_several_spellings_the_last_one_counts() -> None:
    # In YAML the keys come sorted, so `kind` is behind `Kind`.
    assert message('{"kind": "x", "Kind": "y", "apiVersion": "a"}') == (
        f'no kind "y" is registered for version "a" {SCHEME}'
    )
    assert message("kind: x\nKind: w\napiVersion: a\n") == (
        f'no kind "x" is registered for version "a" {SCHEME}'
    )


def test_arguments_in_place_of_a_configuration_are_decoded_before_they_are_refused() -> None:
    head = f"apiVersion: {GROUP}/v1\nkind: InterPodAffinityArgs\n"
    assert message(head) == (
        f"couldn't decode as {KIND}, got {GROUP}/v1, Kind=InterPodAffinityArgs: "
    )
    assert message(head + "foo: 1\n") == 'strict decoding error: unknown field "foo"'
    assert message(head + "hardPodAffinityWeight: x\n") == (
        "json: cannot unmarshal string into Go struct field "
        "InterPodAffinityArgs.hardPodAffinityWeight of type int32"
    )


def test_the_internal_version_has_no_fields_and_no_defaults() -> None:
    head = f"apiVersion: {GROUP}/__internal\nkind: "
    assert message(f"{head}{KIND}\nparallelism: 3\nb: 1\na: 2\n") == (
        'strict decoding error: unknown field "a", unknown field "b", unknown field "parallelism"'
    )
    assert message(f"{head}{KIND}\n") == (
        "[parallelism: Invalid value: 0: should be an integer value greater than zero, "
        "profiles: Required value, "
        "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0]"
    )
    assert message(f"{head}Foo\n") == (
        f'no kind "Foo" is registered for the internal version of group "{GROUP}" {SCHEME}'
    )
    assert message(f"{head}NodeAffinityArgs\n") == (
        f"couldn't decode as {KIND}, got {GROUP}/__internal, Kind=NodeAffinityArgs: "
    )


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (
            {"kind": KIND},
            "args for plugin NodeAffinity were not of type NodeAffinityArgs."
            f"{GROUP}, got {KIND}.{GROUP}",
        ),
        (
            {"apiVersion": "a/b/c"},
            "decoding args for plugin NodeAffinity: unexpected GroupVersion string: a/b/c",
        ),
        (
            {"Kind": "x"},
            f'decoding args for plugin NodeAffinity: no kind "x" is registered for version '
            f'"{GROUP}/v1" {SCHEME}',
        ),
    ],
)
def test_headers_of_arguments_follow_the_same_rules(args: dict[str, str], text: str) -> None:
    assert of(profiles=[{"pluginConfig": [{"name": "NodeAffinity", "args": args}]}]) == (
        f"decoding .profiles[0].pluginConfig[0]: {text}"
    )


def test_a_header_written_twice_in_arguments_is_a_duplicate() -> None:
    entry = '{"name": "NodeAffinity", "args": {"kind": "NodeAffinityArgs", "kind": ""}}'
    found = message(
        f'{{"apiVersion": "{GROUP}/v1", "kind": "{KIND}", '
        f'"profiles": [{{"pluginConfig": [{entry}]}}]}}'
    )
    assert found is not None
    assert found.endswith('strict decoding error: duplicate field "kind"')
