"""Manifests brought to a server: every kind that it serves, and mistakes with their places."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from support.commands.command_line import EXAMPLES
from support.live.virtual_loop import run_virtually
from support.simulated.simulated_clusters import Cluster

from podium.client import ResourceType
from podium.client.resources import DEPLOYMENTS, JOBS, NODES, PODS, STATEFUL_SETS
from podium.commands.processes.applying import apply_documents
from podium.golang.documents import SourceDocument, expand_lists, read_documents
from podium.golang.errors import InputError
from podium.simulated.cluster import SimulatedClusterOptions
from podium.testing.embedded import embedded_cluster

CONFIG_MAPS = ResourceType("", "v1", "configmaps", "ConfigMap")
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"


def documents(text: str) -> list[SourceDocument]:
    return list(expand_lists(read_documents(text, "objects.yaml")))


async def apply_all(cluster: Cluster, text: str) -> None:
    """Apply what the server knows altogether."""
    left_out: list[InputError] = []
    await apply_documents(cluster.client, documents(text), left_out.append)
    assert not left_out


def in_server(scenario: Callable[[Cluster], Awaitable[None]]) -> None:
    async def main() -> None:
        async with embedded_cluster(SimulatedClusterOptions()) as embedded:
            await scenario(Cluster(embedded.client))

    run_virtually(main())


def refused(text: str) -> str:
    """What is said of documents that cannot be applied."""
    told: list[str] = []

    async def scenario(cluster: Cluster) -> None:
        with pytest.raises(InputError) as caught:
            await apply_all(cluster, text)
        told.append(str(caught.value))

    in_server(scenario)
    return told[0]


def test_the_first_steps_are_applied() -> None:
    text = (EXAMPLES / "first-steps.yaml").read_text()

    async def scenario(cluster: Cluster) -> None:
        await apply_all(cluster, text)
        for resource, name in (
            (DEPLOYMENTS, "web"),
            (STATEFUL_SETS, "cache"),
            (JOBS, "report"),
            (PODS, "giant"),
        ):
            assert await cluster.exists(resource, name)

    in_server(scenario)


def test_applying_again_changes_what_has_changed_and_nothing_else() -> None:
    async def scenario(cluster: Cluster) -> None:
        versions: list[str] = []
        for data in ("1", "1", "2"):
            await apply_all(cluster, f"{MAP}data: {{a: '{data}'}}\n")
            found = await cluster.get(CONFIG_MAPS, "settings")
            assert found["data"] == {"a": data}
            versions.append(found["metadata"]["resourceVersion"])
        assert versions[0] == versions[1] != versions[2]

    in_server(scenario)


def test_fields_of_others_are_taken_over() -> None:
    async def scenario(cluster: Cluster) -> None:
        theirs = {"metadata": {"name": "settings"}, "data": {"a": "theirs", "b": "theirs"}}
        await cluster.create(CONFIG_MAPS, theirs)
        await apply_all(cluster, f"{MAP}data: {{a: mine}}\n")
        assert (await cluster.get(CONFIG_MAPS, "settings"))["data"] == {"a": "mine", "b": "theirs"}

    in_server(scenario)


def test_objects_go_into_their_namespaces_or_none() -> None:
    text = (
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\n"
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\n---\n"
        "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
    )

    async def scenario(cluster: Cluster) -> None:
        await apply_all(cluster, text)
        assert await cluster.exists(CONFIG_MAPS, "settings", "shop")
        assert await cluster.exists(NODES, "n1")

    in_server(scenario)


def test_lists_are_taken_apart() -> None:
    item = '{"metadata": {"name": "%s"}}'
    items = ",".join(item % name for name in ("a", "b"))

    async def scenario(cluster: Cluster) -> None:
        text = f'{{"apiVersion": "v1", "kind": "ConfigMapList", "items": [{items}]}}'
        await apply_all(cluster, text)
        assert await cluster.exists(CONFIG_MAPS, "a")
        assert await cluster.exists(CONFIG_MAPS, "b")

    in_server(scenario)


VERSION = """
  - name: %s
    served: true
    storage: %s
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}"""
TOYS = f"""
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: toys.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: toys, singular: toy, kind: Toy, listKind: ToyList}}
  versions: {VERSION % ("v1beta1", "false")}{VERSION % ("v1", "true")}
