"""A trace from its two files: CSV files of a study's own columns, or what kubectl prints."""

from pathlib import Path

from podium.addons.gpu.study.cluster_files import SUFFIXES, is_cluster_file, read_cluster
from podium.addons.gpu.study.traces import Trace, read_nodes, read_pods
from podium.golang.errors import InputError


def read_trace(name: str, nodes: Path, pods: Path) -> Trace:
    kinds = {is_cluster_file(nodes), is_cluster_file(pods)}
    if kinds == {True}:
        return Trace(name, *read_cluster(nodes, pods))
    if kinds == {True, False}:
        raise InputError(
            f"{nodes} and {pods} are of different kinds",
            remedy=f"both as CSV, or both as Kubernetes objects ({', '.join(SUFFIXES)})",
        )
    return Trace(name, read_nodes(nodes), read_pods(pods))
