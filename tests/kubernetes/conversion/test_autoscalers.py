"""Autoscalers in two versions: one object, shown, written, watched and owned in both."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.apiserver.api_calls import APPLY, MERGE, Api
from support.apiserver.schema_values import objects_of

from podium.kubernetes.conversion.autoscalers import as_v1_autoscaler, as_v2_autoscaler
from podium.kubernetes.schema import decode, schema_of

V1 = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
V2 = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}


def autoscaler(name: str = "web", **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {"scaleTargetRef": TARGET, "maxReplicas": 5, **spec},
    }


def use_of_cpu(percent: int) -> dict[str, Any]:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def owned(answer: Any) -> dict[str, Any]:
    entries = answer.body["metadata"]["managedFields"]
    return {each["manager"]: each["fieldsV1"]["f:spec"] for each in entries}


def test_what_is_written_in_one_version_is_read_in_the_other() -> None:
    api = Api()
    assert api.ask("POST", V1, autoscaler(targetCPUUtilizationPercentage=50)).status == 201
    shown = api.ask("GET", f"{V2}/web").body
    assert shown["apiVersion"] == "autoscaling/v2"
    assert shown["spec"]["metrics"] == [use_of_cpu(50)]
    api.ask("PATCH", f"{V2}/web", {"spec": {"metrics": [use_of_cpu(70)]}}, content_type=MERGE)
    assert api.ask("GET", f"{V1}/web").body["spec"]["targetCPUUtilizationPercentage"] == 70


def test_a_watch_shows_objects_in_its_own_version() -> None:
    api = Api()
    old, new = api.watch(f"{V1}?watch=1"), api.watch(f"{V2}?watch=1")
    api.ask("POST", V2, autoscaler(metrics=[use_of_cpu(60)]))
    (shown,) = old.events()
    assert shown["object"]["apiVersion"] == "autoscaling/v1"
    assert shown["object"]["spec"]["targetCPUUtilizationPercentage"] == 60
    (shown,) = new.events()
    assert shown["object"]["spec"]["metrics"] == [use_of_cpu(60)]


def test_a_write_in_one_version_takes_the_fields_that_it_changes_in_the_other() -> None:
    api = Api()
    first = api.ask("POST", f"{V1}?fieldManager=old", autoscaler(targetCPUUtilizationPercentage=5))
    assert "f:targetCPUUtilizationPercentage" in owned(first)["old"]
    change = {"spec": {"metrics": [use_of_cpu(70)]}}
    changed = api.ask("PATCH", f"{V2}/web?fieldManager=new", change, content_type=MERGE)
    fields = owned(changed)
    assert "f:targetCPUUtilizationPercentage" not in fields["old"]
    assert "f:maxReplicas" in fields["old"]
    assert fields["new"] == {"f:metrics": {}}


def test_an_apply_in_one_version_conflicts_with_an_owner_in_the_other() -> None:
    api = Api()
    kind = {"kind": "HorizontalPodAutoscaler"}
    new = {"apiVersion": "autoscaling/v2", **kind, **autoscaler(metrics=[use_of_cpu(50)])}
    old = {"apiVersion": "autoscaling/v1", **kind, **autoscaler(targetCPUUtilizationPercentage=51)}
    assert api.ask("PATCH", f"{V2}/web?fieldManager=me", new, content_type=APPLY).status == 201
    refused = api.ask("PATCH", f"{V1}/web?fieldManager=you", old, content_type=APPLY)
    assert refused.status == 409
    assert refused.message == 'Apply failed with 1 conflict: conflict with "me": .spec.metrics'
    forced = api.ask("PATCH", f"{V1}/web?fieldManager=you&force=true", old, content_type=APPLY)
    assert forced.status == 200
    assert api.ask("GET", f"{V2}/web").body["spec"]["metrics"] == [use_of_cpu(51)]


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_any_autoscaler_of_v2_comes_back_from_v1_as_v1_shows_it_again(data: st.DataObject) -> None:
    """What v1 can show survives going there and back; going again changes nothing."""
    schema = schema_of("autoscaling", "v2", "HorizontalPodAutoscaler")
    obj = decode(data.draw(objects_of(schema, "metadata", "spec", "status")), schema).value
    shown = as_v1_autoscaler(obj)
    old = schema_of("autoscaling", "v1", "HorizontalPodAutoscaler")
    assert decode(shown, old).problems == []
    again = as_v1_autoscaler(as_v2_autoscaler(shown))
    assert as_v1_autoscaler(as_v2_autoscaler(again)) == again


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_any_annotation_is_read_or_counts_as_absent(data: st.DataObject) -> None:
    names = ("metrics", "current-metrics", "behavior", "conditions")
    texts = st.one_of(
        st.text(), st.sampled_from(['[{"type": 5}]', "{", "[null]", "[[]]", "null", "5"])
    )
    annotations = {f"autoscaling.alpha.kubernetes.io/{name}": data.draw(texts) for name in names}
    obj = autoscaler()
    obj["metadata"]["annotations"] = {**annotations, "a": "b"}
    converted = as_v2_autoscaler(obj)
    assert converted["metadata"]["annotations"] == {"a": "b"}
    assert converted["spec"]["metrics"]
