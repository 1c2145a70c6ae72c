"""The nodes that `podium nodes` and `podium up` are asked for."""

from pathlib import Path

import pytest

from podium.commands.node_options import NodeOptions, read_stage_file, require_usable_speed
from podium.golang.errors import InputError
from podium.simulated.nodes.templates import ZONE
from podium.simulated.pods.stage_files import default_stages


def test_nodes_are_made_in_the_size_that_is_asked_for() -> None:
    (node,) = NodeOptions(cpu="64", memory="1Ti", pods=500).read_nodes(1, "")
    for amounts in ("capacity", "allocatable"):
        sizes = node["status"][amounts]
        assert (sizes["cpu"], sizes["memory"], sizes["pods"]) == ("64", "1Ti", "500")


def test_zones_are_given_out_in_turn() -> None:
    nodes = NodeOptions().read_nodes(5, " a, b,,c ")
    assert [each["metadata"]["labels"][ZONE] for each in nodes] == ["a", "b", "c", "a", "b"]
    (alone,) = NodeOptions().read_nodes(1, "")
    assert ZONE not in alone["metadata"]["labels"]


def test_templates_are_used_in_turn_and_keep_their_zones(tmp_path: Path) -> None:
    paths = []
    for name, zone in (("big", "x"), ("small", "z")):
        path = tmp_path / f"{name}.yaml"
        path.write_text(
            f"apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{{ZONE}: {zone}}}}}\n"
            'status: {capacity: {cpu: "4", memory: 8Gi, pods: "10"}}\n'
        )
        paths.append(path)
    nodes = NodeOptions(template=paths).read_nodes(3, "")
    assert [each["metadata"]["name"] for each in nodes] == ["big-0", "small", "big-1"]
    assert [each["metadata"]["labels"][ZONE] for each in nodes] == ["x", "z", "x"]


@pytest.mark.parametrize(
    ("cpu", "memory", "pods"), [("4", "", None), ("", "8Gi", None), ("", "", 0)]
)
def test_sizes_and_templates_do_not_go_together(
    cpu: str, memory: str, pods: int | None, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="are for nodes without a template"):
        NodeOptions([tmp_path / "node.yaml"], cpu, memory, pods).read_nodes(1, "")


def test_stages_come_from_a_file_or_are_the_usual_ones() -> None:
    assert read_stage_file(None) == default_stages()
    with pytest.raises(InputError, match=r"nowhere\.yaml: cannot be read"):
        read_stage_file(Path("nowhere.yaml"))


@pytest.mark.parametrize("speed", [0.01, 1.0, 1000.0])
def test_a_speed_that_works_is_taken(speed: float) -> None:
    assert require_usable_speed(speed) == speed


@pytest.mark.parametrize("speed", [0.0, -1.0, 1000.1, float("inf"), float("nan")])
def test_a_speed_that_does_not_work_is_refused(speed: float) -> None:
    with pytest.raises(InputError, match="is too much or too little"):
        require_usable_speed(speed)
