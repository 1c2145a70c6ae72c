"""Structs as OpenAPI models, for version 3 and for version 2 of the format.

The formats differ in where models stand and in what may be beside a reference: version 3 wraps
it in `allOf`, version 2 allows it.

What `kubectl explain` says about the most used fields of kinds, in a few words each. Keys are a
struct, or a struct and one of its fields. Fields that explain themselves, and those that this
server only stores, have no entry. What is said about a kind itself is in its record.
"""

from enum import Enum
from functools import cache
from typing import Final

from podium.golang.decoding import zero
from podium.golang.json_values import JsonObject, JsonValue
from podium.golang.shapes import (
    AnyValue,
    Field,
    Form,
    ListOf,
    MapOf,
    Omitted,
    Scalar,
    Shape,
    Struct,
    version_of,
)
from podium.kubernetes.kinds.catalogue import all_kinds

_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1"
_PREFIXES: Final = {
    "meta": _META,
    "apiregistration": "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1",
    "apiextensions": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1",
}
OBJECT_META: Final = f"{_META}.ObjectMeta"
LIST_META: Final = f"{_META}.ListMeta"
_TYPES: Final[dict[Form, JsonObject]] = {
    Form.STRING: {"type": "string"},
    Form.BOOL: {"type": "boolean"},
    Form.INT32: {"type": "integer", "format": "int32"},
    Form.INT64: {"type": "integer", "format": "int64"},
    Form.FLOAT: {"type": "number", "format": "double"},
    Form.BYTES: {"type": "string", "format": "byte"},
}
_NAMED: Final = {
    Form.QUANTITY: "io.k8s.apimachinery.pkg.api.resource.Quantity",
    Form.TIME: f"{_META}.Time",
    Form.MICRO_TIME: f"{_META}.MicroTime",
    Form.INT_OR_STRING: "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
}
_ANY_NAMES: Final = {
    "runtime.RawExtension": "io.k8s.apimachinery.pkg.runtime.RawExtension",
    "v1.FieldsV1": f"{_META}.FieldsV1",
}
_OBJECTS_OF_ANY_KIND: Final = "A value of any shape."


class OpenApiVersion(Enum):
    V3 = "#/components/schemas/"
    V2 = "#/definitions/"

    def reference(self, name: str) -> JsonObject:
        return {"$ref": self.value + name}


def model_name(struct: Struct) -> str:
    group = struct.group.partition("/")[0]
    prefix = _PREFIXES.get(group, f"io.k8s.api.{group}.{version_of(struct.group)}")
    return f"{prefix}.{struct.name}"


def custom_model_name(group: str, version: str, kind: str) -> str:
    return f"{'.'.join(reversed(group.split('.')))}.{version}.{kind}"


