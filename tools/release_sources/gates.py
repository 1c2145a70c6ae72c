"""Feature gates with their history, and which gates need which."""

import re
from pathlib import Path
from typing import Any, Final

from release_sources.go_source import (
    SourceError,
    after,
    bracketed,
    constants,
    items,
    read,
    without_comments,
)

_STAGING: Final = "staging/src/k8s.io"
_FILES: Final = (
    "pkg/features/kube_features.go",
    f"{_STAGING}/apiserver/pkg/features/kube_features.go",
    f"{_STAGING}/apiextensions-apiserver/pkg/features/kube_features.go",
    f"{_STAGING}/client-go/features/known_features.go",
    f"{_STAGING}/component-base/logs/api/v1/kube_features.go",
    f"{_STAGING}/component-base/metrics/features/kube_features.go",
    f"{_STAGING}/component-base/zpages/features/kube_features.go",
    f"{_STAGING}/controller-manager/pkg/features/kube_features.go",
)
"""Whoever registers gates that kube-scheduler knows; the last one defines names only."""
_NAMES_ONLY: Final = _FILES[-1]
_SPECS: Final = re.compile(r"= map\[(?:featuregate\.)?Feature\](?:featuregate\.)?VersionedSpecs\{")
_RETURNED: Final = re.compile(r"return map\[featuregate\.Feature\]featuregate\.VersionedSpecs\{")
_NEEDS: Final = "defaultKubernetesFeatureGateDependencies = map[featuregate.Feature]"
_VERSION: Final = re.compile(r'version\.MustParse\("([\d.]+)"\)')


def read_gates(source: Path) -> tuple[dict[str, list[dict[str, Any]]], dict[str, list[str]]]:
    """The history of every gate, and the gates that each needs."""
    texts = {file: without_comments(read(source / file)) for file in _FILES}
    names = {name: value for text in texts.values() for name, (_, value) in constants(text).items()}
    gates: dict[str, list[dict[str, Any]]] = {}
    for file, text in texts.items():
        if file == _NAMES_ONLY:
            continue
        for match in (*_SPECS.finditer(text), *_RETURNED.finditer(text)):
            for name, specs in _entries(bracketed(text, match.end() - 1), names):
                gates[name] = [_stage(spec) for spec in items(specs)]
    needs = after(texts[_FILES[0]], f"{_NEEDS}[]featuregate.Feature{{")
    dependencies = {
        name: sorted(_name(each, names) for each in items(listed))
        for name, listed in _entries(needs, names)
    }
    return (
        dict(sorted(gates.items())),
        {name: needed for name, needed in sorted(dependencies.items()) if needed},
    )


def _entries(body: str, names: dict[str, str]) -> list[tuple[str, str]]:
    found = []
    for item in items(body):
        key, _, value = item.partition(":")
        opening = value.index("{")
        found.append((_name(key, names), bracketed(value, opening)))
    return found


def _name(written: str, names: dict[str, str]) -> str:
    constant = written.strip().rstrip(")").rpartition(".")[2]  # featuregate.Feature(other.Name)
    try:
        return names[constant]
    except KeyError:
        raise SourceError(f"no feature gate {written.strip()}") from None


def _stage(spec: str) -> dict[str, Any]:
    written = dict(part.split(": ", 1) for part in items(spec.strip("{}")))
    since = _VERSION.fullmatch(written["Version"])
    if since is None:
        raise SourceError(f"unknown version {written['Version']}")
    entry: dict[str, Any] = {
        "since": since[1],
        "stage": _STAGES[written["PreRelease"].rpartition(".")[2]],
    }
    if written.get("Default") == "true":
        entry["default"] = True
    if written.get("LockToDefault") == "true":
        entry["locked"] = True
    if "MinCompatibilityVersion" in written:
        peers = _VERSION.fullmatch(written["MinCompatibilityVersion"])
        entry["minCompatibility"] = peers[1] if peers else ""
    return entry


_STAGES: Final = {
    "PreAlpha": "pre-alpha",
    "Alpha": "alpha",
    "Beta": "beta",
    "GA": "ga",
    "Deprecated": "deprecated",
}
