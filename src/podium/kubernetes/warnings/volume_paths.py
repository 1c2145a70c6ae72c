"""Files of one volume that would overwrite each other, or whose path is another's directory.

Paths are sorted once, so that each finds the directories above it; comparing every two of them
would take minutes for the files that fit into one request.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from podium.golang.json_values import JsonObject
from podium.golang.quoting import quoted


class _File(NamedTuple):
    path: str
    source: str

    def __str__(self) -> str:
        return f"{quoted(self.path)} ({self.source})" if self.source else quoted(self.path)


def about_files(volume: JsonObject) -> Iterator[str]:
    """About the files of a volume that is made from keys."""
    name = quoted(volume.get("name") or "")
    for described, items in _mappings(volume):
        files = [_File(item.get("path") or "", "") for item in items]
        for overlap in _overlaps(files):
            yield f"volume {name} ({described}): overlapping paths: {overlap}"
    projected = volume.get("projected")
    if projected is None:
        return
    files = []
    for source in projected.get("sources") or ():
        if not source:
            yield f"volume {name} (Projected) has no sources provided"
        files += _files_of(source)
    for overlap in _overlaps(files):
        yield f"volume {name} (Projected): overlapping paths: {overlap}"


def _mappings(volume: JsonObject) -> Iterator[tuple[str, list[JsonObject]]]:
    config_map, secret = volume.get("configMap") or {}, volume.get("secret") or {}
    if config_map.get("items"):
        yield f"ConfigMap {quoted(config_map.get('name') or '')}", config_map["items"]
    if secret.get("items"):
        yield f"Secret {quoted(secret.get('secretName') or '')}", secret["items"]
    downward = volume.get("downwardAPI") or {}
    if downward.get("items"):
        yield "DownwardAPI", downward["items"]


def _files_of(source: JsonObject) -> list[_File]:
    for field, kind in (("configMap", "ConfigMap"), ("secret", "Secret")):
        found = source.get(field) or {}
        if found.get("items"):
            described = f"{kind} {quoted(found.get('name') or '')}"
            return [_File(item.get("path") or "", described) for item in found["items"]]
    downward = source.get("downwardAPI") or {}
    if downward.get("items"):
        return [_File(item.get("path") or "", "DownwardAPI") for item in downward["items"]]
    if source.get("serviceAccountToken") is not None:
        return [_File(source["serviceAccountToken"].get("path") or "", "ServiceAccountToken")]
    bundle = source.get("clusterTrustBundle")
    if bundle is not None:
        name = bundle.get("name") or bundle.get("signerName") or ""
        return [_File(bundle.get("path") or "", f"ClusterTrustBundle {quoted(name)}")]
    return []


def _overlaps(files: Iterable[_File]) -> Iterator[str]:
    """Each file with those before it that it collides with, in the order of the volume."""
    cleaned = [file._replace(path=file.path.rstrip("/")) for file in files]
    parents = _parents({file.path for file in cleaned if file.path})
    order: dict[_File, int] = {}
    at: dict[str, list[_File]] = defaultdict(list)
    below: dict[str, list[_File]] = defaultdict(list)
    for file in cleaned:
        if not file.path:
            continue
        above = list(_above(file.path, parents))
        others = [*below[file.path], *at[file.path]]
        others += [each for directory in above for each in at[directory]]
        for other in sorted(others, key=order.__getitem__):
            yield f"{file} with {other}"
        if file not in order:
            order[file] = len(order)
            at[file.path].append(file)
            for directory in above:
                below[directory].append(file)


def _parents(paths: set[str]) -> dict[str, str]:
    """The longest of the paths that is a directory on the way to a path, where there is one."""
    parents: dict[str, str] = {}
    above: list[str] = []
    for path in sorted(f"{path}/" for path in paths):
        while above and not path.startswith(above[-1]):
            above.pop()
        if above:
            parents[path[:-1]] = above[-1][:-1]
        above.append(path)
    return parents


def _above(path: str, parents: dict[str, str]) -> Iterator[str]:
    while path in parents:
        path = parents[path]
        yield path
