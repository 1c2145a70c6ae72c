"""What-if questions from Python: the import root for notebooks and scripts (docs/python-api.md)."""

from podium.offline.what_if import *  # noqa: F403
from podium.offline.what_if import __all__ as __all__  # noqa: PLC0414
