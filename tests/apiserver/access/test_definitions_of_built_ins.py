"""The right to define resources is none to those that the server has by itself."""

import pytest
from support.apiserver.api_calls import Api
from support.apiserver.rights_table import definition

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
NAME = "clusterroles.rbac.authorization.k8s.io"


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_definition_does_not_take_the_place_of_a_built_in_resource(version: str) -> None:
    api = Api()
    written = definition(NAME)
    written["metadata"]["annotations"] = {
        "api-approved.kubernetes.io": "https://example.com/approved"
    }
    written["spec"]["scope"] = "Cluster"
    written["spec"]["names"] = {"plural": "clusterroles", "kind": "ClusterRole"}
    written["spec"]["versions"][0]["name"] = version
    before = api.get(ROLES)["items"]

    api.create(DEFINITIONS, written)
    wrong = api.ask("POST", ROLES, {"metadata": {"name": "x"}, "rules": [{"verbs": []}]})
    other = api.ask("GET", ROLES.replace("/v1/", "/v2/"))
    api.delete(f"{DEFINITIONS}/{NAME}")

    assert wrong.status == 422
    assert other.status == 404
    assert api.get(ROLES)["items"] == before
