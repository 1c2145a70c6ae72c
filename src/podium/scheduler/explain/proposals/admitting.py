"""What a rehearsal asks an API server: whether it would take an object, and what it makes of it.

Offline the server is `offline.simulate.admission.Admission`, which knows the quotas, limits and
classes of the cluster. Where nobody gives one, everything is taken as it is written, and a new pod
has the priority of the pod that was asked about.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, TypeVar

import msgspec

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.typed_objects import convert_object

K = TypeVar("K", bound=KubeObject)


def as_json(obj: KubeObject) -> JsonObject:
    """What a server would be sent of it."""
    value: JsonObject = msgspec.json.decode(msgspec.json.encode(obj))
    return {**value, "apiVersion": obj.api_version, "kind": obj.kind}


class Admitting(Protocol):
    """All raise ObjectError for what the server refuses."""

    def create_pod(self, body: JsonObject) -> Pod:
        """A pod that a controller makes of a whole template."""

    def create_in_part(self, raw: JsonObject, struct: type[K]) -> K:
        """An object of which only what scheduling reads is known."""

    def store(self, raw: JsonObject) -> JsonObject:
        """What is stored of a whole object."""

    def remove(self, obj: KubeObject) -> None:
        """It is gone."""

    def roll_back_on_exit(self) -> AbstractContextManager[None]:
        """While it is open, what is created and removed is so for the time being."""


class AdmittingAll:
    """A server without classes, limits and quotas."""

    def __init__(self, like: Pod) -> None:
        self._like = like.spec

    def create_pod(self, body: JsonObject) -> Pod:
        return self.create_in_part(body, Pod)

    def create_in_part(self, raw: JsonObject, struct: type[K]) -> K:
        obj = raw
        if struct is Pod and raw["spec"].get("priority") is None:
            spec = raw["spec"]
            if (spec.get("priorityClassName") or "") == self._like.priority_class_name:
                obj = {**raw, "spec": {**spec, "priority": self._like.priority}}
        return convert_object(obj, struct, strict=False)

    def store(self, raw: JsonObject) -> JsonObject:
        return raw

    def remove(self, obj: KubeObject) -> None:
        pass

    def roll_back_on_exit(self) -> AbstractContextManager[None]:
        return nullcontext()
