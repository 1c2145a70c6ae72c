"""Stages as data: what is read, and what is refused."""

import pytest
from support.commands.command_line import EXAMPLES

from podium.golang.errors import InputError
from podium.simulated.nodes.templates import read_templates
from podium.simulated.pods.stage_files import default_stages, read_stages

HEAD = "apiVersion: podium.dev/v1alpha1\nkind: Stage\nmetadata: {name: one}\nspec:\n"
NEXT = "  next: {phase: Running}\n"


def refused(text: str) -> str:
    with pytest.raises(InputError) as caught:
        read_stages(text.encode(), "stages.yaml")
    return str(caught.value)


def test_the_usual_stages_are_read_from_yaml() -> None:
    names = [stage.name for stage in default_stages()]
    assert names[0] == "pod-vanish"
    assert {"pod-reject", "pod-start", "pod-live-on"} <= set(names)


def test_the_examples_are_stages_and_templates() -> None:
    examples = EXAMPLES / "simulated"
    stages = read_stages((examples / "flaky-pods.yaml").read_bytes(), "flaky-pods.yaml")
    assert [stage.name for stage in stages] == ["go", "start", "fail"]
    (template,) = read_templates((examples / "gpu-node.yaml").read_bytes(), "gpu-node.yaml")
    assert template.name == "gpu-{index}"


def test_a_stage_has_conditions_a_delay_and_an_effect() -> None:
    text = (
        HEAD
        + """
  match:
  - {field: status.phase, operator: In, values: [Pending]}
  - {field: 'metadata.annotations["a.b/c"]', operator: Exists}
  delay: {seconds: 2.5, jitterSeconds: 1, secondsFrom: 'metadata.annotations["x"]'}
  chance: 0.25
  next:
    phase: Failed
    reason: Evicted
    conditions: [{type: Ready, status: "False"}]
    containers: {state: terminated, exitCode: 137}
    delete: true
"""
    )
    (stage,) = read_stages(text.encode(), "stages.yaml")
    assert [match.operator for match in stage.matches] == ["In", "Exists"]
    assert stage.matches[1].field.steps == ("metadata", "annotations", "a.b/c")
    assert (stage.delay.seconds, stage.delay.jitter_seconds, stage.chance) == (2.5, 1, 0.25)
    assert stage.effect.removes
    assert stage.effect.containers is not None
    assert stage.effect.containers.exit_code == 137


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("kind: Pod\nmetadata: {name: x}\n", "kind"),
        ("[1]", "is no stage"),
        (HEAD + "  nxet: {}\n", "spec.nxet: unknown field; did you mean next?"),
        (HEAD, "spec.next: does nothing"),
        (HEAD + "  next: {phase: Runing}\n", 'spec.next.phase: "Runing" is not known'),
        (
            HEAD + "  match: [{field: status.phaze, operator: Exists}]\n" + NEXT,
            'spec.match[0].field: "status.phaze": there is no field phaze to go by; did you mean '
            "phase?",
        ),
        (
            HEAD + "  match: [{field: status.phase.x, operator: Exists}]\n" + NEXT,
            "goes on where there is nothing more",
        ),
        (HEAD + "  match: [{field: '', operator: Exists}]\n" + NEXT, "is empty"),
        (HEAD + "  match: [{field: 'a b', operator: Exists}]\n" + NEXT, "makes no sense"),
        (HEAD + "  match: [{field: status.phase, operator: Is}]\n" + NEXT, "use In, NotIn"),
        (HEAD + "  match: [{field: status.phase, operator: In}]\n" + NEXT, "In needs values"),
        (HEAD + "  delay: {seconds: -1}\n" + NEXT, "spec.delay.seconds: -1 is negative"),
        (HEAD + "  delay: {seconds: '1'}\n" + NEXT, "expected a number"),
        (HEAD + "  chance: 2\n" + NEXT, "spec.chance: 2 is no chance"),
        (HEAD + "  next: {containers: {state: up}}\n", "use waiting, running, terminated"),
        (HEAD + "  next: {conditions: [{type: Ready, status: Yes}]}\n", "status"),
        (HEAD + NEXT + "---\n" + HEAD + NEXT, 'there are two stages "one"'),
    ],
)
def test_what_a_stage_cannot_mean_is_refused_with_its_place(text: str, problem: str) -> None:
    told = refused(text)
    assert told.startswith("stages.yaml")
    assert problem in told