class Models:
    """The models of a document: those that were requested and all that they refer to."""

    def __init__(self, dialect: OpenApiVersion) -> None:
        self.dialect = dialect
        self.by_name: dict[str, JsonObject] = {}

    def refer(self, struct: Struct) -> JsonObject:
        """A reference to a struct, whose model is in the document from now on."""
        name = model_name(struct)
        if name not in self.by_name:
            self.by_name[name] = {}  # before its fields: they may refer back
            self.by_name[name].update(self._model(struct))
        return self.dialect.reference(name)

    def refer_named(self, name: str, model: JsonObject) -> JsonObject:
        self.by_name.setdefault(name, model)
        return self.dialect.reference(name)

    def list_of(self, name: str, item: JsonObject) -> JsonObject:
        """The model of a list of objects."""
        return {
            "description": f"A list of {name.removesuffix('List')} objects.",
            "type": "object",
            "required": ["items"],
            "properties": {
                "apiVersion": {"type": "string", "description": DESCRIPTIONS["apiVersion"]},
                "kind": {"type": "string", "description": DESCRIPTIONS["kind"]},
                "metadata": self.wrap_reference(self.list_meta(), {}),
                "items": {
                    "type": "array",
                    "items": self.wrap_reference(item, {}),
                    "description": DESCRIPTIONS["items"],
                },
            },
        }

    def list_meta(self) -> JsonObject:
        model = {
            "description": DESCRIPTIONS["ListMeta"],
            "type": "object",
            "properties": {
                "continue": {"type": "string"},
                "remainingItemCount": {"type": "integer", "format": "int64"},
                "resourceVersion": {"type": "string"},
                "selfLink": {"type": "string"},
            },
        }
        return self.refer_named(LIST_META, model)

    def _model(self, struct: Struct) -> JsonObject:
        model: JsonObject = {"type": "object"}
        description = description_of(struct.name)
        if description:
            model["description"] = description
        required = sorted(field.name for field in struct.fields.values() if field.is_required)
        if required:
            model["required"] = required
        if struct.fields:
            model["properties"] = {
                field.name: self._property(struct, field) for field in struct.fields.values()
            }
        if struct.is_atomic:
            model["x-kubernetes-map-type"] = "atomic"
        return model

    def _property(self, struct: Struct, field: Field) -> JsonObject:
        described = DESCRIPTIONS.get(f"{struct.name}.{field.name}")
        if described is None and struct.is_object:
            described = DESCRIPTIONS.get(field.name)
        beside: JsonObject = {} if described is None else {"description": described}
        default = _default(field)
        if default is not None and self.dialect is OpenApiVersion.V3:
            beside["default"] = default
        return {**self.wrap_reference(self._schema(field.shape), beside), **_marks(field)}

    def wrap_reference(self, schema: JsonObject, beside: JsonObject) -> JsonObject:
        """A schema with more beside it, which a reference may not have in version 3."""
        if "$ref" in schema and beside and self.dialect is OpenApiVersion.V3:
            return {"allOf": [schema], **beside}
        return {**schema, **beside}

    def _schema(self, shape: Shape) -> JsonObject:
        match shape:
            case Struct():
                return self.refer(shape)
            case ListOf():
                return {"type": "array", "items": self._schema(shape.item)}
            case MapOf():
                return {"type": "object", "additionalProperties": self._schema(shape.value)}
            case AnyValue():
                name = _ANY_NAMES.get(shape.go_name)
                described = {"description": _OBJECTS_OF_ANY_KIND}
                if name is None:
                    return described
                return self.refer_named(name, {**described, "type": "object"})
            case Scalar():
                return self._scalar(shape)

    def _scalar(self, shape: Scalar) -> JsonObject:
        name = _NAMED.get(shape.form)
        if name is not None:
            return self.refer_named(name, self._special(shape.form))
        schema = dict(_TYPES[shape.form])
        if shape.values:
            schema["enum"] = list(shape.values)
        return schema

    def _special(self, form: Form) -> JsonObject:
        is_v3 = self.dialect is OpenApiVersion.V3
        match form:
            case Form.QUANTITY:
                described = {"description": "An amount, such as 500m, 2 or 1Gi."}
                if is_v3:
                    return {**described, "oneOf": [{"type": "string"}, {"type": "number"}]}
                return {**described, "type": "string"}
            case Form.INT_OR_STRING:
                described = {"description": "A number, or a text such as a name or 25%."}
                if is_v3:
                    either: list[JsonValue] = [{"type": "integer"}, {"type": "string"}]
                    return {**described, "format": "int-or-string", "oneOf": either}
                return {**described, "type": "string", "format": "int-or-string"}
            case _:
                return {
                    "description": "A point in time (RFC 3339).",
                    "type": "string",
                    "format": "date-time",
                }


def _default(field: Field) -> JsonValue:
    """What a missing field counts as, for fields that are always written."""
    if field.default is not None:
        return field.default
    if field.is_pointer:
        return None
    if isinstance(field.shape, Struct):
        return {}
    if isinstance(field.shape, Scalar) and field.omitted is Omitted.NEVER:
        return zero(field.shape) if field.shape.form in _TYPES else None
    return None


def _marks(field: Field) -> JsonObject:
    """What patches and server-side apply have to know about a field."""
    marks: JsonObject = {}
    shape = field.shape
    if isinstance(shape, ListOf):
        if shape.keys:
            marks["x-kubernetes-list-map-keys"] = list(shape.keys)
        kind = "map" if shape.keys else "set" if shape.is_set else "atomic"
        marks["x-kubernetes-list-type"] = kind
    if isinstance(shape, MapOf) and shape.is_atomic:
        marks["x-kubernetes-map-type"] = "atomic"
    if field.merge_key:
        marks["x-kubernetes-patch-merge-key"] = field.merge_key
    strategies = [
        name
        for name, is_set in (
            ("merge", field.merges),
            ("replace", field.replaces),
            ("retainKeys", field.retains_keys),
        )
        if is_set
    ]
    if strategies:
        marks["x-kubernetes-patch-strategy"] = ",".join(strategies)
    return marks


