"""The metrics that kube-scheduler serves: names, types, stability, labels, buckets."""

import re
from pathlib import Path
from typing import Any, Final

from release_sources.go_source import (
    SourceError,
    bracketed,
    constants,
    go_files,
    items,
    read,
    without_comments,
)

_COMPONENT: Final = "staging/src/k8s.io/component-base/metrics/prometheus"
_FOLDERS: Final = (
    "pkg/scheduler/metrics",
    "pkg/scheduler/metrics/resources",
    "pkg/scheduler/framework/plugins/volumebinding/metrics",
    f"{_COMPONENT}/clientgo/leaderelection",
    f"{_COMPONENT}/feature",
    f"{_COMPONENT}/restclient",
    f"{_COMPONENT}/slis",
    f"{_COMPONENT}/version",
    f"{_COMPONENT}/workqueue",
)
_MADE: Final = re.compile(
    r"(?:\w+\.)?New(?:Lazy)?(?:Timing)?(Counter|Gauge|Histogram)(?:Vec)?(?:WithLabels)?\("
)
_DESCRIBED: Final = re.compile(r"metrics\.NewDesc\(")
_LABELS: Final = re.compile(r"\[\]string\{(.*)\}", re.S)
_DEFAULT_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


def read_metrics(source: Path) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for folder in _FOLDERS:
        for file in go_files(source / folder):
            text = without_comments(read(file))
            named = {name: value for name, (_, value) in constants(text).items()}
            for metric in _in(text, named):
                found[metric["name"]] = metric
    return [found[name] for name in sorted(found)]


def _in(text: str, named: dict[str, str]) -> list[dict[str, Any]]:
    metrics = []
    for match in _MADE.finditer(text):
        options, *rest = items(bracketed(text, match.end() - 1))
        if not options.startswith("&"):
            continue
        written = _options(options)
        parts = (_text(written.get(key, '""'), named) for key in ("Namespace", "Subsystem", "Name"))
        metric: dict[str, Any] = {
            "name": "_".join(filter(None, parts)),
            "type": match[1].lower(),
            "stability": written.get("StabilityLevel", "metrics.ALPHA").rpartition(".")[2],
        }
        labels = _labels(rest[0] if rest else "", named)
        if labels:
            metric["labels"] = labels
        if match[1] == "Histogram":
            metric["buckets"] = _buckets(written.get("Buckets", "metrics.DefBuckets"))
        metrics.append(metric)
    for match in _DESCRIBED.finditer(text):
        name, _, labels_text, _, stability, *_ = items(bracketed(text, match.end() - 1))
        metrics.append(
            {
                "name": _text(name, named),
                "type": "gauge",
                "stability": stability.rpartition(".")[2],
                "labels": _labels(labels_text, named),
            }
        )
    return metrics


def _options(text: str) -> dict[str, str]:
    body = bracketed(text, text.index("{"))
    pairs = (re.split(r":\s+", item, maxsplit=1) for item in items(body))
    return {pair[0].strip(): pair[1].strip() for pair in pairs if len(pair) == 2}


def _text(written: str, named: dict[str, str]) -> str:
    if written.startswith('"'):
        return written.strip('"')
    try:
        return named[written.rpartition(".")[2]]
    except KeyError:
        raise SourceError(f"no text constant {written}") from None


def _labels(written: str, named: dict[str, str]) -> list[str]:
    match = _LABELS.search(written)
    return [_text(label, named) for label in items(match[1])] if match else []


def _buckets(written: str) -> list[float]:
    if written.endswith("DefBuckets"):
        return list(_DEFAULT_BUCKETS)
    match = re.search(r"(\w+)(?:\(|\{)([\d.e, \n\t-]+)[)}]", written)
    if match is None:
        raise SourceError(f"unknown buckets {written}")
    numbers = [float(number) for number in items(match[2])]
    if match[1] != "ExponentialBuckets":
        return numbers
    start, factor, count = numbers
    bounds = [start]
    while len(bounds) < count:
        bounds.append(bounds[-1] * factor)
    return bounds