"""


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_kind_may_be_defined_in_the_same_file_in_several_versions(version: str) -> None:
    toy = f"---\napiVersion: example.com/{version}\nkind: Toy\nmetadata: {{name: ball}}\n"

    async def scenario(cluster: Cluster) -> None:
        await apply_all(cluster, TOYS + toy)
        assert await cluster.exists(ResourceType("example.com", version, "toys", "Toy"), "ball")

    in_server(scenario)


def test_a_definition_may_stand_behind_the_objects_that_need_it() -> None:
    toy = "apiVersion: example.com/v1\nkind: Toy\nmetadata: {name: ball}\n---\n"

    async def scenario(cluster: Cluster) -> None:
        await apply_all(cluster, toy + TOYS)
        assert await cluster.exists(ResourceType("example.com", "v1", "toys", "Toy"), "ball")

    in_server(scenario)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor",
            'no matches for kind "ServiceMonitor" in version "monitoring.coreos.com/v1"; '
            "ensure CRDs are installed first",
        ),
        (
            "apiVersion: v1\nkind: Unicorn",
            'no matches for kind "Unicorn" in version "v1"; ensure CRDs are installed first',
        ),
        (
            "apiVersion: apps/v1\nkind: Deploymet",
            'no matches for kind "Deploymet" in version "apps/v1"; did you mean Deployment?',
        ),
        (
            "apiVersion: apps/v1beta1\nkind: Deployment",
            'no matches for kind "Deployment" in version "apps/v1beta1"; '
            "ensure CRDs are installed first",
        ),
        ("apiVersion: Apps/v1\nkind: Deployment", 'in version "Apps/v1"'),
    ],
)
def test_a_kind_that_the_server_does_not_know_is_left_out_and_told(text: str, told: str) -> None:
    async def scenario(cluster: Cluster) -> None:
        unknown = f"---\n{text}\nmetadata: {{name: a}}\n---\n"
        text_of_all = f"{MAP}{unknown}{MAP.replace('settings', 'more')}"
        left_out: list[InputError] = []
        await apply_documents(cluster.client, documents(text_of_all), left_out.append)
        (problem,) = left_out
        assert str(problem).startswith("objects.yaml: document 2 (line 5): ")
        assert told in str(problem)
        assert await cluster.exists(CONFIG_MAPS, "settings")
        assert await cluster.exists(CONFIG_MAPS, "more")

    in_server(scenario)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("5", "objects.yaml: expected a Kubernetes object, got the number 5"),
        ("kind: Pod", "objects.yaml: apiVersion: is missing"),
        ("apiVersion: v1", "objects.yaml: kind: is missing"),
        ("apiVersion: 1\nkind: Pod", "apiVersion: expected text, got the number 1"),
        ("apiVersion: v1\nkind: Pod", "objects.yaml: metadata.name: is missing"),
        ("apiVersion: v1\nkind: Pod\nmetadata: 5", "metadata.name: is missing"),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: 5}",
            "metadata.name: expected text, got the number 5",
        ),
        (
            "apiVersion: ../../v1\nkind: Pod\nmetadata: {name: a}",
            "apiVersion: unexpected GroupVersion string: ../../v1",
        ),
        (f"{MAP}---\n{MAP}dada: {{}}\n", "objects.yaml: document 2 (line 5): "),
        (f"{MAP}dada: {{}}\n", "dada: field not declared in schema"),
        (f"{MAP.replace('settings', 'A_B')}", 'metadata.name: Invalid value: "A_B"'),
        (f"{MAP.replace('settings', 'settings, namespace: shop')}", 'namespaces "shop" not found'),
        (f"{MAP}data: {{a: 99999999999999999999999999}}\n", "objects.yaml: "),
    ],
)
def test_what_cannot_be_applied_is_told_with_its_place(text: str, told: str) -> None:
    assert told in refused(text)


def test_nothing_to_apply_is_nothing_asked() -> None:
    class Silent:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

    run_virtually(apply_documents(Silent(), (), print))  # type: ignore[arg-type]
