"""Files to objects: what is read, what is passed over, what is refused."""

import io
import json
import sys
from pathlib import Path

import pytest

from podium.golang.errors import InputError
from podium.kubernetes.controllers.workloads import Deployment, Job
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.input_files import InputProblems, Problems
from podium.offline.simulate.inputs import FieldValidation, Inputs, documents_in, read_inputs

POD = """
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec: {containers: [{name: main, image: app}]}
"""


def read(*paths: Path | str, validation: FieldValidation = FieldValidation.STRICT) -> Inputs:
    problems = Problems()
    inputs = read_inputs(
        map(str, paths), gates=FeatureGates(), validation=validation, problems=problems
    )
    problems.raise_if_any()
    return inputs


def names(inputs: Inputs) -> list[str]:
    return [item.value.metadata.name for item in inputs.items]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def refusal(path: Path, text: str, validation: FieldValidation = FieldValidation.STRICT) -> str:
    write(path, text)
    with pytest.raises(InputError) as caught:
        read(path, validation=validation)
    return str(caught.value)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "input.yaml"


def test_several_documents_of_several_files_come_in_the_order_given(tmp_path: Path) -> None:
    first = write(tmp_path / "z.yaml", POD % "one" + "---" + POD % "two")
    second = write(tmp_path / "a.yaml", POD % "three")
    assert names(read(first, second)) == ["one", "two", "three"]


def test_a_directory_is_read_recursively_in_sorted_order(tmp_path: Path) -> None:
    write(tmp_path / "b.yml", POD % "b")
    write(tmp_path / "a" / "deep.yaml", POD % "deep")
    write(
        tmp_path / "c.json",
        json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}),
    )
    write(tmp_path / "notes.txt", "not YAML: [")
    assert names(read(tmp_path)) == ["deep", "b", "n"]


def test_a_file_that_is_given_twice_is_read_once(tmp_path: Path) -> None:
    path = write(tmp_path / "a.yaml", POD % "one")
    assert names(read(tmp_path, path)) == ["one"]


def test_a_kubectl_dump_is_a_list_of_items(file: Path) -> None:
    items = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "managedFields": [{}]}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p1"}, "spec": {}},
    ]
    dump = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items}
    write(file, json.dumps(dump))
    found = read(file)
    assert [type(item.value) for item in found.items] == [Node, Pod]


