"""What a kubelet reports of containers and their devices, and what of it is refused."""

from typing import Any

import pytest
from support.apiserver.api_calls import PODS, Api, Json, pod

AT = "status.containerStatuses[0]"
UNCLAIMED = (
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' "
    "or 'claim:<claimName>' if request is empty"
)


def refusal(field: str, value: Any, **spec: Any) -> str:
    """Why the status of a pod is refused; empty if it is not."""
    api = Api()
    resources = {
        "requests": {"example.com/gpu": "1"},
        "limits": {"example.com/gpu": "1"},
        "claims": [{"name": "nic", "request": "fast"}],
    }
    containers = [{"name": "main", "image": "i", "resources": resources}]
    claims = [{"name": "nic", "resourceClaimName": "nic"}]
    api.create(PODS, pod("p", containers=containers, resourceClaims=claims, **spec))
    current = api.get(f"{PODS}/p")
    current["status"][field] = value
    answer = api.ask("PUT", f"{PODS}/p/status", current)
    if answer.status == 200:
        assert answer.body["status"][field] == value
        return ""
    return answer.message.partition(" is invalid: ")[2]


def container_status(**fields: Any) -> list[Json]:
    known = {"name": "main", "image": "i", "imageID": "", "ready": False, "restartCount": 0}
    known |= {"state": {}, "lastState": {}}
    return [{**known, **fields}]


def health_of(name: str, *resources: Json) -> list[Json]:
    return container_status(allocatedResourcesStatus=[{"name": name, "resources": list(resources)}])


@pytest.mark.parametrize("name", ["example.com/gpu", "claim:nic/fast"])
def test_the_health_of_resources_and_claims_is_kept(name: str) -> None:
    reported = {"resourceID": "gpu-0", "health": "Unhealthy", "message": "too hot"}
    assert refusal("containerStatuses", health_of(name, reported)) == ""


@pytest.mark.parametrize(
    ("statuses", "problem"),
    [
        pytest.param(
            health_of("example.com/fpga"),
            f'{AT}.allocatedResourcesStatus[0].name: Invalid value: "example.com/fpga": must match '
            "one of the container's resource requests",
            id="a resource that was not requested",
        ),
        pytest.param(
            health_of("claim:nic"),
            f'{AT}.allocatedResourcesStatus[0].name: Invalid value: "claim:nic": {UNCLAIMED}',
            id="a claim without its request",
        ),
        pytest.param(
            health_of("example.com/gpu", {"resourceID": "gpu-0", "health": "Fine"}),
            f'{AT}.allocatedResourcesStatus[0].resources[0].health: Unsupported value: "Fine": '
            'supported values: "Healthy", "Unhealthy", "Unknown"',
            id="an unknown health",
        ),
        pytest.param(
            health_of("example.com/gpu", *[{"resourceID": "gpu-0", "health": "Healthy"}] * 2),
            f'{AT}.allocatedResourcesStatus[0].resources[1].resourceID: Duplicate value: "gpu-0"',
            id="a device twice",
        ),
        pytest.param(
            health_of(
                "example.com/gpu", {"resourceID": "a", "health": "Unknown", "message": "m" * 1025}
            ),
            f"{AT}.allocatedResourcesStatus[0].resources[0].message: Too long: may not be more "
            "than 1024 bytes",
            id="a long message",
        ),
        pytest.param(
            container_status(user={"linux": {"uid": -1, "gid": 0, "supplementalGroups": [0]}}),
            f"{AT}.user.linux.uid: Invalid value: -1: must be between 0 and 2147483647, inclusive",
            id="a user",
        ),
    ],
)
def test_reports_that_do_not_fit_the_container_are_refused(
    statuses: list[Json], problem: str
) -> None:
    assert refusal("containerStatuses", statuses) == problem


def test_containers_of_windows_have_no_user_of_linux() -> None:
    statuses = container_status(user={"linux": {"uid": 0, "gid": 0}})
    found = refusal("containerStatuses", statuses, os={"name": "windows"})
    assert found == f"{AT}.user.linux: Forbidden: cannot be set for a windows pod"


def mapping(container: str, resource: str) -> Json:
    return {"containerName": container, "resourceName": resource, "requestName": "request-0"}


def test_the_claim_for_extended_resources_is_kept() -> None:
    mappings = [mapping("main", "example.com/gpu")]
    status = {"resourceClaimName": "made", "requestMappings": mappings}
    assert refusal("extendedResourceClaimStatus", status) == ""


@pytest.mark.parametrize(
    ("mappings", "problem"),
    [
        ([], "requestMappings: Required value: at least one request mapping is required"),
        (
            [mapping("other", "example.com/gpu")],
            'requestMappings[0].containerName: Invalid value: "other": must match the name of an '
            "entry in spec.initContainers.name or spec.containers.name",
        ),
        (
            [mapping("main", "example.com/fpga")],
            'requestMappings[0].resourceName: Invalid value: "example.com/fpga": must match the '
            "extended resource name of an entry in spec.initContainers.resources.requests or "
            "spec.containers.resources.requests",
        ),
    ],
    ids=["none", "container", "resource"],
)
def test_the_claim_for_extended_resources_fits_the_pod(mappings: list[Json], problem: str) -> None:
    status = {"resourceClaimName": "made", "requestMappings": mappings}
    found = refusal("extendedResourceClaimStatus", status)
    assert found == f"status.extendedResourceClaimStatus.{problem}"
