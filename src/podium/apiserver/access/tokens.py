"""Authentication: a bearer token makes a user, none makes an anonymous one.

Tokens of service accounts: signed, bound to objects, and good for a time. A token is a JSON web
token that says which account it is of, for which audiences, until when, and which object it
lives and dies with. Nothing is stored of it: the signature says that it was made here, and the
account and the bound object are looked up whenever it is used.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)

from podium.apiserver.access.users import (
    ADMIN,
    ANONYMOUS,
    AUTHENTICATED,
    SERVICE_ACCOUNTS,
    User,
    service_account_name,
)
from podium.golang.json_values import JsonObject
from podium.golang.quoting import go_quote
from podium.kubernetes import status_errors
from podium.kubernetes.admission import Lookup
from podium.kubernetes.rules.timestamps import seconds_of

ISSUER: Final = "https://kubernetes.default.svc.cluster.local"
AUDIENCES: Final = (ISSUER,)
"""Those of the server itself."""
_MAX_TOKEN_CHARACTERS: Final = 16 << 10
_MAX_KNOWN: Final = 1024
_LEEWAY_S: Final = 60
"""upstream: how far clocks may be apart."""
_COORDINATE_BYTES: Final = 32
_INVALIDATED: Final = "service account token has been invalidated"


class InvalidToken(Exception):
    """A token that was made here, or looks like it, and is not good. The text is upstream's."""


class Bound(NamedTuple):
    """An object that a token ends with."""

    kind: str
    """`pod`, `secret` or `node`."""
    name: str
    uid: str


