"""The scale subresource."""

from support.apiserver.api_calls import MERGE, Api

PATH = "/apis/apps/v1/namespaces/default/deployments"
DEPLOYMENT = {
    "metadata": {"name": "d"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "d"}},
        "template": {
            "metadata": {"labels": {"app": "d"}},
            "spec": {"containers": [{"name": "c", "image": "x"}]},
        },
    },
}
RC = "/api/v1/namespaces/default/replicationcontrollers"


def scaled(api: Api) -> int:
    found: int = api.get(f"{PATH}/d")["spec"]["replicas"]
    return found


def test_a_scale_shows_replicas_and_selector() -> None:
    api = Api()
    api.create(PATH, DEPLOYMENT)

    scale = api.get(f"{PATH}/d/scale")

    assert scale["spec"] == {"replicas": 2}
    assert scale["status"] == {"replicas": 0, "selector": "app=d"}


def test_a_scale_is_updated_and_patched() -> None:
    api = Api()
    created = api.create(PATH, DEPLOYMENT)
    scale = {"metadata": {"name": "d"}, "spec": {"replicas": 5}}

    api.ask("PUT", f"{PATH}/d/scale", scale)
    after_put = scaled(api)
    api.patch(f"{PATH}/d/scale", {"spec": {"replicas": 7}})

    assert (after_put, scaled(api)) == (5, 7)
    assert api.get(f"{PATH}/d")["metadata"]["generation"] == 3
    assert created["metadata"]["uid"] == api.get(f"{PATH}/d/scale")["metadata"]["uid"]


def test_a_scale_below_zero_or_of_another_version_is_refused() -> None:
    api = Api()
    api.create(PATH, DEPLOYMENT)

    negative = {"spec": {"replicas": -2}}
    below = api.ask("PATCH", f"{PATH}/d/scale", negative, content_type=MERGE)
    stale = api.ask(
        "PUT", f"{PATH}/d/scale", {"metadata": {"name": "d", "resourceVersion": "1"}, "spec": {}}
    )
    wrong = api.ask("PUT", f"{PATH}/d/scale", {"metadata": {"name": "d", "uid": "x"}, "spec": {}})

    assert below.message.startswith('Scale.autoscaling "d" is invalid: spec.replicas')
    assert (stale.status, wrong.status) == (409, 409)


def test_a_replication_controller_selects_by_plain_labels() -> None:
    api = Api()
    spec = DEPLOYMENT["spec"] | {"selector": {"app": "d"}}  # type: ignore[operator]
    api.create(RC, {"metadata": {"name": "r"}, "spec": spec})

    assert api.get(f"{RC}/r/scale")["status"]["selector"] == "app=d"
