"""What people touch: the `podium` command."""

from podium.cli.app import main

__all__ = ["main"]
