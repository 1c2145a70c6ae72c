"""What people touch: the `podium` command."""

from podium.commands.app import main

__all__ = ["main"]
