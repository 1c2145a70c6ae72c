"""Plugins that say which card of a node a pod is to have a share of.

GPUShare holds the cards and knows which will do. Of several that will, a plugin beside it in the
profile may prefer one, by the same rule by which it scored the node.
"""

from podium.addons.gpu.dialects.dialect import Dialect
from podium.addons.gpu.plugin.arguments import GPUShareArgs
from podium.plugin import Cycle, Handle, Plugin


class CardChooser(Plugin):
    def choose_card(self, cycle: Cycle, row: int) -> int | None:
        """The index of the card on this row that goes before others; None to leave it open."""
        raise NotImplementedError


def find_chooser(handle: Handle) -> CardChooser | None:
    """The first of the profile, if it has one."""
    found = (each for each in handle.profile.plugins.values() if isinstance(each, CardChooser))
    return next(found, None)


def preferred_card(
    handle: Handle, dialect: Dialect, args: GPUShareArgs, cycle: Cycle, row: int
) -> int | None:
    """The index of a card, where neither the pod, the configuration nor the agent says which."""
    chooser = find_chooser(handle)
    if chooser is None or dialect.chooses_shared_card or args.card_policy is not None:
        return None
    named = dialect.card_policy_key
    if named and cycle.pod.pod.metadata.annotation(named):
        return None
    return chooser.choose_card(cycle, row)
