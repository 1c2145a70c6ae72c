"""The transcripts of a real API server: what is in the archive, and how answers are judged."""

from collections import Counter
from typing import Any

import pytest
from support.apiserver.apiserver_cases import transcripts
from support.apiserver.transcript_normalising import Normaliser
from support.apiserver.transcript_replay import has_right_outcome, matches

URL = "https://127.0.0.1:6443"
OVER_HTTP = ("http", "watch_start", "watch_collect")


def normaliser_of(case: dict[str, Any], step: dict[str, Any]) -> Normaliser:
    keeps = case.get("managedFields") == "keep"
    rules = [*case.get("normalise", ()), *step.get("normalise", ())]
    return Normaliser(URL, rules, keeps_managers=keeps)


def test_the_archive_has_as_many_steps_as_the_documentation_says() -> None:
    kinds = Counter(
        step["kind"] in OVER_HTTP
        for case in transcripts().values()
        for step in case["steps"]
        if "expect" in step
    )
    assert kinds == {True: 698, False: 426}


def test_recorded_answers_are_normalised() -> None:
    for case in transcripts().values():
        for step in case["steps"]:
            expected = step.get("expect", {})
            normaliser = normaliser_of(case, step)
            at = (case["name"], step["id"])
            for part in ("body", "events", "stdoutJSON"):
                if not isinstance(expected.get(part), str):
                    assert normaliser.json(expected.get(part)) == expected.get(part), at
            for text in (expected.get("stdout", ""), expected.get("stderr", "")):
                assert normaliser.text(text) == text, at


@pytest.mark.parametrize(
    ("mode", "answer", "same"),
    [
        ("exact", {"status": 200, "body": {"a": [1, 2], "b": 1}}, True),
        ("exact", {"status": 200, "body": {"a": [1, 2], "b": 1, "c": 1}}, False),
        ("contains", {"status": 200, "body": {"a": [3, 2, 1], "b": 1, "c": 1}}, True),
        ("contains", {"status": 200, "body": {"a": [1], "b": 1}}, False),
        ("keys", {"status": 200, "body": {"a": None, "b": None}}, True),
        ("keys", {"status": 200, "body": {"a": [1, 2]}}, False),
        ("status", {"status": 200, "body": None}, True),
        ("status", {"status": 404, "body": {"a": [1, 2], "b": 1}}, False),
    ],
)
def test_an_answer_is_compared_as_its_step_says(
    mode: str, answer: dict[str, Any], same: bool
) -> None:
    expected = {"status": 200, "body": {"a": [1, 2], "b": 1}}
    assert matches(mode, expected, answer) == same


def test_the_outcome_of_a_watch_is_the_types_of_its_events() -> None:
    expected = {"events": [{"type": "ADDED", "object": 1}, {"type": "DELETED", "object": 1}]}
    others = {"events": [{"type": "ADDED", "object": 2}, {"type": "DELETED", "object": 2}]}
    assert has_right_outcome(expected, others)
    assert not has_right_outcome(expected, {"events": others["events"][:1]})


def test_what_differs_between_two_runs_becomes_a_placeholder() -> None:
    found = Normaliser(URL, [["red|blue", "<COLOUR>"]]).json(
        {
            "metadata": {
                "generateName": "job-",
                "name": "job-x7k2p",
                "uid": "8d7f9a3e-0000-4000-8000-000000000000",
                "resourceVersion": "17",
                "creationTimestamp": "2026-01-01T00:00:00Z",
                "managedFields": [{"manager": "kubectl"}],
            },
            "spec": {"clusterIP": "10.0.0.7", "ports": [{"nodePort": 30123, "port": 80}]},
            "note": "painted red",
        }
    )
    assert found == {
        "metadata": {
            "generateName": "job-",
            "name": "job-<RAND>",
            "uid": "<UID>",
            "resourceVersion": "<RV>",
            "creationTimestamp": "<TIME>",
        },
        "spec": {"clusterIP": "<CLUSTER_IP>", "ports": [{"nodePort": "<NODE_PORT>", "port": 80}]},
        "note": "painted <COLOUR>",
    }


def test_text_loses_ages_addresses_and_the_width_of_columns() -> None:
    printed = f"NAME     AGE\nweb-1s   2m3s\n{URL}/api\nResource Version:  17\n"
    assert Normaliser(URL).text(printed) == (
        "NAME   AGE\nweb-1s   <AGE>\n<SERVER>/api\nResource Version:   <RV>\n"
    )
