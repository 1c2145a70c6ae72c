"""Addresses and node ports of services: what each has, and what the next one gets.

    addresses = ServiceAddresses()
    addresses.adopt(service)                    one that is already stored
    addresses.allocate(service) -> errors       before a new or changed one is stored, in place
    addresses.release(service)                  one that is gone

Contract: addresses come from 10.0.0.0/24 in order, the first one being the API server's own; node
ports from 30000 to 32767. A wish that cannot be granted is an error and takes nothing. `allocate`
of a service that is already known keeps what it has.
"""

import ipaddress
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import INTERNAL, FieldError, invalid

_RANGE: Final = ipaddress.IPv4Network("10.0.0.0/24")
SERVICE_RANGE: Final = str(_RANGE)
SERVER_ADDRESS: Final = str(_RANGE.network_address + 1)
"""For the service of the API server."""
_SERVER: Final = ("default", "kubernetes")
_FIRST_PORT: Final = 30000
_LAST_PORT: Final = 32767
_WITH_NODE_PORTS: Final = ("NodePort", "LoadBalancer")
_SINGLE: Final = "SingleStack"
_DUAL: Final = "RequireDualStack"
NONE: Final = "None"


def _is_server(service: JsonObject) -> bool:
    metadata = service["metadata"]
    return (metadata.get("namespace"), metadata.get("name")) == _SERVER


class ServiceAddresses:
    """Who has which address and which node ports."""

    def __init__(self) -> None:
        self._addresses: dict[str, str] = {SERVER_ADDRESS: ""}
        self._ports: dict[tuple[str, int], str] = {}
        self._next_address = 2
        self._next_port = _FIRST_PORT

    def adopt(self, service: JsonObject) -> None:
        uid = service["metadata"].get("uid", "")
        spec = service.get("spec") or {}
        for address in spec.get("clusterIPs") or ():
            if address != NONE:
                self._addresses[address] = uid
        for port in spec.get("ports") or ():
            if port.get("nodePort"):
                self._ports[port.get("protocol") or "TCP", port["nodePort"]] = uid

    def release(self, service: JsonObject) -> None:
        uid = service["metadata"].get("uid", "")
        self._addresses = {ip: owner for ip, owner in self._addresses.items() if owner != uid}
        self._addresses.setdefault(SERVER_ADDRESS, "")
        self._ports = {key: owner for key, owner in self._ports.items() if owner != uid}

    def allocate(self, service: JsonObject, *, dry_run: bool = False) -> list[FieldError]:
        uid = service["metadata"].get("uid", "")
        spec = service["spec"]
        if spec.get("type") == "ExternalName":
            if not dry_run:
                self.release(service)
            return []
        errors = _family_errors(spec)
        if errors:
            return errors
        if _is_server(service) and not dry_run and not self._addresses[SERVER_ADDRESS]:
            self._addresses[SERVER_ADDRESS] = uid
        address = self._address(spec, uid, errors, dry_run=dry_run)
        ports = _imagined_ports(spec) if dry_run else self._node_ports(spec, uid, errors)
        if errors:
            return errors
        _write(spec, address, ports)
        if not dry_run:
            self.release(service)
            self.adopt(service)
        return []

    def _address(
        self, spec: JsonObject, uid: str, errors: list[FieldError], *, dry_run: bool
    ) -> str:
        wanted = spec.get("clusterIP") or next(iter(spec.get("clusterIPs") or ()), "")
        if not wanted:
            free = self._free_address()
            if not free:
                told = "failed to allocate a serviceIP: range is full"
                errors.append(FieldError(INTERNAL, "spec.clusterIPs", "", told))
            return free
        if wanted == NONE or self._addresses.get(wanted) == uid:
            return str(wanted)
        problem = ""
        if wanted in self._addresses and not dry_run:
            problem = "provided IP is already allocated"
        elif ipaddress.ip_address(wanted) not in _RANGE:
            problem = f"the provided IP ({wanted}) is not in the valid range. The range of valid "
            problem += f"IPs is {_RANGE}"
        if problem:
            told = f"failed to allocate IP {wanted}: {problem}"
            errors.append(invalid("spec.clusterIPs", [wanted], told))
        return str(wanted)

    def _free_address(self) -> str:
        size = _RANGE.num_addresses - 2
        for _ in range(size):
            candidate = str(_RANGE.network_address + self._next_address)
            self._next_address = self._next_address % size + 1
            if candidate not in self._addresses:
                return candidate
        return ""

    def _node_ports(self, spec: JsonObject, uid: str, errors: list[FieldError]) -> list[int]:
        chosen: list[int] = []
        for index, port in enumerate(spec.get("ports") or ()):
            protocol, wanted = port.get("protocol") or "TCP", port.get("nodePort") or 0
            spared = not wanted and spec.get("allocateLoadBalancerNodePorts") is False
            if spared or spec.get("type") not in _WITH_NODE_PORTS:
                chosen.append(0)
            elif not wanted:
                chosen.append(self._free_port(protocol))
                if not chosen[-1]:
                    told = "failed to allocate a nodePort: range is full"
                    errors.append(FieldError(INTERNAL, f"spec.ports[{index}].nodePort", "", told))
            else:
                chosen.append(wanted)
                problem = self._port_problem(protocol, wanted, uid)
                if problem:
                    errors.append(invalid(f"spec.ports[{index}].nodePort", wanted, problem))
        return chosen

    def _port_problem(self, protocol: str, port: int, uid: str) -> str:
        if not _FIRST_PORT <= port <= _LAST_PORT:
            return (
                "provided port is not in the valid range. The range of valid ports is "
                f"{_FIRST_PORT}-{_LAST_PORT}"
            )
        taken = self._ports.get((protocol, port), uid) != uid
        return "provided port is already allocated" if taken else ""

    def _free_port(self, protocol: str) -> int:
        count = _LAST_PORT - _FIRST_PORT + 1
        for _ in range(count):
            candidate = self._next_port
            self._next_port = (candidate - _FIRST_PORT + 1) % count + _FIRST_PORT
            if (protocol, candidate) not in self._ports:
                return candidate
        return 0


