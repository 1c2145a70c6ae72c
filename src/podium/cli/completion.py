"""`podium completion`: a script that completes commands and options in a shell."""

import sys
from typing import Annotated, Literal

from cyclopts import Parameter

from podium.cli.exit_codes import OK


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
    from podium.cli.app import build_app

    sys.stdout.write(build_app().generate_completion(prog_name="podium", shell=shell) + "\n")
    return OK
