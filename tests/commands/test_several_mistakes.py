"""Several mistakes in one object are told together, so that a file is mended once."""

from pathlib import Path

import pytest
from support.commands.command_line import node, podium

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


POD_V1 = 'Pod in version "v1" cannot be handled as a Pod: '
DEPLOYMENT_V1 = 'Deployment in version "v1" cannot be handled as a Deployment: '


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            POD,
            (
                f"spec.containers[0].resources.requests.cpu: {POD_V1}quantities must match",
                f"spec.priority: {POD_V1}json: cannot unmarshal string into Go struct field"
                " PodSpec.spec.priority of type int32; write an integer",
                f"spec.hostNetwork: {POD_V1}json: cannot unmarshal string into Go struct field"
                " PodSpec.spec.hostNetwork of type bool; write true or false without quotes",
                f'{POD_V1}strict decoding error: unknown field "spec.nodeSelektor", unknown field'
                ' "spec.containers[0].imagge", unknown field'
                ' "spec.containers[0].resources.limitts";'
                " spec.nodeSelektor: did you mean nodeSelector?, spec.containers[0].imagge: did you"
                " mean image?, spec.containers[0].resources.limitts: did you mean limits?",
            ),
        ),
        (
            DEPLOYMENT,
            (
                f"spec.template.spec.containers[0].resources.requests.cpu: {DEPLOYMENT_V1}quantit",
                f"spec.replicas: {DEPLOYMENT_V1}json: cannot unmarshal string into Go struct field"
                " DeploymentSpec.spec.replicas of type int32; write 3 without quotes",
                f"spec.template.spec.containers[0].resources.requests.memory: {DEPLOYMENT_V1}quan",
                f'{DEPLOYMENT_V1}strict decoding error: unknown field "spec.replica", unknown field'
                ' "spec.template.spec.nodeSelektor"; spec.replica: did you mean replicas?',
            ),
        ),
        (
            TYPES_RIGHT,
            (
                f"spec.nodeSelektor: {POD_V1}strict decoding error: unknown field",
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
