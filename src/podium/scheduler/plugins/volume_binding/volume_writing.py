"""PreBind: telling the API server which volumes a pod takes, and waiting until they are its own.

The scheduler only names the volume or the node; the volume controller and the provisioners do the
rest. So after the writes the objects are looked at once a second, as the API server shows them,
until every claim is bound, something has gone wrong, or the time is up. Nothing that was written
is taken back: the next attempt finds it.

Source: `BindPodVolumes` and `checkBindings` in
`pkg/scheduler/framework/plugins/volumebinding/binder.go`.
"""

from podium.kubernetes.kinds.storage import CSINode, PersistentVolume, PersistentVolumeClaim
from podium.kubernetes.rules.field_errors import aggregate
from podium.kubernetes.rules.node_affinity import parse_node_selector
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.handle import ApiHandle
from podium.scheduler.plugins.volume_binding.pod_volumes import (
    AssumedObjects,
    PodVolumes,
    Provision,
    StaticBinding,
    claim_key,
    is_fully_bound,
    not_found,
    selected_node,
)
from podium.scheduler.plugins.volumes.attach_limits import migrated_plugins
from podium.scheduler.plugins.volumes.csi_translation import (
    TranslationError,
    in_tree_plugin,
    translated_affinity,
)

CHECK_INTERVAL_S = 1.0
TIMED_OUT = "context deadline exceeded"
NO_MATCHING_TERM = "no matching NodeSelectorTerms"


class BindingFailure(Exception):
    """Volumes cannot be bound as planned; the pod has to be scheduled again."""


class VolumeWriter:
    def __init__(
        self,
        cluster: Cluster,
        volumes: AssumedObjects[PersistentVolume],
        claims: AssumedObjects[PersistentVolumeClaim],
        timeout_s: float,
    ) -> None:
        self._cluster = cluster
        self._volumes = volumes
        self._claims = claims
        self._timeout_s = timeout_s

    async def bind(self, pod: PodInfo, node_name: str, planned: PodVolumes, api: ApiHandle) -> None:
        """Write the plan and wait for it to come true; raises when it cannot."""
        await self._write(planned, api)
        left_s = self._timeout_s
        while left_s > CHECK_INTERVAL_S:
            await api.pause(CHECK_INTERVAL_S)
            left_s -= CHECK_INTERVAL_S
            try:
                if self.is_bound(pod, node_name, planned):
                    return
            except BindingFailure as problem:
                raise BindingFailure(f"binding volumes: {problem}") from None
        await api.pause(left_s)
        raise BindingFailure(f"binding volumes: {TIMED_OUT}")

    async def _write(self, planned: PodVolumes, api: ApiHandle) -> None:
        bindings, provisions = planned.bindings, planned.provisions
        written_bindings = written_provisions = 0
        try:
            for number, binding in enumerate(bindings):
                base = self._volumes.stored(binding.volume.metadata.name)
                stored = await api.update(binding.volume, base=base)
                bindings[number] = StaticBinding(binding.claim, stored)
                written_bindings += 1
            for number, provision in enumerate(provisions):
                claimed = self._claims.stored(claim_key(provision.claim))
                renewed = await api.update(provision.claim, base=claimed)
                provisions[number] = Provision(renewed, provision.capacity)
                written_provisions += 1
        finally:
            for binding in bindings[written_bindings:]:
                self._volumes.restore(binding.volume)
            for provision in provisions[written_provisions:]:
                self._claims.restore(provision.claim)

    def is_bound(self, pod: PodInfo, node_name: str, planned: PodVolumes) -> bool:
        """Whether all claims are bound by now; raises when they will not be."""
        if not self._cluster.nodes.is_present(node_name):
            raise BindingFailure(f'failed to get node "{node_name}": node "{node_name}" not found')
        if pod.uid not in self._cluster.placements:
            name = pod.pod.metadata.name
            raise BindingFailure(f'pod does not exist any more: pod "{name}" not found')
        return all(self._is_taken(binding, node_name) for binding in planned.bindings) and all(
            self._is_made(provision, node_name) for provision in planned.provisions
        )

    def _is_taken(self, binding: StaticBinding, node_name: str) -> bool:
        name = binding.volume.metadata.name
        volume = self._volumes.stored(name)
        if volume is None:
            raise BindingFailure(f"failed to check binding: {not_found(PersistentVolume, name)}")
        claim = self._stored_claim(binding.claim, "failed to check binding")
        if _is_older(volume, binding.volume):
            return False
        try:
            self._check_reach(volume, node_name)
        except TranslationError as problem:
            raise BindingFailure(f"failed to translate pv to csi: {problem}") from None
        if volume.spec.claim_ref is None or not volume.spec.claim_ref.uid:
            raise BindingFailure(f'ClaimRef got reset for pv "{name}"')
        return is_fully_bound(claim)

    def _is_made(self, provision: Provision, node_name: str) -> bool:
        claim = self._stored_claim(provision.claim, "failed to check provisioning pvc")
        if _is_older(claim, provision.claim):
            return False
        name = claim.metadata.name
        if claim.metadata.annotations is None:
            raise BindingFailure(f'selectedNode annotation reset for PVC "{name}"')
        if selected_node(claim) != node_name:
            raise BindingFailure(f'provisioning failed for PVC "{name}"')
        if claim.spec.volume_name:
            volume = self._volumes.stored(claim.spec.volume_name)
            if volume is None:
                return False
            try:
                self._check_reach(volume, node_name)
            except TranslationError as problem:
                raise BindingFailure(str(problem)) from None
        return is_fully_bound(claim)

    def _stored_claim(self, claim: PersistentVolumeClaim, doing: str) -> PersistentVolumeClaim:
        key = claim_key(claim)
        stored = self._claims.stored(key)
        if stored is None:
            raise BindingFailure(f"{doing}: {not_found(PersistentVolumeClaim, key)}")
        return stored

    def _check_reach(self, volume: PersistentVolume, node_name: str) -> None:
        plugin = in_tree_plugin(volume.spec)
        csi_node = self._cluster.catalog.get(CSINode, node_name)
        affinity = volume.spec.node_affinity
        required = affinity.required if affinity is not None else None
        if plugin is not None and plugin.migrates and plugin.name in migrated_plugins(csi_node):
            try:
                required = translated_affinity(volume)
            except TranslationError as problem:
                raise TranslationError(f"could not translate pv: {problem}") from None
        if required is None:
            return
        nodes = self._cluster.nodes
        labels = nodes.labels.labels_of(nodes.row(node_name))
        terms = parse_node_selector(required)
        if not any(term.matches(labels, "") for term in terms):
            errors = [term.error for term in terms if term.error is not None]
            raise BindingFailure(
                f'pv "{volume.metadata.name}" node affinity doesn\'t match node "{node_name}":'
                f" {aggregate(errors) if errors else NO_MATCHING_TERM}"
            )


def _is_older(
    stored: PersistentVolume | PersistentVolumeClaim,
    written: PersistentVolume | PersistentVolumeClaim,
) -> bool:
    """Whether the API server does not show yet what it answered to our write."""
    seen, ours = stored.metadata.resource_version, written.metadata.resource_version
    return seen.isdigit() and ours.isdigit() and int(seen) < int(ours)
