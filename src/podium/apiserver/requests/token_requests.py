"""The `token` subresource of service accounts: a TokenRequest in, a token out."""

from typing import Final

from podium.apiserver.access.tokens import AUDIENCES, AccountTokens, Bound
from podium.apiserver.access.users import unserved_resource
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.creating import place_in_namespace
from podium.apiserver.requests.outside_admission import mutate_write, review_write
from podium.apiserver.requests.registry import Registry
from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.rules import field_errors
from podium.kubernetes.rules.field_errors import FieldError
from podium.kubernetes.rules.timestamps import seconds_of, time_text
from podium.kubernetes.schema import schema_of

_GROUP: Final = "authentication.k8s.io"
_KIND: Final = "TokenRequest"
_DEFAULT_LIFE_S: Final = 3600
_MIN_LIFE_S: Final = 600
_MAX_LIFE_S: Final = 1 << 32
_PLURALS: Final = {"Node": "nodes", "Pod": "pods", "Secret": "secrets"}
"""What a token can be bound to."""


def request_token(
    registry: Registry,
    tokens: AccountTokens,
    namespace: str,
    name: str,
    request: JsonObject,
    call: Call,
) -> JsonObject:
    """Complete a TokenRequest; `name` is the account that the path names."""
    accounts = registry.table.get_required("serviceaccounts")
    where = (registry, accounts, namespace, name, request, None, call)
    _default_life(request["spec"])
    place_in_namespace(accounts, namespace, request["metadata"])
    mutate_write(*where, subresource="token", schema=schema_of(_GROUP, "v1", _KIND))
    metadata, spec = request["metadata"], request["spec"]
    place_in_namespace(accounts, namespace, metadata)
    if metadata.get("name", name) != name:
        told = "must match the service account name if specified"
        problem = field_errors.invalid("metadata.name", metadata["name"], told)
        raise status_errors.invalid(_GROUP, _KIND, name, [problem])
    account = registry.read(accounts, registry.get(accounts, namespace, name))
    uid = account["metadata"]["uid"]
    if metadata.get("uid", uid) != uid:
        raise status_errors.conflict(
            unserved_resource(_GROUP, _KIND),
            name,
            f"the UID in the token request ({metadata['uid']}) does not match the UID of the"
            f" service account ({uid})",
        )
    spec["audiences"] = spec.get("audiences") or list(AUDIENCES)
    life_s = _default_life(spec)
    problems = _life_problems(life_s)
    if problems:
        raise status_errors.invalid(_GROUP, _KIND, "", problems)
    review_write(*where, subresource="token")
    bound = _bound(registry, namespace, name, spec.get("boundObjectRef"))
    token = tokens.sign(account, spec["audiences"], life_s, bound, registry.new_uid())
    request["metadata"] = {
        "name": name,
        "namespace": namespace,
        "uid": uid,
        "creationTimestamp": call.now,
    }
    ends = time_text(seconds_of(call.now) + life_s)
    request["status"] = {"token": token, "expirationTimestamp": ends}
    return request


def _default_life(spec: JsonObject) -> int:
    if spec.get("expirationSeconds") is None:
        spec["expirationSeconds"] = _DEFAULT_LIFE_S
    life_s: int = spec["expirationSeconds"]
    return life_s


def _life_problems(life_s: int) -> list[FieldError]:
    path = "spec.expirationSeconds"
    if life_s < _MIN_LIFE_S:
        told = "may not specify a duration less than 10 minutes"
    elif life_s > _MAX_LIFE_S:
        told = "may not specify a duration larger than 2^32 seconds"
    else:
        return []
    return [field_errors.invalid(path, life_s, told)]


def _bound(
    registry: Registry, namespace: str, account: str, wanted: JsonObject | None
) -> list[Bound]:
    """What the token ends with, and the node of a pod."""
    if wanted is None:
        return []
    kind, name = wanted.get("kind", ""), wanted.get("name", "")
    group, _, version = wanted.get("apiVersion", "").rpartition("/")
    if group or kind not in _PLURALS:
        told = f"{group}/{version}, Kind={kind}"
        raise status_errors.bad_request(f"cannot bind token to object of type {told}")
    if not name:
        raise status_errors.bad_request("Name parameter required.")
    resource = registry.table.get_required(_PLURALS[kind])
    home = namespace if resource.namespaced else ""
    found = registry.read(resource, registry.get(resource, home, name))
    if kind == "Pod":
        _refuse_other_account(found, account)
    uid = found["metadata"]["uid"]
    if wanted.get("uid", uid) != uid:
        raise status_errors.conflict(
            unserved_resource("", kind),
            name,
            f"the UID in the bound object reference ({wanted['uid']}) does not match the UID in"
            " record. The object might have been deleted and then recreated",
        )
    bound = [Bound(kind.lower(), name, uid)]
    node = found["spec"].get("nodeName") if kind == "Pod" else None
    return [*bound, _node(registry, node)] if node else bound


def _refuse_other_account(pod: JsonObject, account: str) -> None:
    # Nothing here gives a pod its account, so that none is the default one.
    if (pod["spec"].get("serviceAccountName") or "default") != account:
        raise status_errors.bad_request(
            f'cannot bind token for serviceaccount "{account}" to pod running with different'
            " serviceaccount name."
        )


def _node(registry: Registry, name: str) -> Bound:
    """The node that a pod is on; it need not exist."""
    found = registry.lookup.find("", "nodes", "", name)
    return Bound("node", name, found["metadata"]["uid"] if found else "")
