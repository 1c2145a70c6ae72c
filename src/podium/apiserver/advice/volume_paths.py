"""Files of one volume that would overwrite each other, or whose path is another's directory."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from podium.api.go_quoting import quoted
from podium.apiserver.json_values import JsonObject


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
    before: list[_File] = []
    for found in files:
        file = found._replace(path=found.path.rstrip("/"))
        for other in before:
            if file.path and other.path and _contains(file.path, other.path):
                yield f"{file} with {other}"
        before.append(file)


def _contains(one: str, other: str) -> bool:
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")
