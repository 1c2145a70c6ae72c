"""Volumes that nodes cannot reach, and those still to be found or made: none to bind, no room."""

from collections.abc import Iterator

from podium.kubernetes.kinds.storage import (
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from podium.kubernetes.rules.node_affinity import parse_node_selector
from podium.kubernetes.rules.quantity import value
from podium.scheduler.cluster.growth import Mask
from podium.scheduler.cluster.node_matching import terms_mask
from podium.scheduler.framework.explanations.finding import (
    Finding,
    Narrowing,
    bytes_text,
    join_words,
    some,
    terms_text,
)
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.plugins.volume_binding import VolumeBinding
from podium.scheduler.plugins.volume_binding.findings import (
    BIND_CONFLICT,
    NO_SPACE,
    NODE_CONFLICT,
    REASONS,
)
from podium.scheduler.plugins.volume_binding.node_reach import NO_PROVISIONER, volume_limit
from podium.scheduler.plugins.volume_binding.pod_volumes import (
    STORAGE,
    is_fully_bound,
    requested_bytes,
    selected_node,
)
from podium.scheduler.plugins.volumes.claim_causes import bound_volumes, claim_name
from podium.scheduler.plugins.volumes.pod_claims import (
    claims_of,
    class_of_claim,
    class_of_volume,
    find_claim,
)


def find_bindings(view: AttemptView, among: Mask) -> list[Finding]:
    found: list[Finding] = []
    unreachable = among & view.with_reason(VolumeBinding.name, REASONS[NODE_CONFLICT])
    if unreachable.any():
        found.extend(find_unreachable(view, unreachable))
    conflict = among & view.with_reason(VolumeBinding.name, REASONS[BIND_CONFLICT])
    if conflict.any():
        found.extend(_find_conflicts(view, conflict))
    full = among & view.with_reason(VolumeBinding.name, REASONS[NO_SPACE])
    if full.any():
        found.extend(_find_full(view, full))
    return found


def narrow_by_volumes(view: AttemptView) -> Narrowing:
    """Where the pod's volumes are, or can be made."""
    passes = ~view.rejected(VolumeBinding.name)
    names = join_words(volume.metadata.name for _, volume in bound_volumes(view.catalog, view.pod))
    if not names:
        text = "have its volumes or room for them"
        return Narrowing(VolumeBinding.name, passes, text, text.replace("have", "has", 1))
    text = f"PersistentVolume {names}"
    return Narrowing(VolumeBinding.name, passes, f"reach {text}", f"reaches {text}")


def find_unreachable(view: AttemptView, among: Mask) -> list[Finding]:
    """One finding for each volume whose node affinity leaves out some of the nodes."""
    found = []
    for claim, volume in bound_volumes(view.catalog, view.pod):
        affinity = volume.spec.node_affinity
        if affinity is None or affinity.required is None:
            continue
        terms = parse_node_selector(affinity.required)
        reached = terms_mask(view.table, terms, view.rows)
        nodes = among & ~reached
        if not nodes.any():
            continue
        wanted = terms_text(terms)
        reaching = view.named(reached)
        clause = (
            f"PersistentVolume {volume.metadata.name} of {claim_name(claim)} is reached only from"
            f" nodes with {wanted}"
        )
        if not reaching:
            clause += ", and there is no such node"
        elif any(name not in wanted for name in reaching):
            clause += f" ({some(reaching)})"
        found.append(
            Finding(
                "volume-node-affinity",
                volume.metadata.name,
                nodes,
                clause,
                f"PersistentVolume {volume.metadata.name} is only reached from {wanted}",
                facts={"volume": volume.metadata.name, "nodeAffinity": wanted},
            )
        )
    return found


def _find_unbound(view: AttemptView) -> Iterator[tuple[PersistentVolumeClaim, StorageClass]]:
    for used in claims_of(view.pod):
        claim = find_claim(view.catalog, view.pod, used.name)
        if claim is None or is_fully_bound(claim):
            continue
        storage_class = view.catalog.get(StorageClass, class_of_claim(claim))
        if storage_class is not None:
            yield claim, storage_class


def _find_conflicts(view: AttemptView, among: Mask) -> Iterator[Finding]:
    for claim, storage_class in _find_unbound(view):
        chosen = selected_node(claim)
        if chosen is not None:
            text = f"{claim_name(claim)} is being provisioned for node {chosen}"
            yield Finding("volume-node-selected", claim.metadata.name, among, text, text)
        elif storage_class.provisioner in NO_PROVISIONER:
            yield _find_nothing_to_bind(view, claim, storage_class, among)
        elif storage_class.allowed_topologies:
            yield _find_topology(view, claim, storage_class, among)


def _find_nothing_to_bind(
    view: AttemptView, claim: PersistentVolumeClaim, storage_class: StorageClass, among: Mask
) -> Finding:
    name = storage_class.metadata.name
    size = requested_bytes(claim) or 0
    volumes = [v for v in view.catalog.all(PersistentVolume) if class_of_volume(v) == name]
    free = [v for v in volumes if v.spec.claim_ref is None]
    large = [v for v in free if _size(v) >= size]
    asked = f"{claim_name(claim)} asks for {bytes_text(size)} of StorageClass {name}, which makes"
    asked += " no volumes itself; "
    if not volumes:
        clause = f"{asked}there is no PersistentVolume of that class"
    elif not free:
        clause = f"{asked}all {len(volumes):,} PersistentVolumes of that class are taken"
    elif not large:
        largest = max(free, key=_size)
        size_there = bytes_text(_size(largest))
        clause = f"{asked}the largest free one ({largest.metadata.name}) has {size_there}"
    else:
        hosts = _places(large)
        names = some([v.metadata.name for v in large])
        clause = f"{asked}{names} would do and {'is' if len(large) == 1 else 'are'} on {hosts}"
    return Finding(
        "no-volume-to-bind",
        f"{claim.metadata.namespace}/{claim.metadata.name}",
        among,
        clause,
        f"no free PersistentVolume of StorageClass {name} for {claim_name(claim)}",
        facts={
            "claim": f"{claim.metadata.namespace}/{claim.metadata.name}",
            "storageClass": name,
            "bytes": size,
            "volumes": len(volumes),
            "free": len(free),
            "largeEnough": [v.metadata.name for v in large[:20]],
        },
    )


def _size(volume: PersistentVolume) -> int:
    return value((volume.spec.capacity or {}).get(STORAGE, 0))


def _places(volumes: list[PersistentVolume]) -> str:
    """The values of the node affinity of volumes, in a few words."""
    places: dict[str, None] = {}
    for volume in volumes:
        affinity = volume.spec.node_affinity
        terms = affinity.required.node_selector_terms if affinity and affinity.required else None
        for term in terms or ():
            for expression in term.match_expressions or ():
                places |= dict.fromkeys(expression.values or ())
    return some(list(places)) or "other nodes, or in other access or volume modes"


def _find_topology(
    view: AttemptView, claim: PersistentVolumeClaim, storage_class: StorageClass, among: Mask
) -> Finding:
    name = storage_class.metadata.name
    expressions = [
        (expression.key, join_words(expression.values or (), "or"))
        for term in storage_class.allowed_topologies or ()
        for expression in term.match_label_expressions or ()
    ]
    wanted = join_words((f"{key} {values}" for key, values in expressions), "or")
    clause = f"StorageClass {name} of {claim_name(claim)} makes volumes in {wanted} only"
    if expressions:
        there = view.label(expressions[0][0], among)
        clause += f"; the nodes are in {some([value for value, _ in there])}" if there else ""
    return Finding(
        "storage-class-topology",
        name,
        among,
        clause,
        f"StorageClass {name} makes volumes in {wanted} only",
        facts={"storageClass": name, "allowedTopologies": wanted},
    )


def _find_full(view: AttemptView, among: Mask) -> Iterator[Finding]:
    for claim, storage_class in _find_unbound(view):
        name = storage_class.metadata.name
        size = requested_bytes(claim) or 0
        rooms = [
            volume_limit(capacity) or 0
            for capacity in view.catalog.all(CSIStorageCapacity)
            if capacity.storage_class_name == name
        ]
        clause = f"{claim_name(claim)} asks for {bytes_text(size)} of StorageClass {name}; "
        if rooms and max(rooms) >= size:
            clause += f"{view.say(among, 'has', 'have')} no such room in reach"
        elif rooms:
            clause += f"the most that {storage_class.provisioner} can make in one place is"
            clause += f" {bytes_text(max(rooms))}"
        else:
            clause += f"{storage_class.provisioner} has published no room for it anywhere"
        yield Finding(
            "storage-capacity",
            f"{claim.metadata.namespace}/{claim.metadata.name}",
            among,
            clause,
            f"no room for {bytes_text(size)} of StorageClass {name}",
            facts={"storageClass": name, "bytes": size, "largest": max(rooms, default=0)},
        )
