"""Namespaces that are deleted: pods go first, and what holds a namespace back is said."""

from collections import Counter
from typing import Any

import pytest
from support.simulated.controller_objects import moment
from support.simulated.simulated_clusters import Cluster, in_cluster, pod_spec

from podium.client import DeleteOptions
from podium.client.resources import CONFIG_MAPS, JOBS, NAMESPACES, PODS
from podium.simulated.controllers.namespaces import NamespaceContents, deletion_conditions


def test_pods_are_gone_before_anything_else_is_deleted() -> None:
    async def scenario(cluster: Cluster) -> None:
        await cluster.create(NAMESPACES, {"metadata": {"name": "shop"}})
        metadata = {"name": "held", "finalizers": ["example.com/hold"]}
        await cluster.create(PODS, {"metadata": metadata, "spec": pod_spec()}, "shop")
        await cluster.create(CONFIG_MAPS, {"metadata": {"name": "plain"}}, "shop")

        async def is_running() -> bool:
            found = await cluster.get(PODS, "held", "shop")
            return bool(found["status"].get("phase") == "Running")

        await cluster.until(is_running)
        await cluster.client.delete(NAMESPACES, "shop", "", DeleteOptions())

        async def conditions() -> dict[str, Any]:
            found = await cluster.get(NAMESPACES, "shop")
            return {each["type"]: each for each in found["status"].get("conditions", ())}

        async def is_told() -> bool:
            return "NamespaceDeletionContentFailure" in await conditions()

        await cluster.until(is_told)
        assert (await cluster.get(PODS, "held", "shop"))["metadata"]["deletionTimestamp"]
        assert await cluster.exists(CONFIG_MAPS, "plain", "shop")
        await cluster.patch(PODS, "held", {"metadata": {"finalizers": None}}, "shop")

        async def is_gone() -> bool:
            return not await cluster.exists(NAMESPACES, "shop")

        await cluster.until(is_gone)

    in_cluster(scenario)


@pytest.mark.parametrize("waits", [True, False], ids=["pending", "running"])
@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"completionMode": "Indexed"},
        {"podReplacementPolicy": "Failed"},
        {"completionMode": "Indexed", "backoffLimitPerIndex": 1},
    ],
    ids=str,
)
def test_pods_of_a_job_hold_no_namespace_back(spec: dict[str, Any], *, waits: bool) -> None:
    async def scenario(cluster: Cluster) -> None:
        await cluster.create(NAMESPACES, {"metadata": {"name": "shop"}})
        template = {**pod_spec(), "restartPolicy": "Never"}
        if waits:
            template["nodeSelector"] = {"example.com/none": "here"}
        job = {"parallelism": 3, "completions": 3, **spec, "template": {"spec": template}}
        await cluster.create(JOBS, {"metadata": {"name": "run"}, "spec": job}, "shop")

        async def has_pods() -> bool:
            return len(await cluster.all(PODS)) == 3

        await cluster.until(has_pods)
        await cluster.client.delete(NAMESPACES, "shop", "", DeleteOptions())

        async def is_gone() -> bool:
            return not await cluster.exists(NAMESPACES, "shop")

        await cluster.until(is_gone)

    in_cluster(scenario)


def test_a_namespace_says_what_is_left_and_what_holds_it() -> None:
    async def scenario(cluster: Cluster) -> None:
        await cluster.create(NAMESPACES, {"metadata": {"name": "shop"}})
        metadata = {"name": "held", "finalizers": ["example.com/hold"]}
        await cluster.create(CONFIG_MAPS, {"metadata": metadata}, "shop")
        await cluster.client.delete(NAMESPACES, "shop", "", DeleteOptions())

        async def messages() -> list[str]:
            found = await cluster.get(NAMESPACES, "shop")
            told = found["status"].get("conditions", ())
            return [each["message"] for each in told if each["status"] == "True"]

        async def is_told() -> bool:
            return len(await messages()) == 2

        await cluster.until(is_told)
        assert sorted(await messages()) == [
            "Some content in the namespace has finalizers remaining: example.com/hold in 1"
            " resource instances",
            "Some resources are remaining: configmaps. has 1 resource instances",
        ]

    in_cluster(scenario)


def test_what_cannot_be_deleted_is_told_kind_by_kind() -> None:
    contents = NamespaceContents(left=Counter({"b.x": 2, "a.": 1}), failures=["no", "also no"])
    told = {each["type"]: each for each in deletion_conditions(None, contents, moment())}
    assert told["NamespaceContentRemaining"]["message"].endswith(
        "a. has 1 resource instances, b.x has 2 resource instances"
    )
    failed = told["NamespaceDeletionContentFailure"]
    assert failed["message"] == "Failed to delete all resource types, 2 remaining: also no, no"
    assert told["NamespaceFinalizersRemaining"]["status"] == "False"
