"""Where a command asks a scheduler that runs for its own records, in place of deciding anew."""

from dataclasses import dataclass
from typing import Annotated, Final

from cyclopts import Parameter

SCHEDULER_EXTENSION: Final = "podium.dev/scheduler"
"""The extension of a kubeconfig's cluster that says where its scheduler is: `server` is its URL."""
OLD_SCHEDULER_EXTENSION: Final = "podium/scheduler"
"""Its earlier spelling, in files of an older `podium up`."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class RecordedOptions:
    recorded: Annotated[
        bool,
        Parameter(
            name=["--recorded"],
            negative="",
            show_default=False,
            help="Tell what the scheduler that runs has really decided, instead of deciding anew. "
            "The kubeconfig of `podium up` says where it is.",
        ),
    ] = False
    scheduler: Annotated[
        str | None,
        Parameter(
            name=["--scheduler"],
            metavar="URL",
            help="Where the scheduler serves its metrics, such as https://127.0.0.1:10259; implies "
            "--recorded. The kubeconfig's user asks.",
        ),
    ] = None
    token: Annotated[
        str | None,
        Parameter(
            name=["--token"],
            metavar="TOKEN",
            help="A bearer token for the scheduler, in place of the kubeconfig's user.",
        ),
    ] = None
    certificate_authority: Annotated[
        str | None,
        Parameter(
            name=["--certificate-authority"],
            metavar="FILE",
            help="Who has signed the scheduler's certificate. Left out: the kubeconfig's.",
        ),
    ] = None
    insecure_skip_tls_verify: Annotated[
        bool,
        Parameter(
            name=["--insecure-skip-tls-verify"],
            negative="",
            show_default=False,
            help="Trust whatever certificate the scheduler shows. It gets the token.",
        ),
    ] = False

    @property
    def is_asked(self) -> bool:
        return self.recorded or self.scheduler is not None


DECIDE_ANEW: Final = RecordedOptions()
"""Nothing was said about a scheduler that runs."""