def test_standard_input_is_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO((POD % "piped").encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert names(read("-")) == ["piped"]


def test_controllers_are_read_with_their_templates(file: Path) -> None:
    write(
        file,
        """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 2, template: {spec: {containers: [{name: main, image: app}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec: {template: {spec: {containers: [{name: main, image: app}]}}}
""",
    )
    assert [type(item.value) for item in read(file).items] == [Deployment, Job]


def test_kinds_that_scheduling_does_not_read_are_counted(file: Path) -> None:
    write(
        file,
        """
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: c}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: d}
""",
    )
    assert read(file).passed_over == {"ConfigMap": 2, "PodMonitor": 1, "ClusterRole": 1}


def test_generate_name_becomes_the_same_name_every_time(file: Path) -> None:
    write(file, POD.replace("{name: %s}", "{generateName: batch-}"))
    first, second = names(read(file)), names(read(file))
    assert first == second
    assert first[0].startswith("batch-")


@pytest.mark.parametrize(
    ("kind", "api_version", "told"),
    [
        ("Podd", "v1", 'no matches for kind "Podd" in version "v1"; did you mean Pod?'),
        ("pod", "v1", "did you mean Pod?"),
        ("Deploymnt", "apps/v1", "did you mean Deployment?"),
        ("StorageClas", "storage.k8s.io/v1", "did you mean StorageClass?"),
        ("Sandwich", "v1", "check the spelling of kind and apiVersion"),
        ("Deployment", "extensions/v1beta1", "write it as apps/v1"),
        ("Pod", "v2", "write it as v1"),
        ("KubeSchedulerConfiguration", "kubescheduler.config.k8s.io/v1", "--config"),
    ],
)
def test_a_kind_that_does_not_exist_is_a_mistake(
    file: Path, kind: str, api_version: str, told: str
) -> None:
    text = f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\n"
    assert told in refusal(file, text)


def test_a_wrong_quantity_is_told_with_file_document_and_path(file: Path) -> None:
    bad = POD.replace("image: app", "image: app, resources: {requests: {memory: 1Gb}}") % "bad"
    told = refusal(file, POD % "good" + "---" + bad)
    assert told.startswith(f"{file}: document 2 (line ")
    assert "spec.containers[0].resources.requests.memory: Pod in version" in told
    assert "cannot be handled as a Pod: quantities must match the regular expression" in told
    assert told.endswith("; write a quantity such as 500m, 2 or 1Gi")


def test_a_selector_value_that_is_no_string_is_refused(file: Path) -> None:
    told = refusal(file, (POD % "a").replace("spec: {", "spec: {nodeSelector: {ssd: true}, "))
    assert told == (
        f'{file}: spec.nodeSelector.ssd: Pod in version "v1" cannot be handled as a Pod: json:'
        " cannot unmarshal bool into Go struct field PodSpec.spec.nodeSelector of type string; put"
        " the value in quotes"
    )


UNKNOWN_FIELD = (POD % "a").replace("spec: {", "spec: {nodeSelecter: {a: b}, ")


def test_an_unknown_field_is_refused_with_the_field_that_was_meant(file: Path) -> None:
    assert refusal(file, UNKNOWN_FIELD) == (
        f'{file}: spec.nodeSelecter: Pod in version "v1" cannot be handled as a Pod: strict'
        ' decoding error: unknown field "spec.nodeSelecter"; did you mean nodeSelector?'
    )


def test_unknown_fields_of_an_object_are_told_together_as_the_server_tells_them(file: Path) -> None:
    told = refusal(file, UNKNOWN_FIELD.replace("spec: {", "spec: {zzz: 1, ", 1))

    assert told == (
        f'{file}: Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown'
        ' field "spec.zzz", unknown field "spec.nodeSelecter"; spec.zzz: remove it, or check its'
        " indentation, spec.nodeSelecter: did you mean nodeSelector?"
    )


def test_what_the_server_would_say_next_is_told_as_well(file: Path) -> None:
    wrong = UNKNOWN_FIELD.replace("image: app", "image: 5, resources: {requests: {memory: 1Gb}}")
    with pytest.raises(InputProblems) as caught:
        read(write(file, wrong))

    paths = [each.path for each in caught.value.problems]
    # A type that decodes itself ends Go's reading, so its mistake is what the server tells.
    assert paths == [
        "spec.containers[0].resources.requests.memory",
        "spec.containers[0].image",
        "spec.nodeSelecter",
    ]


def test_an_unknown_field_can_be_a_warning(file: Path) -> None:
    found = read(write(file, UNKNOWN_FIELD), validation=FieldValidation.WARN)
    assert names(found) == ["a"]
    assert found.warnings == [
        f'{file}: spec.nodeSelecter: unknown field "spec.nodeSelecter"; did you mean nodeSelector?'
    ]


def test_an_unknown_field_can_be_ignored(file: Path) -> None:
    found = read(write(file, UNKNOWN_FIELD), validation=FieldValidation.IGNORE)
    assert names(found) == ["a"]
    assert not found.warnings


def test_an_unknown_field_in_a_status_is_no_mistake(file: Path) -> None:
    write(file, POD % "a" + "status: {phase: Running, fromTheFuture: true}\n")
    assert names(read(file)) == ["a"]


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.yaml: cannot be read: no such file"):
        read(tmp_path / "nothing.yaml")


def test_a_file_that_may_not_be_read_is_told(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_path: str, _limit: int) -> bytes:
        raise PermissionError(13, "Permission denied")

    write(file, POD % "a")
    monkeypatch.setattr("podium.net.files.bounded_files.read_file", refuse)
    with pytest.raises(InputError, match=r"input\.yaml: cannot be read: permission denied"):
        read(file)


def test_a_directory_without_files_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no \.yaml, \.yml or \.json files"):
        read(tmp_path)


def test_an_alias_bomb_is_refused(file: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "aliases" in refusal(file, "\n".join(lines))


def test_a_document_that_is_no_object_is_refused(file: Path) -> None:
    assert 'expected a Kubernetes object, got the string "hello"' in refusal(file, "hello")


def test_all_problems_of_all_files_are_told_together(tmp_path: Path) -> None:
    one = write(tmp_path / "one.yaml", "apiVersion: v1\nkind: Podd\nmetadata: {name: a}\n")
    two = write(tmp_path / "two.yaml", UNKNOWN_FIELD)
    with pytest.raises(InputProblems) as caught:
        read(one, tmp_path / "three.yaml", two)
    told = str(caught.value).splitlines()
    assert told[0] == "3 problems in the input:"
    assert [line.split(":")[0].rpartition("/")[2] for line in told[1:]] == [
        "one.yaml",
        "three.yaml",
        "two.yaml",
    ]


def test_a_flood_of_problems_is_cut(file: Path) -> None:
    text = "---".join("\napiVersion: v1\nkind: Podd\nmetadata: {name: a}\n" for _ in range(25))
    told = refusal(file, text).splitlines()
    assert len(told) == 22
    assert told[-1] == "  ... and 5 more"


STATEFUL_SET = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  template:
    metadata: {creationTimestamp: null, labels: {app: db}}
    spec: {TEMPLATE}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {CLAIM}
"""


def stateful_set(template: str = "containers: []", claim: str = "accessModes: []") -> str:
    return STATEFUL_SET.replace("TEMPLATE", template).replace("CLAIM", claim)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            stateful_set("nodeSelecter: {a: b}"),
            'unknown field "spec.template.spec.nodeSelecter"; did you mean nodeSelector?',
        ),
        (
            stateful_set("nodeSelector: {ssd: true}"),
            "spec.template.spec.nodeSelector.ssd: StatefulSet in version",
        ),
        (
            stateful_set("containers: [{name: c, resources: {requests: {memory: 1Gb}}}]"),
            "spec.template.spec.containers[0].resources.requests.memory: StatefulSet in version",
        ),
        (
            stateful_set(claim="storageClas: fast"),
            'unknown field "spec.volumeClaimTemplates[0].spec.storageClas"',
        ),
        (
            stateful_set(claim="resources: {requests: {storage: 1Gb}}"),
            "spec.volumeClaimTemplates[0].spec.resources.requests.storage: StatefulSet in version",
        ),
    ],
)
def test_what_is_wrong_in_a_template_is_told_with_its_path(
    file: Path, text: str, problem: str
) -> None:
    assert problem in refusal(file, text)


def test_an_unknown_field_in_a_template_can_be_a_warning_or_ignored(file: Path) -> None:
    write(file, stateful_set("nodeSelecter: {a: b}"))
    (warning,) = read(file, validation=FieldValidation.WARN).warnings
    assert 'unknown field "spec.template.spec.nodeSelecter"' in warning
    assert read(file, validation=FieldValidation.IGNORE).warnings == []


# --- files of earlier releases ------------------------------------------------------------------

OLD_CLASS = {"apiVersion": "v1", "kind": "PriorityClass", "metadata": {"name": "p"}, "value": 7}


def test_documents_that_are_to_be_applied_are_respelled_and_told_of(tmp_path: Path) -> None:
    file = tmp_path / "class.json"
    file.write_text(json.dumps(OLD_CLASS))
    told: list[InputError] = []
    (document,) = documents_in([str(file)], told.append)
    assert isinstance(document.value, dict)
    assert document.value["apiVersion"] == "scheduling.k8s.io/v1"
    assert [problem.path for problem in told] == ["apiVersion"]
    with pytest.raises(InputError, match="PriorityClass is not in v1; write scheduling"):
        documents_in([str(file)])


WRONG_PODS = (
    {"spec": {"containers": [{"name": "main", "imgae": "app"}]}},
    {"spec": {"containers": [{"name": "main", "image": 5}], "priority": "high"}},
    {"spec": {"containers": [{"resources": {"requests": {"cpu": "lots"}}}]}},
    {"spec": {"tolerations": [{"key": "node.alpha.kubernetes.io/notReady"}]}},
    {"metadata": {"resourceVersion": "5"}, "spec": {"nodename": "n1"}},
    {"metadata": {"name": None}},
    {"kind": "Podd"},
    {"kind": "Secret"},
    {"apiVersion": None},
)


@pytest.mark.parametrize("wrong", WRONG_PODS)
@pytest.mark.parametrize("validation", [FieldValidation.STRICT, FieldValidation.WARN])
def test_a_json_list_is_told_the_same_as_a_yaml_list(
    wrong: dict[str, dict[str, str]], validation: FieldValidation, tmp_path: Path
) -> None:
    metadata = {"name": "a", **wrong.get("metadata", {})}
    pod = {"apiVersion": "v1", "kind": "Pod", **wrong, "metadata": metadata}
    sound = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}}
    listed = {"apiVersion": "v1", "kind": "List", "items": [sound, pod]}
    told = []
    # YAML goes the careful way with every item; a line that JSON has not makes it YAML.
    for text in (json.dumps(listed), "# as YAML\n" + json.dumps(listed)):
        path = write(tmp_path / "input.json", text)
        problems = Problems()
        inputs = read_inputs(
            [str(path)], gates=FeatureGates(), validation=validation, problems=problems
        )
        try:
            problems.raise_if_any()
            problem = ""
        except InputError as found:
            problem = str(found)
        items = [(item.document.place, item.value) for item in inputs.items]
        told.append((problem, items, inputs.warnings, inputs.old_spellings, inputs.passed_over))
    first, second = told
    assert [*map(str, first[3])] == [*map(str, second[3])]
    assert (first[:3], first[4]) == (second[:3], second[4])


def test_tests_of_helm_are_left_out_of_a_json_list(tmp_path: Path) -> None:
    metadata = {"name": "t", "annotations": {"helm.sh/hook": "test"}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
    path = write(tmp_path / "input.json", json.dumps({"kind": "List", "items": [pod]}))
    inputs = read(path)
    assert inputs.items == []
    assert inputs.helm_tests == {"Pod": 1}
