"""Objects of manifest files, brought to a server as `kubectl apply --server-side` would.

Kinds are looked up in what the server says it serves, in the version that a file asks for, so
anything can be in a file, kinds that a document defines as well: definitions go first wherever they
stand. An object of a kind that the server does not know is left out and told of in kubectl's words,
and the rest is applied. Anything else that cannot be applied is an error, with its place.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Final

from podium.client import KubeClient, PatchType, ResourceType
from podium.client.api_errors import ApiError, NotFound
from podium.client.kube_client import served_in
from podium.golang.documents import SourceDocument
from podium.golang.errors import InputError, closest, did_you_mean
from podium.golang.json_values import JsonObject
from podium.golang.quoting import go_quote
from podium.kubernetes.kinds.reading import describe_value

_DEFAULT_NAMESPACE: Final = "default"
_API_VERSION: Final = re.compile(r"([a-z0-9.-]+/)?[a-z0-9]+")
_DEFINITION: Final = "CustomResourceDefinition"
_INSTALL_DEFINITIONS: Final = "ensure CRDs are installed first"
_HOW: Final = (("fieldManager", "podium"), ("force", "true"), ("fieldValidation", "Strict"))


async def apply_documents(
    client: KubeClient, documents: Sequence[SourceDocument], leave_out: Callable[[InputError], None]
) -> None:
    """Apply objects in their order, definitions of kinds first.

    `leave_out` is told of each object whose kind is not known. Raises InputError, ApiError and
    Unreachable.
    """
    kinds = _Kinds(client)
    for document in sorted(documents, key=lambda each: not _is_definition(each)):
        value = document.value
        if not isinstance(value, dict):
            raise document.error(f"expected a Kubernetes object, got {describe_value(value)}")
        try:
            resource = await kinds.resource_of(document, value)
        except _UnknownKindError as problem:
            leave_out(problem.told)
            continue
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


def _is_definition(document: SourceDocument) -> bool:
    return isinstance(document.value, dict) and document.value.get("kind") == _DEFINITION


class _UnknownKindError(Exception):
    """The server serves no such kind, or not in this version."""

    def __init__(self, told: InputError) -> None:
        super().__init__(str(told))
        self.told = told


class _Kinds:
    """What a server serves, asked once for each version as long as the kind is in it."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client
        self._known: dict[str, dict[str, ResourceType]] = {}

    async def resource_of(self, document: SourceDocument, value: JsonObject) -> ResourceType:
        api_version = _text(document, value, "apiVersion")
        kind = _text(document, value, "kind")
        if api_version.count("/") > 1:
            problem = f"unexpected GroupVersion string: {api_version}"
            raise document.error(problem, path="apiVersion")
        if kind not in self._known.get(api_version, {}):
            self._known[api_version] = await self._ask_for_kinds(api_version)
        served = self._known[api_version]
        if kind not in served:
            problem = f"no matches for kind {go_quote(kind)} in version {go_quote(api_version)}"
            remedy = did_you_mean(closest(kind, list(served))) or _INSTALL_DEFINITIONS
            raise _UnknownKindError(document.error(problem, remedy=remedy))
        return served[kind]

    async def _ask_for_kinds(self, api_version: str) -> dict[str, ResourceType]:
        if not _API_VERSION.fullmatch(api_version):
            return {}
        try:
            found = await served_in(self._client, api_version)
        except NotFound:
            return {}
        return {each.resource.kind: each.resource for each in found}


def _text(document: SourceDocument, holder: JsonObject, name: str, path: str = "") -> str:
    value = holder.get(name)
    if value is None or value == "":
        raise document.error("is missing", path=path or name)
    if not isinstance(value, str):
        raise document.error(f"expected text, got {describe_value(value)}", path=path or name)
    return value
