"""How the endpoints are served: flags, and the API servers that are asked about users."""

from dataclasses import dataclass
from typing import Final

from podium.client import KubeClient
from podium.scheduler.config.flags.options import (
    Authentication,
    Authorization,
    Options,
    SecureServing,
)


@dataclass(frozen=True, slots=True)
class ServingSettings:
    """The flags that matter here; `options` has checked them."""

    serving: SecureServing
    authentication: Authentication
    authorization: Authorization

    @classmethod
    def of(cls, options: Options) -> "ServingSettings":
        return cls(options.secure_serving, options.authentication, options.authorization)


@dataclass(frozen=True, slots=True)
class Reviewers:
    """Clients of `--authentication-kubeconfig` and `--authorization-kubeconfig`, None without.

    Without the first nobody's token is looked at, without the second nobody is allowed more than
    the paths that are open to all.
    """

    authentication: KubeClient | None = None
    authorization: KubeClient | None = None


NOBODY: Final = Reviewers()
