"""What an entry of the corpus of pending pods is."""

from collections.abc import Sequence
from dataclasses import dataclass

from support.scheduler.explain.manifests import Manifest


@dataclass(frozen=True, slots=True)
class PendingPod:
    """A pod that gets no node, and why.

    `code` is the code of its first cause and `words` stand in the first sentence about it. `extra`
    are objects that come with the pod. `can_fit` says whether a change of the pod or of the cluster
    could help. `plugin` is the text of a plugin file, `config` that of a configuration, `gates` the
    feature gates that the entry needs.
    """

    pod: Manifest
    code: str
    words: tuple[str, ...]
    extra: Sequence[Manifest] = ()
    can_fit: bool = True
    plugin: str = ""
    config: str = ""
    gates: str = ""

    @property
    def name(self) -> str:
        name: str = self.pod["metadata"]["name"]
        return name

    @property
    def key(self) -> str:
        return f"{self.pod['metadata']['namespace']}/{self.name}"

    @property
    def is_plain(self) -> bool:
        """Whether it can share a scheduler with the others."""
        return not (self.plugin or self.config or self.gates)
