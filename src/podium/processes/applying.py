"""Objects of manifest files, brought to a server as `kubectl apply --server-side` would.

Kinds are looked up in what the server says it serves, in the version that a file asks for, so
anything can be in a file: kinds that an earlier document defines as well. What cannot be applied
is an error that names the file and the place in it; nothing is left out without a word.
"""

import json
import re
from collections.abc import Sequence
from typing import Final

from podium.api.documents import Document
from podium.api.errors import closest, did_you_mean
from podium.api.json_values import JsonObject
from podium.api.shapes import described
from podium.client import KubeClient, PatchType, ResourceType
from podium.client.api_errors import ApiError, NotFound
from podium.client.discovery import served_in

_DEFAULT_NAMESPACE: Final = "default"
_API_VERSION: Final = re.compile(r"([a-z0-9.-]+/)?[a-z0-9]+")
_HOW: Final = (("fieldManager", "podium"), ("force", "true"), ("fieldValidation", "Strict"))


async def apply_documents(client: KubeClient, documents: Sequence[Document]) -> None:
    """Apply objects in their order. Raises InputError, ApiError and Unreachable."""
    kinds = _Kinds(client)
    for document in documents:
        value = document.value
        if not isinstance(value, dict):
            raise document.error(f"expected a Kubernetes object, got {described(value)}")
        resource = await kinds.resource_of(document, value)
        metadata = value.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        name = _text(document, metadata, "name", "metadata.name")
        namespace = ""
        if resource.namespaced:
            namespace = str(metadata.get("namespace") or _DEFAULT_NAMESPACE)
        path = resource.path(namespace, name)
        try:
            body = json.dumps(value).encode()
            await client.request("PATCH", path, _HOW, body, str(PatchType.APPLY))
        except ApiError as problem:
            raise document.error(str(problem)) from None


class _Kinds:
    """What a server serves, asked once for each version as long as the kind is in it."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client
        self._known: dict[str, dict[str, ResourceType]] = {}

    async def resource_of(self, document: Document, value: JsonObject) -> ResourceType:
        api_version = _text(document, value, "apiVersion")
        kind = _text(document, value, "kind")
        if kind not in self._known.get(api_version, {}):
            self._known[api_version] = await self._ask_for_kinds(api_version)
        served = self._known[api_version]
        if kind not in served:
            remedy = did_you_mean(closest(kind, list(served)))
            raise document.error(f"the server does not serve {kind} ({api_version})", remedy=remedy)
        return served[kind]

    async def _ask_for_kinds(self, api_version: str) -> dict[str, ResourceType]:
        if not _API_VERSION.fullmatch(api_version):
            return {}
        try:
            found = await served_in(self._client, api_version)
        except NotFound:
            return {}
        return {each.resource.kind: each.resource for each in found}


def _text(document: Document, holder: JsonObject, name: str, path: str = "") -> str:
    value = holder.get(name)
    if value is None or value == "":
        raise document.error("is missing", path=path or name)
    if not isinstance(value, str):
        raise document.error(f"expected text, got {described(value)}", path=path or name)
    return value
