"""Several mistakes in one object are told together, so that a file is mended once."""

from pathlib import Path

import pytest
from support.cli.command_line import node, podium

POD = """
apiVersion: v1
kind: Pod
metadata:
  name: p
  labels: {"bad key!": x}
spec:
  nodeSelektor: {a: b}
  priority: high
  hostNetwork: "yes"
  tolerations: [{operator: Exist}]
  containers:
  - name: c
    imagge: x
    resources: {requests: {cpu: lots}, limitts: {}}
"""

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  replicas: "3"
  replica: 2
  template:
    spec:
      nodeSelektor: {}
      containers:
      - {name: c, resources: {requests: {cpu: lots, memory: 1Gix}}}
"""

TYPES_RIGHT = """
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {"bad key!": x}}
spec:
  nodeSelektor: {a: b}
  tolerations: [{operator: Exist}]
  containers: [{name: c, image: app}]
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            POD,
            (
                'spec.priority: expected an integer, got the string "high"',
                'spec.hostNetwork: expected true or false, got the string "yes"',
                "spec.nodeSelektor: unknown field; did you mean nodeSelector?",
                "spec.containers[0].imagge: unknown field; did you mean image?",
                "spec.containers[0].resources.limitts: unknown field; did you mean limits?",
            ),
        ),
        (
            DEPLOYMENT,
            (
                'spec.replicas: expected an integer, got the string "3"',
                "spec.template.spec.containers[0].resources.requests.cpu: ",
                "spec.template.spec.containers[0].resources.requests.memory: ",
                "spec.replica: unknown field; did you mean replicas?",
                "spec.template.spec.nodeSelektor: unknown field",
            ),
        ),
        (
            TYPES_RIGHT,
            (
                "spec.nodeSelektor: unknown field",
                'metadata.labels: Invalid value: "bad key!": name part must consist of',
                'spec.tolerations[0].operator: Unsupported value: "Exist": supported values: ',
            ),
        ),
    ],
)
def test_all_mistakes_of_an_object_are_told_at_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, told: tuple[str, ...]
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    done = podium(capsys, "simulate", "-f", str(path))
    assert done.code == 2
    for line in told:
        assert f"{path}: {line}" in done.err
    number = done.err.count("\n") - 1
    assert f"podium: {number} problems in the input:" in done.err


def test_with_warn_every_unknown_field_is_a_note(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
        "spec: {nodeSelektor: {}, tolerationz: [], containers: [{name: c, image: app}]}\n"
    )
    nodes = tmp_path / "node.json"
    nodes.write_text(str(node()).replace("'", '"'))
    done = podium(
        capsys, "simulate", "-f", str(path), "-f", str(nodes), "--validation", "warn", "-o", "json"
    )
    notes = done.decoded()["notes"]
    assert [note.split(": ")[1] for note in notes] == ["spec.nodeSelektor", "spec.tolerationz"]
