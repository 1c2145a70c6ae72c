"""The simulator and the embedded API server, given the same object."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from support.apiserver.api_calls import Api

from podium.golang.documents import SourceDocument
from podium.golang.errors import InputError, ObjectError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.resources.resource import ApiResource
from podium.offline.simulate.admission import Admission, served_kinds
from podium.offline.simulate.input_files import InputProblems
from podium.offline.simulate.scenario import read_inline_scenario

Json = dict[str, Any]
GATES = FeatureGates()
GIZMOS: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gizmos.x.dev"},
    "spec": {
        "group": "x.dev",
        "scope": "Namespaced",
        "names": {"plural": "gizmos", "kind": "Gizmo"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "required": ["spec"],
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer", "maximum": 9, "default": 3},
                                    "color": {"type": "string", "enum": ["red", "green"]},
                                },
                                "x-kubernetes-validations": [
                                    {"rule": "self.size > 1", "message": "is too small"}
                                ],
                            }
                        },
                    }
                },
            }
        ],
    },
}
"""A definition of a custom resource."""
_ADDRESSES = ("clusterIP", "clusterIPs", "healthCheckNodePort")
_ASKED_BY = ("extra", "groups", "uid", "username")
_TIME = re.compile(r"(1970-01-01|2026-01-01)T00:00:00Z")
_UID = "00000000-0000-0000-0000-000000000000"
_UIDS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_MADE_BY_SERVER = ("creationTimestamp", "managedFields", "resourceVersion", "uid")


class Outcome(NamedTuple):
    """What is stored, or the fields that are wrong, or a refusal as a whole."""

    stored: Json | None = None
    causes: tuple[tuple[str, str], ...] = ()
    message: str = ""

    @property
    def is_refused(self) -> bool:
        return self.stored is None


def post(api: Api, resource: ApiResource, obj: Json, *, dry_run: bool = True) -> Outcome:
    """Ask the server to create an object, as strictly as kubectl does."""
    namespace = "namespaces/default/" if resource.namespaced else ""
    prefix = f"/apis/{resource.group}" if resource.group else "/api"
    query = "?fieldValidation=Strict" + ("&dryRun=All" if dry_run else "")
    path = f"{prefix}/{resource.version}/{namespace}{resource.plural}{query}"
    answer = api.ask("POST", path, obj)
    if answer.status == 201:
        return Outcome(stored=without_made_up(answer.body))
    causes = (answer.body.get("details") or {}).get("causes") or ()
    if answer.status != 422:
        return Outcome(message=answer.message)
    return Outcome(causes=_causes((each.get("field", ""), each["message"]) for each in causes))


def admit(obj: Json, beside: Sequence[Json] = ()) -> Outcome:
    """The same offline: what a simulation makes of the object, beside others."""
    documents = [SourceDocument("input", at, 1, each) for at, each in enumerate((*beside, obj), 1)]
    try:
        read_inline_scenario(documents, gates=GATES)
    except InputProblems as several:
        return Outcome(causes=_causes((each.path, each.problem) for each in several.problems))
    except InputError as problem:
        if not problem.path:
            return Outcome(message=problem.problem)
        return Outcome(causes=_causes([(problem.path, problem.problem)]))
    return Outcome(stored=without_made_up(store(obj, beside)))


def store(obj: Json, beside: Sequence[Json] = ()) -> Json:
    """What is stored of a sound object, with all of its fields."""
    admission = Admission(GATES)
    stored: Json = {}
    for each in (*beside, obj):
        decoded = served_kinds(GATES).decode(each)
        assert decoded is not None
        metadata = {"namespace": "default", "uid": _UID, **decoded.value["metadata"]}
        try:
            stored = admission.store({**decoded.value, "metadata": metadata})
        except ObjectError as problem:
            raise AssertionError(f"is refused now: {problem}") from problem
    return stored


def _causes(found: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((path, _UIDS.sub(_UID, problem)) for path, problem in found)


def without_made_up(obj: Json) -> Json:
    """Without times and UIDs, without the addresses and node ports that a service got (a dry run
    makes them up), without who asked for a certificate, and without the state of a definition."""
    shown: Json = json.loads(_TIME.sub("now", _UIDS.sub(_UID, json.dumps(obj))))
    shown["metadata"] = {k: v for k, v in shown["metadata"].items() if k not in _MADE_BY_SERVER}
    if obj["kind"] == "CertificateSigningRequest":
        shown["spec"] = {k: v for k, v in shown["spec"].items() if k not in _ASKED_BY}
    if obj["kind"] == "CustomResourceDefinition":
        shown.pop("status", None)
    if obj["kind"] == "Service":
        shown["spec"] = {k: v for k, v in shown["spec"].items() if k not in _ADDRESSES}
        for port in shown["spec"].get("ports") or ():
            port.pop("nodePort", None)
    return shown
