"""IP addresses and networks as CEL values."""

import ipaddress

from podium.kubernetes.cel.errors import CelError
from podium.kubernetes.cel.library import Functions, parsing_cost
from podium.kubernetes.cel.values import Opaque

ADDRESSES = Functions()
_define = ADDRESSES.define

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Ip(Opaque):
    __slots__ = ("address",)
    TYPE_NAME = "net.IP"

    def __init__(self, address: Address) -> None:
        self.address = address

    def same(self, other: "Ip") -> bool:
        return self.address == other.address


class Cidr(Opaque):
    """An address with the length of its network's prefix."""

    __slots__ = ("address", "prefix")
    TYPE_NAME = "net.CIDR"

    def __init__(self, address: Address, prefix: int) -> None:
        self.address = address
        self.prefix = prefix

    @property
    def masked(self) -> "Cidr":
        network = ipaddress.ip_network((self.address, self.prefix), strict=False)
        return Cidr(network.network_address, self.prefix)

    def holds(self, address: Address) -> bool:
        return address in ipaddress.ip_network((self.address, self.prefix), strict=False)

    def same(self, other: "Cidr") -> bool:
        return self.address == other.address and self.prefix == other.prefix


def _parse_ip(text: str) -> Ip:
    if "%" in text:
        raise CelError(f'IP Address with zone value is not allowed: "{text}"')
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise CelError(f'IP Address "{text}" parse error during conversion from string') from None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        raise CelError(f'IPv4-mapped IPv6 address is not allowed: "{text}"')
    return Ip(address)


def _parse_cidr(text: str) -> Cidr:
    written, slash, length = text.partition("/")
    try:
        ip = _parse_ip(written)
    except CelError:
        ip = None
    plain = length.isascii() and length.isdigit() and (length == "0" or length[0] != "0")
    if ip is None or not slash or not plain or int(length) > ip.address.max_prefixlen:
        raise CelError(f'network address parse error during conversion from string: "{text}"')
    return Cidr(ip.address, int(length))


@_define("ip(string) -> ip", cost=parsing_cost)
def _ip(text: str) -> Ip:
    return _parse_ip(text)


@_define("isIP(string) -> bool", cost=parsing_cost)
def _is_ip(text: str) -> bool:
    try:
        _parse_ip(text)
    except CelError:
        return False
    return True


@_define("ip.isCanonical(string) -> bool", cost=parsing_cost)
def _is_canonical(text: str) -> bool:
    return str(_parse_ip(text).address) == text


@_define("string(ip) -> string")
def _ip_text(ip: Ip) -> str:
    return str(ip.address)


@_define("(ip).family() -> int")
def _family(ip: Ip) -> int:
    return ip.address.version


@_define("(ip).isUnspecified() -> bool")
def _is_unspecified(ip: Ip) -> bool:
    return ip.address.is_unspecified


@_define("(ip).isLoopback() -> bool")
def _is_loopback(ip: Ip) -> bool:
    return ip.address.is_loopback


@_define("(ip).isLinkLocalMulticast() -> bool")
def _is_link_local_multicast(ip: Ip) -> bool:
    if ip.address.version == 4:
        return ip.address in ipaddress.ip_network("224.0.0.0/24")
    packed = ip.address.packed
    return packed[0] == 0xFF and packed[1] & 0x0F == 0x02


@_define("(ip).isLinkLocalUnicast() -> bool")
def _is_link_local_unicast(ip: Ip) -> bool:
    return ip.address.is_link_local


@_define("(ip).isGlobalUnicast() -> bool")
def _is_global_unicast(ip: Ip) -> bool:
    address = ip.address
    broadcast = address.version == 4 and int(address) == 2**32 - 1
    return not (
        broadcast
        or address.is_unspecified
        or address.is_loopback
        or address.is_multicast
        or address.is_link_local
    )


@_define("cidr(string) -> cidr", cost=parsing_cost)
def _cidr(text: str) -> Cidr:
    return _parse_cidr(text)


@_define("isCIDR(string) -> bool", cost=parsing_cost)
def _is_cidr(text: str) -> bool:
    try:
        _parse_cidr(text)
    except CelError:
        return False
    return True


@_define("string(cidr) -> string")
def _cidr_text(cidr: Cidr) -> str:
    return f"{cidr.address}/{cidr.prefix}"


@_define("(cidr).containsIP(ip) -> bool")
def _contains_ip(cidr: Cidr, ip: Ip) -> bool:
    return cidr.holds(ip.address)


@_define("(cidr).containsIP(string) -> bool", cost=parsing_cost)
def _contains_ip_text(cidr: Cidr, text: str) -> bool:
    return cidr.holds(_parse_ip(text).address)


@_define("(cidr).containsCIDR(cidr) -> bool")
def _contains_cidr(outer: Cidr, inner: Cidr) -> bool:
    return outer.prefix <= inner.prefix and outer.holds(inner.address)


@_define("(cidr).containsCIDR(string) -> bool", cost=parsing_cost)
def _contains_cidr_text(outer: Cidr, text: str) -> bool:
    return _contains_cidr(outer, _parse_cidr(text))


@_define("(cidr).ip() -> ip")
def _ip_of(cidr: Cidr) -> Ip:
    return Ip(cidr.address)


@_define("(cidr).masked() -> cidr")
def _masked(cidr: Cidr) -> Cidr:
    return cidr.masked


@_define("(cidr).prefixLength() -> int")
def _prefix_length(cidr: Cidr) -> int:
    return cidr.prefix
