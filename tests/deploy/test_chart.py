"""The chart says what the kustomizations say, and its values are checked before they are used."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.commands.document_schemas import schema_problems
from support.deploy.chart_rendering import (
    CHART,
    Values,
    default_values,
    render_chart,
    render_template,
)
from support.deploy.shipped_manifests import (
    DEPLOY,
    Manifest,
    one,
    rendered,
    written_with_components,
)

from podium import __version__
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration

SCHEMA = json.loads((CHART / "values.schema.json").read_text())
CHECKSUM = "checksum/config"
REPLACING: Values = {
    "leaseName": "kube-scheduler",
    "profiles": [{"schedulerName": "default-scheduler"}],
}


def by_name(manifests: list[Manifest]) -> dict[tuple[str, str], Manifest]:
    """Without the checksum by which the chart rolls out another configuration: kustomizations have
    it in the name of the ConfigMap."""
    for each in manifests:
        if each["kind"] == "Deployment":
            annotations = each["spec"]["template"]["metadata"].get("annotations", {})
            if annotations.pop(CHECKSUM, None) and not annotations:
                del each["spec"]["template"]["metadata"]["annotations"]
    return {(each["kind"], each["metadata"]["name"]): each for each in manifests}


def test_the_chart_as_it_is_equals_the_second_scheduler() -> None:
    assert by_name(render_chart({})) == by_name(rendered(DEPLOY / "second-scheduler"))


def test_the_chart_with_everything_equals_the_second_scheduler_with_components(
    tmp_path: Path,
) -> None:
    components = ("scheduler-plugins", "gpu-share", "page", "service-monitor", "prometheus-rule")
    place = written_with_components(tmp_path, "second-scheduler", *components)
    wanted = [each for each in rendered(place) if each["kind"] != "CustomResourceDefinition"]
    found = render_chart(
        {
            name: {"enabled": True}
            for name in ("schedulerPlugins", "gpuShare", "page", "serviceMonitor", "prometheusRule")
        }
    )
    assert by_name(found) == by_name(wanted)


def test_the_chart_can_replace_kube_scheduler() -> None:
    found, wanted = render_chart(REPLACING), rendered(DEPLOY / "replace-kube-scheduler")
    for kind in ("ConfigMap", "Role"):
        assert one(found, kind) == one(wanted, kind)


def test_values_reach_the_scheduler() -> None:
    values: Values = {
        "image": {"repository": "mirror/podium", "tag": "9"},
        "replicas": 3,
        "extraArgs": ["--feature-gates=GenericWorkload=true"],
        "tolerations": [{"operator": "Exists"}],
        "nodeSelector": {"pool": "system"},
        "configuration": {"percentageOfNodesToScore": 50},
    }
    assert list(schema_problems(values, SCHEMA)) == []
    found = render_chart(values, "batch")
    deployment = one(found, "Deployment", "batch")["spec"]
    assert deployment["replicas"] == 3
    pod = deployment["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == "mirror/podium:9"
    assert container["args"][-1] == "--feature-gates=GenericWorkload=true"
    assert pod["tolerations"] == [{"operator": "Exists"}]
    assert pod["nodeSelector"] == {"kubernetes.io/os": "linux", "pool": "system"}
    assert pod["serviceAccountName"] == one(found, "ServiceAccount")["metadata"]["name"] == "batch"
    text = one(found, "ConfigMap", "batch")["data"]["scheduler.yaml"]
    assert yaml.safe_load(text)["percentageOfNodesToScore"] == 50


def test_the_configuration_is_one_that_podium_takes() -> None:
    text = one(render_chart({}), "ConfigMap")["data"]["scheduler.yaml"]
    loaded = load_configuration(yaml.safe_load(text), gates=FeatureGates())
    assert [profile.scheduler_name for profile in loaded.profiles] == ["podium"]


def test_the_schema_takes_the_values_of_the_chart_and_knows_all_of_them() -> None:
    assert list(schema_problems(default_values(), SCHEMA)) == []
    assert {*SCHEMA["properties"]} == {*default_values(), "global"}


@pytest.mark.parametrize(
    "values",
    [
        {"replica": 2},
        {"replicas": -1},
        {"replicas": "two"},
        {"image": {"name": "podium"}},
        {"image": {"pullPolicy": "Sometimes"}},
        {"profiles": []},
        {"extraArgs": ["v=2"]},
        {"configuration": {"profiles": []}},
        {"serviceMonitor": {"interval": "soon"}},
    ],
    ids=str,
)
def test_the_schema_refuses(values: dict[str, Any]) -> None:
    assert list(schema_problems(values, SCHEMA))


def test_versions_are_those_of_podium() -> None:
    metadata = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert metadata["version"] == metadata["appVersion"] == __version__
    assert default_values()["image"]["tag"] == __version__


def test_what_the_renderer_does_not_know_is_an_error() -> None:
    for template in (
        "{{ .Values.x | upper }}",
        "{{ range .Values.x }}{{ end }}",
        "{{ if .Values }}",
    ):
        with pytest.raises((AssertionError, KeyError)):
            render_template(template, {"Values": {"x": [1]}})


def deployment(values: Values) -> Manifest:
    return one(render_chart(values), "Deployment")


def test_another_configuration_rolls_out_other_pods() -> None:
    first, second = (
        deployment(values)["spec"]["template"]["metadata"]["annotations"][CHECKSUM]
        for values in ({}, {"configuration": {"parallelism": 8}})
    )
    assert first != second


def test_a_plugin_of_ones_own_is_mounted_and_private_images_are_pulled() -> None:
    volume = {"name": "plugins", "configMap": {"name": "my-plugins"}}
    mount = {"name": "plugins", "mountPath": "/plugins", "readOnly": True}
    template = deployment(
        {
            "imagePullSecrets": [{"name": "registry"}],
            "extraVolumes": [volume],
            "extraVolumeMounts": [mount],
            "extraArgs": ["--plugin=/plugins/mine.py"],
            "podAnnotations": {"team": "platform"},
        }
    )["spec"]["template"]
    assert template["metadata"]["annotations"]["team"] == "platform"
    assert template["spec"]["imagePullSecrets"] == [{"name": "registry"}]
    assert template["spec"]["volumes"][-1] == volume
    (container,) = template["spec"]["containers"]
    assert container["volumeMounts"][-1] == mount
    assert container["args"][-1] == "--plugin=/plugins/mine.py"


def test_alerts_ask_for_the_release() -> None:
    rule = one(render_chart({"prometheusRule": {"enabled": True}}, "mine"), "PrometheusRule")
    first = rule["spec"]["groups"][0]["rules"][0]
    assert first["expr"] == 'absent(up{job="mine"} == 1)'


def test_the_notes_name_the_release() -> None:
    values = default_values()
    release = {"Name": "mine", "Namespace": "kube-system", "Service": "Helm"}
    context = {"Values": values, "Release": release}
    notes = render_template((CHART / "templates" / "NOTES.txt").read_text(), context)
    assert "rollout status deployment/mine" in notes
