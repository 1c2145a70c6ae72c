"""The earlier name of `podium.addons.extenders`, for one release.

Extenders that people have written import it, and should import the package of today.
"""

import warnings

from podium.addons.extenders import Extender, ExtenderError, Nodes, Unresolvable, Victims

__all__ = ["Extender", "ExtenderError", "Nodes", "Unresolvable", "Victims"]

warnings.warn(
    "podium.extenders is now podium.addons.extenders; the old name goes with the next release",
    FutureWarning,
    stacklevel=2,
)