DESCRIPTIONS: Final[dict[str, str]] = {
    "apiVersion": "APIVersion defines the group and version whose schema this object follows.",
    "kind": "The name of the kind of this object.",
    "metadata": "Standard object's metadata: its name, its labels and the like.",
    "spec": "The desired state.",
    "status": "What was last seen; written by the system.",
    "items": "The objects of the list.",
    "ObjectMeta": "Data that every stored object has about itself.",
    "ObjectMeta.name": "Unique among objects of its kind in the namespace; never changes.",
    "ObjectMeta.generateName": "A prefix: the server adds a random ending to make a name.",
    "ObjectMeta.namespace": "The namespace of the object; empty for cluster-wide kinds.",
    "ObjectMeta.labels": "Keys and values by which selectors find the object.",
    "ObjectMeta.annotations": "Keys and values that tools keep with the object; not for selecting.",
    "ObjectMeta.uid": "Set by the server; no two objects ever have the same.",
    "ObjectMeta.resourceVersion": "Changes with every write; send it to refuse lost updates.",
    "ObjectMeta.generation": "Counts changes of the desired state.",
    "ObjectMeta.creationTimestamp": "CreationTimestamp is a timestamp: when the server made it.",
    "ObjectMeta.deletionTimestamp": "When the object will be gone; set when it is deleted.",
    "ObjectMeta.finalizers": "Who has to agree before the object is removed.",
    "ObjectMeta.ownerReferences": "Objects that this one belongs to and goes with.",
    "ObjectMeta.managedFields": "Who owns which fields.",
    "ListMeta": "Data about a list: its version, and how to get the rest of it.",
    "LabelSelector": "Which objects are meant, by their labels; all requirements have to hold.",
    "TokenRequest": "Asks for a token of a service account.",
    "MutatingAdmissionPolicySpec.matchConstraints": "Which writes the policy is about.",
    "MutatingAdmissionPolicySpec.mutations": "What is changed, one after the other.",
    "MutatingAdmissionPolicySpec.reinvocationPolicy": "Never, or IfNeeded: once more after others.",
    "MutatingAdmissionPolicySpec.variables": "Values that the expressions share.",
    "ApplyConfiguration.expression": "CEL that makes an Object, which is merged into the object.",
    "JSONPatch.expression": "CEL that makes a list of JSONPatch operations.",
    "ValidatingAdmissionPolicySpec.matchConstraints": "Which writes the policy is about.",
    "ValidatingAdmissionPolicySpec.validations": "What has to hold; each is a CEL expression.",
    "ValidatingAdmissionPolicySpec.variables": "Values that the expressions share.",
    "WebhookClientConfig": "Where a webhook is called, and whose certificate it shows.",
    "WebhookClientConfig.caBundle": "Certificates, as PEM, of which one has to vouch for it.",
    "WebhookClientConfig.service": "A service, called under its name; its endpoints answer.",
    "WebhookClientConfig.url": "An https address; either this or a service.",
    "APIServiceSpec.caBundle": "Certificates, as PEM, of which one has to vouch for the service.",
    "APIServiceSpec.groupPriorityMinimum": "Groups with a larger number are listed first.",
    "APIServiceSpec.service": "The service that requests are passed on to; none: this server.",
    "APIServiceSpec.versionPriority": "Versions with a larger number are listed first.",
    "CertificateSigningRequestSpec.request": "The request itself, as PEM.",
    "CertificateSigningRequestSpec.signerName": "The requested signer.",
    "PodSpec": "What a pod runs and where it may run.",
    "PodSpec.containers": "The containers of the pod; at least one.",
    "PodSpec.initContainers": "Containers that finish one by one before the others start.",
    "PodSpec.volumes": "Storage that containers can mount.",
    "PodSpec.nodeName": "The node that the pod is bound to; set by the scheduler.",
    "PodSpec.nodeSelector": "Labels that a node has to have for the pod to run there.",
    "PodSpec.affinity": "Rules about which nodes, and which other pods nearby, suit the pod.",
    "PodSpec.tolerations": "Taints that do not keep the pod from a node.",
    "PodSpec.topologySpreadConstraints": "How evenly such pods spread over zones or nodes.",
    "PodSpec.schedulerName": "The scheduler that finds a node for the pod.",
    "PodSpec.schedulingGates": "The pod waits outside the scheduling queue until none is left.",
    "PodSpec.priority": "Rank among pods that wait or could be evicted; from the priority class.",
    "PodSpec.priorityClassName": "The priority class that gives the pod its rank.",
    "PodSpec.preemptionPolicy": "Whether the pod may evict pods of lower priority.",
    "PodSpec.resourceClaims": "Claims on devices that containers may use.",
    "PodSpec.overhead": "What the runtime needs beside the containers; counts as requested.",
    "PodSpec.restartPolicy": "When containers that stop are started again.",
    "PodSpec.terminationGracePeriodSeconds": "How long containers have to stop by themselves.",
    "PodSpec.hostNetwork": "Use the network of the node instead of one of its own.",
    "PodStatus": "How a pod is doing.",
    "PodStatus.phase": "In one word, where the pod is in its life.",
    "PodStatus.conditions": "Yes or no to questions about the pod, with reasons.",
    "PodStatus.nominatedNodeName": "The node on which preemption frees resources for the pod.",
    "PodStatus.qosClass": "How the pod's requests and limits rank it when a node runs short.",
    "Container": "One program of a pod with its image and resources.",
    "Container.name": "Unique in the pod.",
    "Container.image": "The image to run.",
    "Container.command": "The program to start instead of the image's.",
    "Container.args": "Arguments of the program.",
    "Container.env": "Environment variables.",
    "Container.ports": "Ports that the program listens on.",
    "Container.resources": "What the container needs and what it may use at most.",
    "Container.volumeMounts": "Where volumes appear in the container.",
    "ContainerPort.hostPort": "A port of the node that leads to this one; taken on the node.",
    "ResourceRequirements": "Needs and limits, by resource.",
    "ResourceRequirements.requests": "What is set aside on the node for the container.",
    "ResourceRequirements.limits": "What the container may use at most.",
    "Affinity": "Rules about nodes and neighbours.",
    "NodeAffinity": "Rules about the labels of nodes.",
    "PodAffinity": "Pods that this one wants near it.",
    "PodAntiAffinity": "Pods that this one wants far from it.",
    "Toleration": "A taint, or a kind of taints, that the pod puts up with.",
    "Toleration.key": "The key of the taint; empty with operator Exists means every key.",
    "Toleration.operator": "How the value is compared.",
    "Toleration.effect": "The effect of the taint; empty means every effect.",
    "Toleration.tolerationSeconds": "How long a NoExecute taint is put up with.",
    "TopologySpreadConstraint": "A limit on how uneven pods may be spread.",
    "TopologySpreadConstraint.maxSkew": "By how many pods two domains may differ.",
    "TopologySpreadConstraint.topologyKey": "The node label whose values are the domains.",
    "TopologySpreadConstraint.whenUnsatisfiable": "Whether the limit is a rule or a wish.",
    "Volume": "Storage that belongs to a pod, by its source.",
    "NodeSpec.unschedulable": "New pods are kept away.",
    "NodeSpec.taints": "What keeps pods away that do not tolerate it.",
    "NodeStatus.allocatable": "What pods can have of the node's resources.",
    "NodeStatus.capacity": "All resources of the node.",
    "NodeStatus.conditions": "Yes or no to questions about the node, with reasons.",
    "Taint.effect": "What happens to pods that do not tolerate the taint.",
    "ConfigMap.data": "The settings as texts.",
    "PersistentVolumeClaimSpec.storageClassName": "The requested class of storage.",
    "PersistentVolumeClaimSpec.volumeName": "The volume that the claim is bound to.",
    "PodDisruptionBudgetSpec.minAvailable": "How many have to stay.",
    "PodDisruptionBudgetSpec.maxUnavailable": "How many may be missing.",
    "IngressSpec.rules": "Which backend takes the requests for which host and path.",
    "IngressSpec.defaultBackend": "Takes the requests that match no rule.",
    "IngressSpec.ingressClassName": "Who acts on this ingress.",
    "NetworkPolicySpec.podSelector": "The pods that the policy is about.",
    "HorizontalPodAutoscalerSpec.scaleTargetRef": "The workload that is scaled.",
    "HorizontalPodAutoscalerSpec.minReplicas": "How many pods there are at least.",
    "HorizontalPodAutoscalerSpec.maxReplicas": "How many pods there are at most.",
    "HorizontalPodAutoscalerSpec.metrics": "What is measured, and the values to aim at.",
    "HorizontalPodAutoscalerSpec.behavior": "How fast the number may grow and shrink.",
    "PodGroupSpec.schedulingPolicy": "Whether the pods need each other to start.",
    "GangSchedulingPolicy.minCount": "How many pods have to fit before any of them is bound.",
    "PriorityClass.value": "The priority of pods of this class; larger goes first.",
    "PriorityClass.globalDefault": "Pods without a class get this one.",
    "PriorityClass.preemptionPolicy": "Whether pods of this class may evict others.",
    "StorageClass.volumeBindingMode": "Whether claims wait for a pod before they get a volume.",
}


def description_of(struct: str) -> str:
    """What is said about a struct; empty when it has no entry."""
    return DESCRIPTIONS.get(struct) or _descriptions_of_kinds().get(struct, "")


@cache
def _descriptions_of_kinds() -> dict[str, str]:
    return {kind.kind: kind.description for kind in all_kinds()}
