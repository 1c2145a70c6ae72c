"""Jobs and daemon sets: the marks by which they know their pods; the status of deployments.

A job selects the pods that carry its uid; the server writes the selector and the labels unless the
job brings its own, and a job without labels carries those of its pods. A daemon set counts the
versions of its template in an annotation.
"""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.strategy.preparation import keep_field

CONTROLLER_UID: Final = "batch.kubernetes.io/controller-uid"
_TEMPLATE_GENERATION: Final = "deprecated.daemonset.template.generation"


def job_labels(name: str, uid: str) -> dict[str, str]:
    """What the API server adds to the template of a job, for the job to know its pods by."""
    return {
        "job-name": name,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": uid,
        CONTROLLER_UID: uid,
    }


def prepare_job(job: JsonObject, _now: str) -> None:
    spec, metadata = job["spec"], job["metadata"]
    if spec.get("manualSelector"):
        return
    template = spec.setdefault("template", {}).setdefault("metadata", {})
    own = metadata.get("labels")
    # upstream: a job that has its labels from its template shares them, also what is added to them
    takes_labels = not own or own is template.get("labels")
    labels = template["labels"] = dict(template.get("labels") or {})
    name, uid = metadata.get("name", ""), metadata.get("uid", "")
    for key, value in job_labels(name, uid).items():
        labels.setdefault(key, value)
    selector = spec["selector"] = dict(spec.get("selector") or {})
    selector["matchLabels"] = {
        CONTROLLER_UID: uid,
        **(selector.get("matchLabels") or {}),
    }
    if takes_labels:
        metadata["labels"] = dict(labels)


def prepare_daemon_set(daemon_set: JsonObject, _now: str) -> None:
    _set_template_generation(daemon_set, max(_template_generation(daemon_set), 1))


def prepare_daemon_set_update(new: JsonObject, old: JsonObject, _now: str) -> None:
    """The template's generation is counted up when the template changes."""
    generation = _template_generation(old)
    if (new.get("spec") or {}).get("template") != (old.get("spec") or {}).get("template"):
        generation += 1
    _set_template_generation(new, generation)


def prepare_deployment_status(new: JsonObject, old: JsonObject, _now: str) -> None:
    keep_field(new["metadata"], old["metadata"], "labels")


def _template_generation(daemon_set: JsonObject) -> int:
    written = (daemon_set["metadata"].get("annotations") or {}).get(_TEMPLATE_GENERATION, "0")
    return int(written) if written.isdecimal() else 0


def _set_template_generation(daemon_set: JsonObject, generation: int) -> None:
    metadata = daemon_set["metadata"]
    annotations = metadata.get("annotations") or {}
    metadata["annotations"] = {**annotations, _TEMPLATE_GENERATION: str(generation)}
