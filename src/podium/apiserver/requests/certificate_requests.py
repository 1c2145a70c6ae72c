"""Requests for certificates: the server notes who asks, and who may approve and sign."""

from typing import Final

from podium.apiserver.access.attempts import Attempt
from podium.apiserver.access.authorisation import judge
from podium.apiserver.requests.call import Call
from podium.golang.json_values import JsonObject
from podium.golang.quoting import quoted
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import Resource

GROUP: Final = "certificates.k8s.io"
_PLURAL: Final = "certificatesigningrequests"


def note_requester(resource: Resource, obj: JsonObject, call: Call) -> None:
    """Write down who asks, whatever the object says of it."""
    if (resource.group, resource.plural) != (GROUP, _PLURAL):
        return
    spec = obj["spec"]
    for field in ("username", "uid", "groups", "extra"):
        spec.pop(field, None)
    user = call.user
    spec["username"] = user.name
    if user.uid:
        spec["uid"] = user.uid
    if user.groups:
        spec["groups"] = list(user.groups)
    if user.extra:
        spec["extra"] = {key: list(values) for key, values in user.extra.items()}


def confirm_signer(
    call: Call, resource: Resource, subresource: str, new: JsonObject, old: JsonObject
) -> None:
    """Refuse a decision, or a certificate, of somebody who may not give it for the signer."""
    if (resource.group, resource.plural) != (GROUP, _PLURAL) or not subresource:
        return
    signer = old["spec"].get("signerName") or ""
    if subresource == "approval":
        verb, told = "approve", "user not permitted to approve requests with signerName"
    elif _signs(new, old):
        verb, told = "sign", "user not permitted to sign requests with signerName"
    else:
        return
    if call.attempt is None or call.grants is None:
        return
    domain = signer.partition("/")[0]
    for name in (signer, f"{domain}/*"):
        wanted = Attempt(verb, GROUP, "signers", name=name)
        if judge(call.user, wanted, call.grants).allowed:
            return
    name = old["metadata"]["name"]
    raise status_errors.forbidden(resource, name, f"{told} {quoted(signer)}")


def _signs(new: JsonObject, old: JsonObject) -> bool:
    """Whether a status has another certificate, or says for the first time that it failed."""
    after, before = new.get("status") or {}, old.get("status") or {}
    if after.get("certificate") != before.get("certificate"):
        return True
    return _failures(after) != _failures(before)


def _failures(status: JsonObject) -> int:
    return sum(each.get("type") == "Failed" for each in status.get("conditions") or ())
