"""Authentication: a bearer token makes a user, none makes an anonymous one."""

import hmac
from collections.abc import Sequence

from podium.apiserver.access.account_tokens import AUDIENCES, AccountTokens, InvalidToken
from podium.apiserver.access.users import ADMIN, ANONYMOUS, User
from podium.kubernetes import status_errors

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

    def authenticated(self, authorization: str) -> User:
        """The user of an `Authorization` header; a token that nobody has is refused."""
        scheme, _, token = authorization.partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            return self._without_token  # upstream: other schemes are not looked at
        try:
            return self.review(token)[0]
        except InvalidToken:
            raise status_errors.unauthorized() from None
