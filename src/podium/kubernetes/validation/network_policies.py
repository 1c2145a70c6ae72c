"""Network policies: ports, peers and address ranges."""

from collections.abc import Collection, Iterator
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import forbidden, invalid, not_supported, required
from podium.kubernetes.validation.addresses import Range, check_range, range_of
from podium.kubernetes.validation.names import (
    port_name_problems,
    port_number_problems,
    subdomain_problems,
)
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_each,
    meta_of,
)
from podium.kubernetes.validation.selectors import check_label_selector

_PROTOCOLS: Final = ("TCP", "UDP", "SCTP")
_TYPES: Final = ("Ingress", "Egress")
_DIRECTIONS: Final = (("ingress", "from"), ("egress", "to"))


def create_errors(policy: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(policy), True, subdomain_problems)
    _check_spec(errors, policy.get("spec") or {}, ())
    return errors


def update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    known = {
        text
        for _, block in address_blocks(old)
        for text in (block.get("cidr") or "", *(block.get("except") or ()))
    }
    _check_spec(errors, new.get("spec") or {}, known)
    return errors


def address_blocks(policy: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """The address ranges that a policy names, with their places."""
    spec: JsonObject = policy.get("spec") or {}
    for direction, side in _DIRECTIONS:
        for number, rule in enumerate(spec.get(direction) or ()):
            for index, peer in enumerate(rule.get(side) or ()):
                if peer.get("ipBlock") is not None:
                    yield f"spec.{direction}[{number}].{side}[{index}].ipBlock", peer["ipBlock"]


def _check_spec(errors: Errors, spec: JsonObject, known: Collection[str]) -> None:
    check_label_selector(errors, spec.get("podSelector"), "spec.podSelector")
    for direction, side in _DIRECTIONS:
        for number, rule in enumerate(spec.get(direction) or ()):
            at = f"spec.{direction}[{number}]"
            for index, port in enumerate(rule.get("ports") or ()):
                _check_port(errors, port, f"{at}.ports[{index}]")
            for index, peer in enumerate(rule.get(side) or ()):
                _check_peer(errors, peer, known, f"{at}.{side}[{index}]")
    types = spec.get("policyTypes") or []
    if len(types) > len(_TYPES):
        detail = "may not specify more than two policyTypes"
        errors.append(invalid("spec.policyTypes", types, detail))
        return
    for index, each in enumerate(types):
        if each not in _TYPES:
            errors.append(not_supported(f"spec.policyTypes[{index}]", each, _TYPES))


def _check_port(errors: Errors, port: JsonObject, path: str) -> None:
    protocol = port.get("protocol")
    if protocol is not None and protocol not in _PROTOCOLS:
        errors.append(not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
    number, last = port.get("port"), port.get("endPort")
    at_last = f"{path}.endPort"
    if isinstance(number, int):
        check_each(errors, port_number_problems(number), number, f"{path}.port")
        if last is not None:
            if last < number:
                # upstream: the first port is shown, not the last
                detail = "must be greater than or equal to `port`"
                errors.append(invalid(at_last, number, detail))
            check_each(errors, port_number_problems(last), last, at_last)
        return
    if last is not None:
        why = "is not specified" if number is None else "is non-numeric"
        errors.append(invalid(at_last, last, f"may not be specified when `port` {why}"))
    if number is not None:
        check_each(errors, port_name_problems(number), number, f"{path}.port")


def _check_peer(errors: Errors, peer: JsonObject, known: Collection[str], path: str) -> None:
    given = [
        name
        for name in ("podSelector", "namespaceSelector", "ipBlock")
        if peer.get(name) is not None
    ]
    for name in given:
        if name == "ipBlock":
            _check_block(errors, peer["ipBlock"], known, f"{path}.ipBlock")
        else:
            check_label_selector(errors, peer[name], f"{path}.{name}")
    if not given:
        errors.append(required(path, "must specify a peer"))
    elif len(given) > 1 and "ipBlock" in given:
        errors.append(forbidden(path, "may not specify both ipBlock and another peer"))


def _check_block(errors: Errors, block: JsonObject, known: Collection[str], path: str) -> None:
    written = block.get("cidr") or ""
    if not written:
        errors.append(required(f"{path}.cidr"))
        return
    whole = _checked_range(errors, written, known, f"{path}.cidr")
    if whole is None:
        return
    for index, each in enumerate(block.get("except") or ()):
        at = f"{path}.except[{index}]"
        part = _checked_range(errors, each, known, at)
        if part is None:
            continue
        inside = part.version == whole.version and part.network_address in whole
        if not inside or whole.prefixlen >= part.prefixlen:
            errors.append(invalid(at, each, "must be a strict subset of `cidr`"))


def _checked_range(errors: Errors, text: str, known: Collection[str], path: str) -> Range | None:
    """None if the text is no range; one that the policy has already is not looked at again."""
    if text not in known:
        check_range(errors, text, path)
    return range_of(text)
