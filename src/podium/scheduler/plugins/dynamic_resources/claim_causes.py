"""ResourceClaims that a pod cannot have anywhere: missing, going, not made yet, of no class."""

from podium.kubernetes.kinds.devices import DeviceClass, ResourceClaim
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.explanations.finding import sentence
from podium.scheduler.framework.plugin import RefusalCause
from podium.scheduler.plugins.dynamic_resources.claim_state import ClaimState
from podium.scheduler.plugins.dynamic_resources.pod_claims import claim_key, is_made_for


def explain_claims(cluster: Cluster, gates: FeatureGates, pod: Pod) -> RefusalCause | None:
    """The first thing that is wrong with the claims of a pod, whatever the node."""
    return find_device_claim_problem(cluster, gates, pod) or find_device_class_problem(cluster, pod)


def find_device_claim_problem(
    cluster: Cluster, gates: FeatureGates, pod: Pod
) -> RefusalCause | None:
    """The first claim of the pod that is not there, or not for it."""
    namespace = pod.metadata.namespace
    made = {s.name: s.resource_claim_name for s in pod.status.resource_claim_statuses or ()}
    for reference in pod.spec.resource_claims or ():
        template = reference.resource_claim_template_name
        name = reference.resource_claim_name
        if name is None:
            if reference.name not in made:
                return _not_created(namespace, reference.name, template)
            name = made[reference.name]
            if name is None:
                continue
        problem = _claim_problem(
            cluster, gates, pod, f"{namespace}/{name}", owned=template is not None
        )
        if problem is not None:
            return problem
    return None


def find_device_class_problem(cluster: Cluster, pod: Pod) -> RefusalCause | None:
    """The first claim that asks for a class that does not exist, or is being allocated."""
    claims = ClaimState.of(cluster)
    for claim in claims_of_pod(cluster, pod):
        if claim.status.allocation is not None:
            continue
        if claims.is_pending(claim.metadata.uid):
            text = f"ResourceClaim {claim_key(claim)} is being allocated for another pod"
            return _cause("resource-claim-pending", claim_key(claim), text)
        for request in claim.spec.devices.requests or ():
            parts = (request.exactly,) if request.exactly else (request.first_available or ())
            for part in parts:
                name = part.device_class_name
                if cluster.catalog.get(DeviceClass, name) is None:
                    known = sorted(c.metadata.name for c in cluster.catalog.all(DeviceClass))
                    text = (
                        f"DeviceClass {name}, which request {request.name} of ResourceClaim"
                        f" {claim_key(claim)} asks for, does not exist"
                    )
                    text += f"; there {_are(len(known))} {', '.join(known[:10])}" if known else ""
                    return _cause("device-class-missing", name, text)
    return None


def claims_of_pod(cluster: Cluster, pod: Pod) -> list[ResourceClaim]:
    """The claims of a pod that exist, in its order."""
    made = {s.name: s.resource_claim_name for s in pod.status.resource_claim_statuses or ()}
    found = []
    for reference in pod.spec.resource_claims or ():
        name = reference.resource_claim_name or made.get(reference.name)
        claim = ClaimState.of(cluster).find(pod.metadata.namespace, name) if name else None
        if claim is not None:
            found.append(claim)
    return found


def _claim_problem(
    cluster: Cluster, gates: FeatureGates, pod: Pod, key: str, *, owned: bool
) -> RefusalCause | None:
    namespace, _, name = key.partition("/")
    claim = cluster.catalog.get(ResourceClaim, name, namespace)
    if claim is None:
        return _cause("resource-claim-missing", key, f"ResourceClaim {key} does not exist")
    if claim.metadata.deletion_timestamp is not None:
        return _cause("resource-claim-deleting", key, f"ResourceClaim {key} is being deleted")
    of_groups = gates["DRAWorkloadResourceClaims"]
    if owned and not is_made_for(claim, pod, of_groups=of_groups):
        text = f"ResourceClaim {key} was not made for this pod, which it has to be"
        return _cause("resource-claim-not-owned", key, text)
    return None


def _not_created(namespace: str, entry: str, template: str | None) -> RefusalCause:
    if template is None:
        text = f"entry {entry} of its resourceClaims names neither a claim nor a template"
    else:
        text = (
            f"the ResourceClaim for entry {entry} of its resourceClaims has not been made from"
            f" ResourceClaimTemplate {namespace}/{template}"
        )
    return _cause("resource-claim-not-created", f"{namespace}/{template or entry}", text)


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _cause(code: str, subject: str, text: str) -> RefusalCause:
    return RefusalCause(code, subject, sentence([text]), {"object": subject}, keeps_message=True)
