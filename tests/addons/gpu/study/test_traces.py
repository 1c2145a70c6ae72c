"""Traces are read from CSV files, and what the study has no rule for is refused with its place."""

import gzip
from pathlib import Path

import pytest

from podium.addons.gpu.packing.node_columns import ANY_MODEL
from podium.addons.gpu.study.traces import read_nodes, read_pods
from podium.golang.errors import InputError

NODES = "sn,cpu_milli,memory_mib,gpu,model\nb,8000,1024,2,T4\na,4000,1024,0,\nc,1,1,1,A10\n"
POD_HEADER = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_nodes_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    nodes = read_nodes(write(tmp_path / "nodes.csv", NODES))
    assert nodes.names == ("a", "b", "c")
    assert nodes.models == ("A10", "T4")
    assert nodes.gpu_milli == 3000
    assert nodes.mask("") == ANY_MODEL
    assert [bool(nodes.mask("T4|none") & bit) for bit in nodes.model_bit] == [False, True, False]
    assert nodes.mask("none") == 0


def test_gzipped_pods_without_models_are_read(tmp_path: Path) -> None:
    path = tmp_path / "pods.csv.gz"
    text = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\nq,1,2,1,500\np,3,4,0,0\n"
    path.write_bytes(gzip.compress(text.encode()))
    pods = read_pods(path)
    assert pods.names == ("p", "q")
    assert pods.specs == ("", "")
    assert pods.demand_milli.tolist() == [0, 500]


def test_more_than_a_whole_device_is_a_whole_one(tmp_path: Path) -> None:
    pods = read_pods(write(tmp_path / "pods.csv", POD_HEADER + "p,1,1,2,1500,|T4|\n"))
    assert pods.gpu_milli.tolist() == [1000]
    assert pods.specs == ("T4",)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("p,1,1,2,500,", "line 2: gpu_milli: parts of several GPUs: 2 x 500; only whole ones"),
        ("p,1,1,1,0,", "line 2: gpu_milli: a pod with GPUs asks for none of each"),
        ("p,x,1,1,10,", "line 2: cpu_milli: not a whole number: 'x'"),
        ("p,1,1,99,10,", "line 2: num_gpu: 99 is more than 16"),
        ("p", "line 2: num_gpu: is missing"),
    ],
)
def test_a_pod_that_the_rules_do_not_know_is_refused(
    tmp_path: Path, row: str, problem: str
) -> None:
    with pytest.raises(InputError) as raised:
        read_pods(write(tmp_path / "pods.csv", f"{POD_HEADER}{row}\n"))
    assert str(raised.value) == f"{tmp_path / 'pods.csv'}: {problem}"


def test_a_file_that_is_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no column cpu_milli"):
        read_pods(write(tmp_path / "pods.csv", "name,size\nx,1\n"))
    broken = tmp_path / "broken.csv.gz"
    broken.write_bytes(b"\x1f\x8bnothing")
    with pytest.raises(InputError, match="cannot be read"):
        read_pods(broken)


def test_a_cluster_without_gpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no node has a GPU"):
        read_nodes(write(tmp_path / "n.csv", "sn,cpu_milli,memory_mib,gpu,model\na,1,1,0,\n"))
