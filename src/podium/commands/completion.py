"""`podium completion`: a script that completes commands and options in a shell."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from cyclopts import Parameter

from podium.commands.exit_codes import OK

if TYPE_CHECKING:
    from podium.scheduler.config.flags.definitions import Flag


_HELP: Final = ("help", "version")
"""Every command has these."""
_FILES: Final = ("config", "kubeconfig", "file", "dir", "write-config-to", "plugin")
"""How flags end that name a file."""


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="Your shell.")],
) -> int:
    """Print a completion script.

    ```
    podium completion bash > ~/.local/share/bash-completion/completions/podium
    podium completion zsh  > "${fpath[1]}/_podium"
    podium completion fish > ~/.config/fish/completions/podium.fish
    ```
    """
    from podium.commands.app import build_app

    app = build_app(commands={"run": run_with_flags()})
    sys.stdout.write(app.generate_completion(prog_name="podium", shell=shell) + "\n")
    return OK


def run_with_flags() -> Callable[..., None]:
    """`podium run` as the completion has to see it. The real one leaves its words to a reader of Go
    flags; this one has each flag as an option, and is never called."""
    from podium.kubernetes.releases.release import release
    from podium.scheduler.config.flags.definitions import by_name, scheduler_flags

    def run(**flags: object) -> None:
        """Schedule in a cluster, with the command line of kube-scheduler."""
        raise NotImplementedError(flags)

    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                flag.name.replace("-", "_"),
                inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=Annotated[
                    _type_of(flag), Parameter(name=_names(flag), help=flag.help, negative="")
                ],
            )
            for flag in by_name(scheduler_flags(release())).values()
            if flag.name not in _HELP
        ]
    )
    return run


def _names(flag: Flag) -> list[str]:
    return [f"--{flag.name}", *([f"-{flag.shorthand}"] if flag.shorthand else [])]


def _type_of(flag: Flag) -> Any:
    from podium.scheduler.config.flags.kinds import BOOL

    if flag.kind is BOOL:
        return bool | None
    return Path | None if flag.name.endswith(_FILES) else str | None
