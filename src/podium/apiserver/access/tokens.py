"""Authentication: a bearer token makes a user, none makes an anonymous one."""

import hmac

from podium.apiserver import status_errors
from podium.apiserver.access.users import ADMIN, ANONYMOUS, User


class Tokens:
    """The tokens that the server knows."""

    def __init__(self, admin_token: str, *, anonymous_is_admin: bool = False) -> None:
        self._users = {admin_token: ADMIN}
        self._without_token = ADMIN if anonymous_is_admin else ANONYMOUS

    def user_of(self, token: str) -> User | None:
        """Whose token it is; compared in constant time."""
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
        user = self.user_of(token)
        if user is None:
            raise status_errors.unauthorized()
        return user