def _is_for_any_family(spec: JsonObject) -> bool:
    """A headless service without selector may have endpoints of both families."""
    return spec.get("clusterIP") == NONE and not spec.get("selector")


def _family_errors(spec: JsonObject) -> list[FieldError]:
    """The cluster has IPv4 only: nobody gets addresses of the other family, or of both."""
    policy, families = spec.get("ipFamilyPolicy") or _SINGLE, spec.get("ipFamilies") or []
    addresses, at = spec.get("clusterIPs") or [], "spec.ipFamilyPolicy"
    errors: list[FieldError] = []
    for what, values in (("cluster IPs", addresses), ("IP families", families)):
        if len(values) > 1 and policy == _SINGLE and not _is_for_any_family(spec):
            detail = f"must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are"
            errors.append(invalid(at, policy, f"{detail} specified"))
    for index, address in enumerate(addresses[len(families) :], len(families)):
        if ":" in address:
            detail = "IPv6 is not configured on this cluster"
            errors.append(invalid(f"spec.clusterIPs[{index}]", addresses, detail))
    if errors or _is_for_any_family(spec):
        return errors
    if policy == _DUAL:
        errors.append(invalid(at, policy, "this cluster is not configured for dual-stack services"))
    for index, family in enumerate(families):
        if family != "IPv4":
            at = f"spec.ipFamilies[{index}]"
            errors.append(invalid(at, family, "not configured on this cluster"))
    return errors


def _imagined_ports(spec: JsonObject) -> list[int]:
    """Node ports of a dry run: what was wished for, or numbers that nobody gets."""
    chosen: list[int] = []
    for port in spec.get("ports") or ():
        wanted = port.get("nodePort") or 0
        spared = spec.get("allocateLoadBalancerNodePorts") is False
        if spec.get("type") not in _WITH_NODE_PORTS or (spared and not wanted):
            chosen.append(0)
        else:
            chosen.append(wanted or (max(chosen, default=0) or _LAST_PORT + 1) + 1)
    return chosen


def _write(spec: JsonObject, address: str, ports: list[int]) -> None:
    spec["clusterIP"] = address
    spec["clusterIPs"] = [address]
    both = _is_for_any_family(spec)
    spec.setdefault("ipFamilyPolicy", _DUAL if both else _SINGLE)
    many = both and spec["ipFamilyPolicy"] != _SINGLE
    spec.setdefault("ipFamilies", ["IPv4", "IPv6"] if many else ["IPv4"])
    for port, number in zip(spec.get("ports") or (), ports, strict=True):
        if number:
            port["nodePort"] = number


def prepare_create(service: JsonObject, _now: str) -> None:
    """The single and the plural field of the cluster's address say the same."""
    spec = service["spec"]
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    elif spec.get("clusterIPs") and not spec.get("clusterIP"):
        spec["clusterIP"] = spec["clusterIPs"][0]


def prepare_update(new: JsonObject, old: JsonObject, _now: str) -> None:
    """What was handed out stays with a service that leaves it out, as far as its type uses it."""
    spec, before = new["spec"], old["spec"]
    if spec.get("type") == "ExternalName":
        for field in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if spec.get(field) == before.get(field):
                spec.pop(field, None)
    elif before.get("type") != "ExternalName":
        same = spec.get("clusterIPs") == before.get("clusterIPs")
        if spec.get("clusterIP") and spec["clusterIP"] != before.get("clusterIP") and same:
            spec["clusterIPs"] = [spec["clusterIP"], *(spec.get("clusterIPs") or ())[1:]]
        for field in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if not spec.get(field) and before.get(field):
                spec[field] = before[field]
    if spec.get("type") in _WITH_NODE_PORTS:
        _keep_node_ports(spec, before)
    else:
        _drop_node_ports(spec, before)
        if spec.get("externalTrafficPolicy") == before.get("externalTrafficPolicy") and not (
            spec.get("externalIPs")
        ):
            spec.pop("externalTrafficPolicy", None)
    if spec.get("type") != "LoadBalancer":
        if spec.get("allocateLoadBalancerNodePorts") == before.get("allocateLoadBalancerNodePorts"):
            spec.pop("allocateLoadBalancerNodePorts", None)
        new["status"] = {**(new.get("status") or {}), "loadBalancer": {}}


def _keep_node_ports(spec: JsonObject, before: JsonObject) -> None:
    known = {port.get("name") or "": port.get("nodePort") for port in before.get("ports") or ()}
    used = {port.get("nodePort") for port in spec.get("ports") or ()}
    for port in spec.get("ports") or ():
        number = known.get(port.get("name") or "")
        if not port.get("nodePort") and number and number not in used:
            port["nodePort"] = number


def _drop_node_ports(spec: JsonObject, before: JsonObject) -> None:
    known = {port.get("nodePort") for port in before.get("ports") or ()}
    used = {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")}
    if used <= known:
        for port in spec.get("ports") or ():
            port.pop("nodePort", None)
