"""Which volumes of a pod count against the attach limits of CSI drivers.

A volume counts under its driver and handle, so several pods can share it. In-tree volumes count
as what replaced them, on nodes that have a CSINode. A claim without a volume yet counts under a
name of its own: its volume will be attached as soon as it exists.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import (
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from podium.scheduler.cluster.catalog import Catalog, object_key
from podium.scheduler.plugins.volumes.csi_translation import (
    PLUGIN_NAMED,
    CsiVolume,
    TranslationError,
    in_tree_plugin,
    translate_inline,
    translate_volume,
)
from podium.scheduler.plugins.volumes.pod_claims import (
    NO_CLAIM_NAME,
    PodClaim,
    claim_not_found,
    claim_of,
    class_of_claim,
    controls,
    not_owner,
)

# Stands where upstream has 32 random characters: no handle of a real volume begins like this.
UNBOUND_PREFIX = "unbound-claim-without-any-volume"

Dependency = tuple[type, str]
"""Kind and key of an object that an answer was read from."""


class UncountableError(ValueError):
    """A pod whose volumes cannot be counted, which ends the attempt."""


class ClaimMissingError(UncountableError):
    """A claim of the new pod does not exist, which keeps it off every node."""


@dataclass(slots=True)
class VolumeCounting:
    """Counts volumes of pods; `read` collects what the answers depend on."""

    catalog: Catalog
    read: set[Dependency] = field(default_factory=set)

    def volumes(self, pod: Pod, *, migration: bool, new: bool) -> Iterator[CsiVolume]:
        """The counted volumes of a pod on a node with (`migration`) or without a CSINode."""
        for volume in pod.spec.volumes or ():
            claim = claim_of(pod, volume)
            if claim is not None:
                counted = self._of_claim(pod, claim, migration=migration, new=new)
            elif migration and (plugin := in_tree_plugin(volume)) and plugin.migrates:
                try:
                    counted = translate_inline(volume, pod.metadata.namespace)
                except TranslationError as problem:
                    text = f"converting volume({volume.name}) from inline to csi: {problem}"
                    raise UncountableError(text) from None
            else:
                continue
            if counted is not None and counted.driver and counted.handle:
                yield counted

    def of_attachment(self, attachment: VolumeAttachment) -> CsiVolume | None:
        """The volume of a VolumeAttachment; those of in-tree volumes do not count."""
        name = attachment.spec.source.persistent_volume_name
        if not attachment.spec.attacher or name is None:
            return None
        volume = self._get_volume(name)
        if volume is None or volume.spec.csi is None:
            return None
        return CsiVolume(attachment.spec.attacher, volume.spec.csi.volume_handle)

    def _of_claim(
        self, pod: Pod, used: PodClaim, *, migration: bool, new: bool
    ) -> CsiVolume | None:
        namespace = pod.metadata.namespace
        if not used.name:
            raise UncountableError(NO_CLAIM_NAME)
        self.read.add((PersistentVolumeClaim, f"{namespace}/{used.name}"))
        claim = self.catalog.get(PersistentVolumeClaim, used.name, namespace)
        if claim is None:
            if new:
                raise ClaimMissingError(
                    f"looking up PVC {namespace}/{used.name}: {claim_not_found(used.name)}"
                )
            return None
        if used.ephemeral and not controls(pod, claim):
            raise UncountableError(not_owner(pod, claim))
        volume = self._get_volume(claim.spec.volume_name) if claim.spec.volume_name else None
        if volume is None:
            return self._unbound(claim, migration=migration)
        if volume.spec.csi is not None:
            return CsiVolume(volume.spec.csi.driver, volume.spec.csi.volume_handle)
        plugin = in_tree_plugin(volume.spec)
        if plugin is None or not plugin.migrates or not migration:
            return None
        try:
            return translate_volume(volume)
        except TranslationError:
            # upstream: a volume that cannot be translated is left out of the count.
            return None

    def _unbound(self, claim: PersistentVolumeClaim, *, migration: bool) -> CsiVolume | None:
        class_name = class_of_claim(claim)
        if not class_name:
            return None
        self.read.add((StorageClass, class_name))
        storage_class = self.catalog.get(StorageClass, class_name)
        if storage_class is None:
            return None
        driver = storage_class.provisioner
        plugin = PLUGIN_NAMED.get(driver)
        if plugin is not None:
            if not migration or not plugin.migrates:
                return None
            driver = plugin.driver
        return CsiVolume(driver, f"{UNBOUND_PREFIX}-{object_key(claim.metadata)}")

    def _get_volume(self, name: str) -> PersistentVolume | None:
        self.read.add((PersistentVolume, name))
        return self.catalog.get(PersistentVolume, name)
