"""A cluster in which a scheduler has to do everything that it can do, and everything it writes.

There are no controllers and no kubelets: what they would do for a step, the step does.
"""

from collections.abc import Callable
from typing import Any, Final

from support.deploy.deployed_server import node
from support.waiting import wait_until

DRIVER: Final = "gpu.example.com"
PODS: Final = "/api/v1/namespaces/default/pods"
CLAIMS: Final = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
EVENTS: Final = "/apis/events.k8s.io/v1/namespaces/default/events"
_VOLUMES: Final = "/api/v1/persistentvolumes"
_VOLUME_CLAIMS: Final = "/api/v1/namespaces/default/persistentvolumeclaims"
_GROUPS: Final = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups"
_ADMISSION: Final = "/apis/admissionregistration.k8s.io/v1"
_REQUEST: Final = {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}

Ask = Callable[..., Any]


class BusyCluster:
    """`ask` sends a request as the administrator: method, path, body; `gangs` says whether the
    server knows pod groups."""

    def __init__(self, ask: Ask, scheduler: str, *, gangs: bool = True) -> None:
        self._ask = ask
        self._scheduler = scheduler
        self._gangs = gangs

    def run(self) -> None:
        """Each step in turn; it is over when the scheduler has done what it is about."""
        for name in ("n1", "n2"):
            self._ask("POST", "/api/v1/nodes", node(name))
        self.place()
        self.fail_thrice()
        self.preempt()
        self.bind_volumes()
        self.allocate_devices()
        self.take_devices_back()
        if self._gangs:
            self.schedule_a_gang()

    def _pod(self, name: str, **spec: Any) -> None:
        container = {"name": "c", "image": "i", "resources": spec.pop("resources", {})}
        whole = {"schedulerName": self._scheduler, "containers": [container], **spec}
        self._ask("POST", PODS, {"metadata": {"name": name}, "spec": whole})

    def _found(self, name: str) -> Any:
        return self._ask("GET", f"{PODS}/{name}")

    def _until_bound(self, *names: str) -> None:
        wait_until(lambda: all(self._found(name)["spec"].get("nodeName") for name in names))

    def _delete(self, *names: str) -> None:
        for name in names:
            self._ask("DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": 0})

    def place(self) -> None:
        self._pod("web", resources={"requests": {"cpu": "100m"}})
        self._until_bound("web")

    def fail_thrice(self) -> None:
        """The third event is about the pod as the second was: they are a series."""
        small = [f"small-{number}" for number in range(8)]
        for name in small:
            self._pod(name, resources={"requests": {"cpu": "800m"}})
        self._until_bound(*small)
        self._pod("large", resources={"requests": {"cpu": "3500m"}})

        def failures() -> list[Any]:
            events = self._ask("GET", EVENTS)["items"]
            return [event for event in events if event["regarding"]["name"] == "large"]

        wait_until(lambda: len(failures()) == 1)
        self._delete(small[0])
        wait_until(lambda: len(failures()) == 2)
        self._delete(small[1])
        wait_until(lambda: any(event.get("series") for event in failures()))
        self._delete("large", *small[2:])

    def preempt(self) -> None:
        urgent = {"metadata": {"name": "urgent"}, "value": 1000}
        self._ask("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", urgent)
        for number in range(2):
            requests = {"requests": {"cpu": "3"}}
            self._pod(f"victim-{number}", resources=requests, terminationGracePeriodSeconds=0)
        self._until_bound("victim-0", "victim-1")
        urgent_cpu = {"requests": {"cpu": "2"}}
        self._pod("urgent", resources=urgent_cpu, priorityClassName="urgent")

        def victims() -> list[str]:
            found = self._ask("GET", PODS)["items"]
            return [each["metadata"]["name"] for each in found]

        wait_until(lambda: sum(name.startswith("victim-") for name in victims()) == 1)
        self._until_bound("urgent")

    def bind_volumes(self) -> None:
        for name, provisioner in (("local", "kubernetes.io/no-provisioner"), ("disks", "d.x")):
            self._ask(
                "POST",
                "/apis/storage.k8s.io/v1/storageclasses",
                {
                    "metadata": {"name": name},
                    "provisioner": provisioner,
                    "volumeBindingMode": "WaitForFirstConsumer",
                },
            )
            claim = {
                "storageClassName": name,
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            }
            self._ask("POST", _VOLUME_CLAIMS, {"metadata": {"name": name}, "spec": claim})
        volume = {
            "storageClassName": "local",
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "hostPath": {"path": "/data"},
        }
        made = self._ask("POST", _VOLUMES, {"metadata": {"name": "v"}, "spec": volume})
        self._ask("PUT", f"{_VOLUMES}/v/status", {**made, "status": {"phase": "Available"}})
        for name in ("local", "disks"):
            mounted = {"name": "data", "persistentVolumeClaim": {"claimName": name}}
            self._pod(f"with-{name}", volumes=[mounted])
        wait_until(lambda: self._ask("GET", f"{_VOLUMES}/v")["spec"].get("claimRef"))
        wait_until(
            lambda: self._ask("GET", f"{_VOLUME_CLAIMS}/disks")["metadata"].get("annotations")
        )

    def allocate_devices(self) -> None:
        selector = {"cel": {"expression": f'device.driver == "{DRIVER}"'}}
        spec = {"selectors": [selector], "extendedResourceName": "example.com/gpu"}
        made = {"metadata": {"name": "gpu"}, "spec": spec}
        self._ask("POST", "/apis/resource.k8s.io/v1/deviceclasses", made)
        slice_spec = {
            "driver": DRIVER,
            "nodeName": "n1",
            "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": f"gpu-{number}"} for number in range(4)],
        }
        made = {"metadata": {"name": "n1-gpus"}, "spec": slice_spec}
        self._ask("POST", "/apis/resource.k8s.io/v1/resourceslices", made)
        made = {"metadata": {"name": "one"}, "spec": {"devices": {"requests": [_REQUEST]}}}
        self._ask("POST", CLAIMS, made)
        self._pod("train", resourceClaims=[{"name": "gpu", "resourceClaimName": "one"}])
        limits = {"limits": {"example.com/gpu": "1"}}
        self._pod("extended", resources=limits)
        self._until_bound("train", "extended")

    def take_devices_back(self) -> None:
        """A policy refuses the binding of a pod after a claim was made for it."""
        refuse_binding(self._ask, "unbindable")
        # A policy counts when the server has noticed it; pods before that are bound.
        while not self._is_refused():
            self._delete("unbindable")
        self._delete("unbindable")
        before = len(self._ask("GET", CLAIMS)["items"])
        assert self._is_refused(resources={"limits": {"example.com/gpu": "1"}})
        wait_until(lambda: len(self._ask("GET", CLAIMS)["items"]) == before)
        self._delete("unbindable")

    def _is_refused(self, **spec: Any) -> bool:
        """Whether a new pod is refused its binding, and not bound."""
        self._pod("unbindable", **spec)
        uid = self._found("unbindable")["metadata"]["uid"]

        def denied() -> bool:
            return any(
                event["regarding"].get("uid") == uid and "denied request" in event.get("note", "")
                for event in self._ask("GET", EVENTS)["items"]
            )

        wait_until(lambda: denied() or self._found("unbindable")["spec"].get("nodeName"))
        return denied()

    def schedule_a_gang(self) -> None:
        policy = {"schedulingPolicy": {"gang": {"minCount": 2}}}
        self._ask("POST", _GROUPS, {"metadata": {"name": "gang"}, "spec": policy})
        for number in range(2):
            self._pod(f"member-{number}", schedulingGroup={"podGroupName": "gang"})
        self._until_bound("member-0", "member-1")
        wait_until(lambda: self._ask("GET", f"{_GROUPS}/gang").get("status", {}).get("conditions"))


def refuse_binding(ask: Ask, pod: str) -> None:
    """A policy refuses the binding of a pod."""
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods/binding"],
    }
    policy = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": f'request.name != "{pod}"'}],
    }
    named = {"metadata": {"name": pod}}
    ask("POST", f"{_ADMISSION}/validatingadmissionpolicies", {**named, "spec": policy})
    bound = {"policyName": pod, "validationActions": ["Deny"]}
    ask("POST", f"{_ADMISSION}/validatingadmissionpolicybindings", {**named, "spec": bound})
