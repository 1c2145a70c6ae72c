"""Policies by name: those of the study, and functions that users bring along.

A function takes node columns, a pod and the typical pods (`policies` says what it may rely on) and
gives an array of whole numbers, one a node, or a `Scored` with devices for shares. What it gives is
looked at, since a wrong shape would only show as a strange result.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, Final

import numpy as np

from podium.addons.gpu.packing.node_columns import NodeColumns, Pod
from podium.addons.gpu.packing.policies import POLICIES, Policy, Scored
from podium.addons.gpu.packing.typical_pods import TypicalPods
from podium.golang.errors import InputError, closest, did_you_mean
from podium.net.files.bounded_files import read_input
from podium.user_code.modules import code_file, digest_module, load_code, loaded_anew

REVISIONS: Final[dict[str, str]] = {"FGDStranded": "2"}
"""Of policies of the study whose formula has changed: results of the former one are not theirs."""

_FORMS = "FILE.py:FUNCTION or package.module:FUNCTION"


def load_policy(spec: str) -> Policy:
    """A policy of the study by its name, or a user's function."""
    if spec in POLICIES:
        return POLICIES[spec]
    if ":" not in spec:
        raise InputError(f"no policy named {spec}", remedy=_remedy(spec))
    found = load_code(spec, "--policy", _FORMS)
    function = getattr(found.module, found.name or "", None)
    if not callable(function):
        raise InputError(f"has no function {found.name}", source=found.where)
    return _check_policy(spec, function)


def policy_name(spec: str) -> str:
    """How results call a policy: a user's by its function."""
    return spec if spec in POLICIES else spec.rpartition(":")[2]


def policy_digest(spec: str) -> str:
    """Stands for the policy's code: results of a file that was changed are not its results."""
    if spec in POLICIES:
        return REVISIONS.get(spec, "")
    path = code_file(spec)
    return "" if path is None else sha256(read_input(str(path))).hexdigest()


def require_policy(spec: str, wanted: str) -> None:
    """Load the policy that has this digest. Raises InputError if the one here is another."""
    if spec in POLICIES:
        return
    module = load_code(spec, "--policy", _FORMS).module
    if digest_module(module) != wanted:
        # A worker that lives on may have loaded the file when it was another.
        with loaded_anew([spec]):
            module = load_code(spec, "--policy", _FORMS).module
        if digest_module(module) != wanted:
            raise InputError("is not the code that runs were planned with", source=spec)


def require_different_names(specs: Sequence[str]) -> None:
    names = [policy_name(spec) for spec in specs]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two policies are named {name}")


def _remedy(spec: str) -> str:
    return (
        did_you_mean(closest(spec, list(POLICIES))) or f"one of {', '.join(POLICIES)}, or {_FORMS}"
    )


def _check_policy(spec: str, function: Callable[..., Any]) -> Policy:
    def score(nodes: NodeColumns, pod: Pod, typical: TypicalPods) -> Scored:
        try:
            found = function(nodes, pod, typical)
        except Exception as problem:
            name = type(problem).__name__
            raise InputError(f"raised {name}: {problem}", source=spec) from problem
        scored = found if isinstance(found, Scored) else Scored(found)
        return Scored(
            _whole_numbers(spec, scored.scores, nodes), _devices(spec, scored, nodes, pod)
        )

    return score


def _devices(spec: str, scored: Scored, nodes: NodeColumns, pod: Pod) -> Any:
    if scored.devices is None or not pod.is_share:
        return None
    devices = _whole_numbers(spec, scored.devices, nodes)
    width = nodes.left.shape[1]
    if ((devices < 0) | (devices >= width)).any():
        raise InputError(f"names devices outside 0 to {width - 1}", source=spec)
    if (nodes.left[np.arange(len(devices)), devices] < pod.gpu_milli).any():
        raise InputError("names a device that does not hold the pod's share", source=spec)
    return devices


def _whole_numbers(spec: str, values: object, nodes: NodeColumns) -> Any:
    array = np.asarray(values)
    if array.shape != nodes.gpus.shape:
        shape = "x".join(map(str, array.shape)) or "one number"
        raise InputError(f"gave {shape} for {len(nodes.gpus)} nodes", source=spec)
    if array.dtype.kind not in "iub":
        remedy = "whole numbers, larger is better; multiply and truncate"
        raise InputError(f"gave numbers of type {array.dtype}", source=spec, remedy=remedy)
    return array.astype(np.int64)
