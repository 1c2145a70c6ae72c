"""Manifests as people write them, with words in capitals for what differs."""

POD = """
apiVersion: v1
kind: Pod
metadata: {name: NAME, labels: {app: web}}
spec:
  nodeName: NODE
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: nginx}]
"""
NODE = """
apiVersion: v1
kind: Node
metadata: {name: NAME, labels: {kubernetes.io/hostname: NAME}}
status:
  allocatable: {cpu: "8", memory: 32Gi, pods: "110"}
  conditions: [{type: Ready, status: "True"}]
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: REPLICAS
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: nginx}]}
"""
DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: queues.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Queue, plural: queues, shortNames: [q]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {weight: {type: integer, minimum: 1, default: 7}}}
    additionalPrinterColumns:
    - {name: Weight, type: integer, jsonPath: .spec.weight}
"""
QUEUE = "apiVersion: GROUP/v1\nkind: Queue\nmetadata: {name: one}\nspec: {}\n"
BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: b}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
"""


def pod_manifest(name: str, node: str = '""') -> str:
    return POD.replace("NAME", name).replace("NODE", node)
