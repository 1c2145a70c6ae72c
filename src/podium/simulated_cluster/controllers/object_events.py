"""Events that controllers write about the objects that they keep."""

from podium.kubernetes.kinds.meta import KubeObject
from podium.client.resources import EVENTS
from podium.simulated_cluster.actions import Create
from podium.kubernetes.rules.moment import Moment


def event_about(
    obj: KubeObject, component: str, type_: str, reason: str, message: str, moment: Moment
) -> Create:
    metadata = obj.metadata
    body = {
        "metadata": {"generateName": f"{metadata.name}.", "namespace": metadata.namespace},
        "involvedObject": {
            "apiVersion": obj.api_version,
            "kind": obj.kind,
            "name": metadata.name,
            "namespace": metadata.namespace,
            "uid": metadata.uid,
            "resourceVersion": metadata.resource_version,
        },
        "type": type_,
        "reason": reason,
        "message": message,
        "source": {"component": component},
        "reportingComponent": component,
        "firstTimestamp": moment.timestamp,
        "lastTimestamp": moment.timestamp,
        "count": 1,
    }
    return Create(EVENTS, metadata.namespace, body)