class AccountTokens:
    """Makes and checks the tokens of service accounts."""

    def __init__(
        self, key: ec.EllipticCurvePrivateKey, lookup: Lookup, clock: Callable[[], float]
    ) -> None:
        self._key = key
        self._public = key.public_key()
        self._lookup = lookup
        self._clock = clock
        self._header = _pack_value({"alg": "ES256", "kid": _key_id(self._public)})
        self._known: dict[str, JsonObject] = {}
        """Claims of tokens whose signature was found good."""

    def sign(
        self,
        account: JsonObject,
        audiences: Sequence[str],
        life_s: int,
        bound: Sequence[Bound],
        token_id: str,
    ) -> str:
        metadata, now = account["metadata"], int(self._clock())
        own: JsonObject = {
            "namespace": metadata["namespace"],
            "serviceaccount": {"name": metadata["name"], "uid": metadata["uid"]},
        }
        for kind, name, uid in bound:
            own[kind] = {"name": name, "uid": uid} if uid else {"name": name}
        claims: JsonObject = {
            "aud": list(audiences),
            "exp": now + life_s,
            "iat": now,
            "iss": ISSUER,
            "jti": token_id,
            "kubernetes.io": dict(sorted(own.items())),
            "nbf": now,
            "sub": service_account_name(metadata["namespace"], metadata["name"]),
        }
        signed = f"{self._header}.{_pack_value(claims)}"
        pair = decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        signature = b"".join(number.to_bytes(_COORDINATE_BYTES, "big") for number in pair)
        return f"{signed}.{_text(signature)}"

    def user_of(
        self, token: str, audiences: Sequence[str] = AUDIENCES
    ) -> tuple[User, list[str]] | None:
        """Whose token it is and which of the audiences it is for; None if it is none of these.

        Raises InvalidToken.
        """
        claims = self._known.get(token) or self._verify(token)
        if claims is None:
            return None
        meant = [each for each in claims["aud"] if each in audiences]
        if not meant:
            raise InvalidToken(
                f"token audiences {_list_texts(claims['aud'])} is invalid for the target audiences"
                f" {_list_texts(audiences)}"
            )
        self._check_time(claims)
        own = claims["kubernetes.io"]
        self._check_account(own)
        self._check_bound(own)
        return _user(claims), meant

    def _verify(self, token: str) -> JsonObject | None:
        """The claims of a token that was signed here."""
        if len(token) > _MAX_TOKEN_CHARACTERS or token.count(".") != 2:
            return None
        signed, _, signature = token.rpartition(".")
        try:
            claims = msgspec.json.decode(_bytes(signed.partition(".")[2]))
            raw = _bytes(signature)
        except (ValueError, msgspec.DecodeError, RecursionError):
            return None
        if not isinstance(claims, dict) or claims.get("iss") != ISSUER:
            return None
        try:
            if len(raw) != 2 * _COORDINATE_BYTES:
                raise InvalidSignature
            halves = raw[:_COORDINATE_BYTES], raw[_COORDINATE_BYTES:]
            der = encode_dss_signature(*(int.from_bytes(half, "big") for half in halves))
            self._public.verify(der, signed.encode(), ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            raise InvalidToken("go-jose/go-jose: error in cryptographic primitive") from None
        if len(self._known) >= _MAX_KNOWN:
            self._known.clear()
        self._known[token] = claims
        return claims

    def _check_time(self, claims: JsonObject) -> None:
        now = self._clock()
        if now - _LEEWAY_S > claims["exp"]:
            raise InvalidToken("service account token has expired")
        if now + _LEEWAY_S < claims["nbf"]:
            raise InvalidToken("service account token is not valid yet")

    def _check_account(self, own: JsonObject) -> None:
        namespace, claimed = own["namespace"], own["serviceaccount"]
        account = self._lookup.find("", "serviceaccounts", namespace, claimed["name"])
        if account is None:
            raise InvalidToken(f'serviceaccounts "{claimed["name"]}" not found')
        found = account["metadata"]["uid"]
        if found != claimed["uid"]:
            raise InvalidToken(
                f"service account UID ({found}) does not match claim ({claimed['uid']})"
            )
        if self._is_gone(account):
            raise InvalidToken(f"service account {namespace}/{claimed['name']} has been deleted")

    def _check_bound(self, own: JsonObject) -> None:
        for kind, namespace in (("secret", own["namespace"]), ("pod", own["namespace"])):
            if kind in own:
                self._check_object(kind, namespace, own[kind])
        if "node" in own and "pod" not in own:  # the node of a pod is told, not looked at
            self._check_object("node", "", own["node"])

    def _check_object(self, kind: str, namespace: str, claimed: JsonObject) -> None:
        found = self._lookup.find("", f"{kind}s", namespace, claimed["name"])
        if found is None or self._is_gone(found):
            raise InvalidToken(_INVALIDATED)
        uid = found["metadata"]["uid"]
        if uid != claimed["uid"]:
            raise InvalidToken(
                f"{kind} UID ({uid}) does not match service account {kind} ref claim"
                f" ({claimed['uid']})"
            )

    def _is_gone(self, obj: JsonObject) -> bool:
        """Whether an object should have been deleted by now."""
        since = obj["metadata"].get("deletionTimestamp")
        return since is not None and seconds_of(since) < self._clock() - _LEEWAY_S


def _user(claims: JsonObject) -> User:
    own = claims["kubernetes.io"]
    extra = {"credential-id": [f"JTI={claims['jti']}"]}
    for kind in ("node", "pod"):
        if kind in own:
            extra[f"{kind}-name"] = [own[kind]["name"]]
            if own[kind].get("uid"):
                extra[f"{kind}-uid"] = [own[kind]["uid"]]
    groups = (SERVICE_ACCOUNTS, f"{SERVICE_ACCOUNTS}:{own['namespace']}", AUTHENTICATED)
    return User(
        claims["sub"],
        own["serviceaccount"]["uid"],
        groups,
        {f"authentication.kubernetes.io/{name}": values for name, values in extra.items()},
    )


def _key_id(public: ec.EllipticCurvePublicKey) -> str:
    der = public.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return _text(hashlib.sha256(der).digest())


def _pack_value(value: JsonObject) -> str:
    return _text(msgspec.json.encode(value))


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def _list_texts(texts: Sequence[str]) -> str:
    return f"[{' '.join(map(go_quote, texts))}]"


_INVALID = "invalid bearer token"


class Tokens:
    """The tokens that the server knows: that of its owner and those of service accounts."""

    def __init__(self, admin_token: str, *, anonymous_is_admin: bool = False) -> None:
        self._users = {admin_token: ADMIN}
        self._without_token = ADMIN if anonymous_is_admin else ANONYMOUS
        self.accounts: AccountTokens | None = None
        """Those of service accounts, once there are objects to look at."""

    def review(self, token: str, audiences: Sequence[str] = ()) -> tuple[User, list[str]]:
        """Whose token it is and which of the audiences it is for; raises InvalidToken."""
        wanted = audiences or AUDIENCES
        owner = self._owner(token)
        if owner is not None:
            meant = [each for each in AUDIENCES if each in wanted]
            if not meant:
                raise InvalidToken(_INVALID)
            return owner, meant
        try:
            found = self.accounts.user_of(token, wanted) if self.accounts else None
        except InvalidToken as problem:
            raise InvalidToken(f"[{_INVALID}, {problem}]") from None
        if found is None:
            raise InvalidToken(_INVALID)
        return found

    def _owner(self, token: str) -> User | None:
        """Compared in constant time."""
        found: User | None = None
        for known, user in self._users.items():
            if hmac.compare_digest(known.encode(), token.encode()):
                found = user
        return found

    def authenticate(self, authorization: str) -> User:
        """The user of an `Authorization` header; a token that nobody has is refused."""
        scheme, _, token = authorization.partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            return self._without_token  # upstream: other schemes are not looked at
        try:
            return self.review(token)[0]
        except InvalidToken:
            raise status_errors.unauthorized() from None
