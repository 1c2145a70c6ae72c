"""What a request must be allowed to besides its verb.

Nobody gives away rights that they do not have: the guard of roles and bindings. Whoever writes
a role must hold everything in it, or the verb `escalate` on roles; whoever writes a binding
must hold everything in the role that it names, or the verb `bind` on that role. A cluster role
that gathers the rules of others takes the rights of an administrator.

Nobody reads by a policy what they may not read themselves: the guard of its parameters. Whoever
writes an admission policy with a kind of parameters must be allowed to get all objects of that
kind; whoever writes a binding must be allowed to get, or to list, those that it names.

Who may write which part of a resource claim's status. The right to `resourceclaims/status`
alone allows none of what others rely on: to allocate or reserve a claim takes
`resourceclaims/binding` in the whole cluster, to report the devices of a driver takes
`resourceclaims/driver` by the driver's name. Neither is served: they are rights only.

Requests for certificates: the server notes who asks, and who may approve and sign.

What a request must be allowed to besides its verb. A request is authorised before anything is
known of its object. Some take a second look when it is: an update or an apply that turns out to
create; roles and bindings, which may not give away more than their writer has; admission
policies, which may not read more; the status of a resource claim, whose parts belong to
different writers.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from podium.apiserver.access.authorisation import (
    GROUP,
    Grants,
    Rules,
    describe_rule,
    find_uncovered_rules,
    judge,
    require,
    told_lost,
)
from podium.apiserver.access.users import (
    AuthorizationAttributes,
    User,
    forbidden_status_error,
    service_account_of,
)
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.registry import Registry
from podium.golang.json_values import JsonObject
from podium.golang.quoting import go_quote, go_value, quoted_list
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.field_errors import FieldError
from podium.kubernetes.rules.field_errors import forbidden as forbidden_field

_ROLES: Final = ("roles", "clusterroles")
_ROLE_BINDINGS: Final = ("rolebindings", "clusterrolebindings")
_EVERYTHING: Final[Rules] = (
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
    {"verbs": ["*"], "nonResourceURLs": ["*"]},
)
_FOR_GARBAGE_COLLECTION: Final = ("finalizers", "managedFields", "ownerReferences")


def confirm_no_escalation(
    user: User,
    attempt: AuthorizationAttributes,
    grants: Grants,
    resource: ApiResource,
    new: JsonObject,
    old: JsonObject | None,
) -> None:
    """Refuse a role or binding that gives more than its writer has; others are let through.

    `attempt` is the request as it was authorised, `old` the object that is replaced.
    """
    if resource.group != GROUP or user.may_do_everything:
        return
    if old is not None and _without_collected(new) == _without_collected(old):
        return
    guard = _Guard(user, attempt, grants, resource, new["metadata"].get("name") or "")
    if resource.plural in _ROLES:
        guard.confirm_role(new, old)
    elif resource.plural in _ROLE_BINDINGS:
        guard.confirm_binding(new)


def _without_collected(obj: JsonObject) -> JsonObject:
    """An object without the fields that the garbage collector changes before it goes."""
    metadata = {
        key: value for key, value in obj["metadata"].items() if key not in _FOR_GARBAGE_COLLECTION
    }
    return {**obj, "metadata": metadata}


class _Guard:
    """One write of a role or binding."""

    def __init__(
        self,
        user: User,
        attempt: AuthorizationAttributes,
        grants: Grants,
        resource: ApiResource,
        name: str,
    ) -> None:
        self._user = user
        self._attempt = attempt
        self._grants = grants
        self._resource = resource
        self._name = name

    def confirm_role(self, new: JsonObject, old: JsonObject | None) -> None:
        # upstream: asked with the name of the path, which a creation does not have.
        if self._may("escalate", self._resource.plural, self._attempt.name):
            return
        self._require(new.get("rules") or ())
        if _aggregates(new) or (old is not None and _aggregates(old)):
            self._require(
                _EVERYTHING, "must have cluster-admin privileges to use the aggregationRule"
            )

    def confirm_binding(self, new: JsonObject) -> None:
        reference = new.get("roleRef") or {}
        kind, name = reference.get("kind") or "", reference.get("name") or ""
        if kind not in ("Role", "ClusterRole"):
            raise status_errors.internal(f"unsupported role reference kind: {go_quote(kind)}")
        plural = f"{kind.lower()}s"
        if self._may("bind", plural, name, reference.get("apiGroup") or ""):
            return
        rules = self._grants.role_rules(kind, name, self._attempt.namespace)
        if rules is None:
            # upstream: named by the resource that is written, not by the one that is not there.
            raise status_errors.not_found(self._resource, name)
        self._require(rules)

    def _may(self, verb: str, plural: str, name: str, group: str = GROUP) -> bool:
        wanted = AuthorizationAttributes(
            verb, group, plural, namespace=self._attempt.namespace, name=name
        )
        return judge(self._user, wanted, self._grants).allowed

    def _require(self, wanted: Rules, why: str = "") -> None:
        """Refuse if the user does not hold all these rules."""
        held: list[JsonObject] = []
        lost: list[tuple[str, str]] = []
        for grant in self._grants.of(self._user, self._attempt.namespace):
            held += grant.rules
            if grant.lost is not None:
                lost.append(grant.lost)
        lacking = find_uncovered_rules(held, wanted)
        if not lacking:
            return
        if not why:
            why = (
                f"user {go_quote(self._user.name)} (groups={quoted_list(self._user.groups)}) is"
                " attempting to grant RBAC permissions not currently held:\n"
                + "\n".join(sorted({describe_rule(rule) for rule in lacking}))
            )
            if lost:
                why += f"; resolution errors: [{told_lost(lost, self._resource.group_resource)}]"
        raise status_errors.forbidden(self._resource, self._name, why)


def _aggregates(role: JsonObject) -> bool:
    return bool((role.get("aggregationRule") or {}).get("clusterRoleSelectors"))


ADMISSION_GROUP: Final = "admissionregistration.k8s.io"
_POLICIES: Final = frozenset({"mutatingadmissionpolicies", "validatingadmissionpolicies"})
_POLICY_BINDINGS: Final = {
    "mutatingadmissionpolicybindings": "mutatingadmissionpolicies",
    "validatingadmissionpolicybindings": "validatingadmissionpolicies",
}

FindPolicy = Callable[[str, str], JsonObject | None]
"""A policy by the plural name of its kind and its own."""
FindResource = Callable[[str, str], ApiResource | None]
"""A resource by the apiVersion and the kind of its objects."""


def parameter_errors(
    user: User,
    grants: Grants,
    resource: ApiResource,
    new: JsonObject,
    old: JsonObject | None,
    find_policy: FindPolicy,
    find_resource: FindResource,
) -> list[FieldError]:
    """What a policy or binding would read that its writer may not; others are let through."""
    if resource.plural not in _POLICIES and resource.plural not in _POLICY_BINDINGS:
        return []
    spec, before = new["spec"], (old or {}).get("spec") or {}
    if resource.plural in _POLICIES:
        kind = spec.get("paramKind")
        if kind is None or kind == before.get("paramKind"):
            return []
        group, plural, _ = _find_served_kind(kind, find_resource)
        if judge(user, AuthorizationAttributes("get", group, plural, "", "*", "*"), grants).allowed:
            return []
        told = f"(kind={kind['kind']}, apiVersion={kind['apiVersion']})"
        why = f'must have "get" permission on all objects of the referenced paramKind {told}'
        return [forbidden_field("spec.paramKind", f"user {_format_user(user)} {why}")]
    reference, name = spec.get("paramRef"), spec.get("policyName") or ""
    is_same = (reference, name) == (before.get("paramRef"), before.get("policyName"))
    if reference is None or is_same:
        return []
    policy = find_policy(_POLICY_BINDINGS[resource.plural], name)
    kind = ((policy or {}).get("spec") or {}).get("paramKind")
    group, plural, is_served = _find_served_kind(kind, find_resource) if kind else ("*", "*", True)
    verb = "get" if reference.get("name") else "list"
    wanted = AuthorizationAttributes(
        verb, group, plural, "", reference.get("namespace") or "", reference.get("name") or ""
    )
    if judge(user, wanted, grants).allowed:
        return []
    lacks = f'does not have "{verb}" permission for all groups, versions and resources'
    least = "to determine minimum required permissions and user"
    if policy is None:
        why = f"unable to get policy {name} {least} {_format_user(user)} {lacks}"
    elif kind is not None and not is_served:
        shown = f"&ParamKind{{APIVersion:{kind['apiVersion']},Kind:{kind['kind']},}}"
        why = f"unable to resolve paramKind {shown} {least} {_format_user(user)} {lacks}"
    else:
        parts = (_format_user(user), verb)
        if resource.plural == "mutatingadmissionpolicybindings":
            parts = parts[::-1]  # upstream: in each other's place
        right = f'"{parts[1]}" permission on the object referenced by paramRef'
        why = f"user {parts[0]} does not have {right}"
    return [forbidden_field("spec.paramRef", why)]


def _find_served_kind(kind: JsonObject, find_resource: FindResource) -> tuple[str, str, bool]:
    """Group and plural name of a kind, as far as they are known, and whether they are."""
    found = find_resource(kind["apiVersion"], kind["kind"])
    group = kind["apiVersion"].rpartition("/")[0]
    return (group, "*", False) if found is None else (group, found.plural, True)


def _format_user(user: User) -> str:
    """As Go prints a user."""
    extra = go_value({key: list(values) for key, values in user.extra.items()})
    return f"&{{{user.name} {user.uid} [{' '.join(user.groups)}] {extra}}}"


_NODE_OF_ACCOUNT: Final = "authentication.kubernetes.io/node-name"
_DEVICE: Final = ("driver", "pool", "device", "shareID")


def claim_status_errors(
    user: User, attempt: AuthorizationAttributes, grants: Grants, new: JsonObject, old: JsonObject
) -> list[FieldError]:
    """What of a new status its writer may not write."""
    after, before = new.get("status") or {}, old.get("status") or {}
    errors: list[FieldError] = []
    if any(after.get(part) != before.get(part) for part in ("allocation", "reservedFor")):
        binding = replace(attempt, subresource="binding", namespace="", name="")
        refused = _refusal(user, grants, [binding])
        if refused:
            errors.append(
                forbidden_field(
                    "status.allocation",
                    "changing status.allocation or status.reservedFor requires"
                    f' resource="resourceclaims/binding", verb="{attempt.verb}" permission:'
                    f" {refused}",
                )
            )
    allocation = after.get("allocation")
    if allocation is None:
        return errors  # what is said of devices goes with the allocation
    verbs = [f"arbitrary-node:{attempt.verb}"]
    if _is_on(user, _node_of(allocation)):
        verbs.insert(0, f"associated-node:{attempt.verb}")
    for driver in sorted(_changed_drivers(after, before)):
        refused = _refusal(
            user,
            grants,
            [replace(attempt, verb=verb, subresource="driver", name=driver) for verb in verbs],
        )
        if refused:
            errors.append(
                forbidden_field(
                    "status.devices",
                    'changing status.devices requires resource="resourceclaims/driver",'
                    f' verb="[{" ".join(verbs)}]" permission: {refused}',
                )
            )
    return errors


def _refusal(user: User, grants: Grants, attempts: list[AuthorizationAttributes]) -> str:
    """Why none of these is allowed, in the words of the first; empty if one is."""
    verdicts = [judge(user, attempt, grants) for attempt in attempts]
    if any(verdict.allowed for verdict in verdicts):
        return ""
    return forbidden_status_error(user, attempts[0], verdicts[0].reason).message


def _changed_drivers(after: JsonObject, before: JsonObject) -> set[str]:
    new, old = _by_device(after), _by_device(before)
    changed = {key for key in (*new, *old) if new.get(key) != old.get(key)}
    return {key[0] for key in changed}


def _by_device(status: JsonObject) -> dict[tuple[str, ...], JsonObject]:
    return {
        tuple(device.get(field) or "" for field in _DEVICE): device
        for device in status.get("devices") or ()
    }


def _is_on(user: User, node: str) -> bool:
    """Whether a user is a service account whose token belongs to a pod of a node."""
    nodes = list(user.extra.get(_NODE_OF_ACCOUNT, ()))
    return bool(node) and nodes == [node] and service_account_of(user.name) is not None


def _node_of(allocation: JsonObject) -> str:
    """The one node that an allocation is bound to, if it is bound to one by name."""
    terms = (allocation.get("nodeSelector") or {}).get("nodeSelectorTerms") or []
    if len(terms) != 1 or terms[0].get("matchExpressions"):
        return ""
    match terms[0].get("matchFields") or []:
        case [{"key": "metadata.name", "operator": "In", "values": [str(name)]}]:
            return name
    return ""


_CERTIFICATES_GROUP: Final = "certificates.k8s.io"
_PLURAL: Final = "certificatesigningrequests"


def note_requester(resource: ApiResource, obj: JsonObject, call: Call) -> None:
    """Write down who asks, whatever the object says of it."""
    if (resource.group, resource.plural) != (_CERTIFICATES_GROUP, _PLURAL):
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
    call: Call, resource: ApiResource, subresource: str, new: JsonObject, old: JsonObject
) -> None:
    """Refuse a decision, or a certificate, of somebody who may not give it for the signer."""
    if (resource.group, resource.plural) != (_CERTIFICATES_GROUP, _PLURAL) or not subresource:
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
        wanted = AuthorizationAttributes(verb, _CERTIFICATES_GROUP, "signers", name=name)
        if judge(call.user, wanted, call.grants).allowed:
            return
    name = old["metadata"]["name"]
    raise status_errors.forbidden(resource, name, f"{told} {go_quote(signer)}")


def _signs(new: JsonObject, old: JsonObject) -> bool:
    """Whether a status has another certificate, or says for the first time that it failed."""
    after, before = new.get("status") or {}, old.get("status") or {}
    if after.get("certificate") != before.get("certificate"):
        return True
    return _failures(after) != _failures(before)


def _failures(status: JsonObject) -> int:
    return sum(each.get("type") == "Failed" for each in status.get("conditions") or ())


def require_create(call: Call) -> None:
    """Refuse to create on behalf of somebody who may only update or patch."""
    if call.attempt is not None and call.grants is not None:
        require(call.user, replace(call.attempt, verb="create"), call.grants)


def guard_policy(
    call: Call, resource: ApiResource, new: JsonObject, old: JsonObject | None = None
) -> None:
    """Refuse a role or binding by which somebody would give more than they have."""
    if call.attempt is not None and call.grants is not None:
        confirm_no_escalation(call.user, call.attempt, call.grants, resource, new, old)


def status_errors_of(
    call: Call, resource: ApiResource, subresource: str, new: JsonObject, old: JsonObject
) -> list[FieldError]:
    """What of a new status its writer may not write."""
    if call.attempt is None or call.grants is None:
        return []
    if subresource != "status" or resource.group_resource != "resourceclaims.resource.k8s.io":
        return []
    return claim_status_errors(call.user, call.attempt, call.grants, new, old)


def parameter_errors_of(
    registry: Registry,
    call: Call,
    resource: ApiResource,
    new: JsonObject,
    old: JsonObject | None = None,
) -> list[FieldError]:
    """What an admission policy would read that its writer may not."""
    if resource.group != ADMISSION_GROUP or call.attempt is None or call.grants is None:
        return []
    if call.user.may_do_everything:
        return []

    def find_policy(plural: str, name: str) -> JsonObject | None:
        return registry.lookup.find(ADMISSION_GROUP, plural, "", name)

    find_resource = registry.forms.resource_of_kind
    who = (call.user, call.grants)
    return parameter_errors(*who, resource, new, old, find_policy, find_resource)
