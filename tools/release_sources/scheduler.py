"""The scheduler's default plugins and its extension points."""

import re
from pathlib import Path
from typing import Any, Final

from release_sources.go_source import SourceError, after, constants, read, without_comments

_DEFAULTS: Final = "pkg/scheduler/apis/config/v1/default_plugins.go"
_NAMES: Final = "pkg/scheduler/framework/plugins/names/names.go"
_FRAMEWORK: Final = "pkg/scheduler/framework/runtime/framework.go"
_TYPES: Final = "staging/src/k8s.io/kube-scheduler/config/v1/types.go"
_PLUGIN: Final = re.compile(r"\{Name: names\.(\w+)(?:, Weight: ptr\.To\[int32\]\((\d+)\))?\}")
_GATED: Final = re.compile(r"if \S+\.Enabled\(features\.(\w+)\) \{\n(.*?)\n\t\}", re.S)
_CALL: Final = re.compile(r"(apply\w+)\(config\)")
_BEFORE: Final = re.compile(r"\.Name == names\.(\w+)")


def read_plugins(source: Path) -> list[dict[str, Any]]:
    """The default plugins in their order; one with a gate stands where that gate puts it."""
    text = without_comments(read(source / _DEFAULTS))
    names = {name: value for name, (_, value) in constants(read(source / _NAMES)).items()}
    plugins = [_entry(m, names) for m in _PLUGIN.finditer(after(text, "Enabled: []v1.Plugin{"))]
    gated = after(text, "func applyFeatureGates(config *v1.Plugins) {")
    for match in _GATED.finditer(gated):
        gate, body = match[1], match[2]
        call = _CALL.search(body)
        if call:
            body = after(text, f"func {call[1]}(config *v1.Plugins) {{")
        added = {m[1]: {**_entry(m, names), "gate": gate} for m in _PLUGIN.finditer(body)}
        before = _BEFORE.search(body)
        at = len(plugins)
        if before:
            at = next(i for i, p in enumerate(plugins) if p["name"] == names[before[1]])
        plugins[at:at] = added.values()
    if not plugins:
        raise SourceError(f"{_DEFAULTS}: no default plugins")
    return plugins


def _entry(match: re.Match[str], names: dict[str, str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": names[match[1]]}
    if match[2]:
        entry["weight"] = int(match[2])
    return entry


def read_points(source: Path) -> list[str]:
    """The extension points as configuration files name them, in the order of their making."""
    made = after(read(source / _FRAMEWORK), "return []extensionPoint{")
    fields = after(read(source / _TYPES), "type Plugins struct {")
    names = dict(re.findall(r'(\w+) PluginSet `json:"(\w+),', fields))
    return [names[name] for name in re.findall(r"&plugins\.(\w+)", made)]
