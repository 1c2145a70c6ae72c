"""Writes the data file of a Kubernetes release from a checkout of its sources.

    python tools/release_data.py --source CHECKOUT --release 1.36.4 > v1_36.json
    python tools/release_data.py --source CHECKOUT --release 1.36.4 --check

Run by hand when a release comes out. A file has names, numbers, types and defaults, and no texts;
`podium.kubernetes.releases.entries` explains its entries. What the sources do not say in one place
is kept by hand and taken over from the file that `--kept` names: which kinds are wanted, gates that
earlier releases had, and defaults of flags that are computed. `--check` compares that file with the
sources, says where they differ, and ends with 1 if they do.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from release_sources.flags import read_flags
from release_sources.gates import read_gates
from release_sources.go_source import SourceError
from release_sources.metrics import read_metrics
from release_sources.scheduler import read_plugins, read_points
from release_sources.types import read_types

_FILES: Final = Path(__file__).parent.parent / "src/podium/kubernetes/releases"
_KEPT: Final = ("further_types", "removed_gates", "flags.default")
_LEVELS: Final = {"flags": 2, "types": 4}
"""How deep a part is broken into lines; 1 for those that are not listed."""

Data = dict[str, Any]


def main() -> int:
    arguments = _arguments()
    version, patch = _versions(arguments.release)
    own = _FILES / f"v{version.replace('.', '_')}.json"
    kept = arguments.kept or (own if own.exists() else max(_FILES.glob("v*.json")))
    try:
        before: Data = json.loads(kept.read_text())
        data = _data(arguments.source, version, patch, before, arguments.kind)
    except SourceError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if not arguments.check:
        (arguments.output or own).write_text(render(data))
        return 0
    differences = list(_differences("", before, data))
    if not differences and render(data) != kept.read_text():
        differences = ["the same data in another layout"]
    sys.stdout.writelines(f"{difference}\n" for difference in differences)
    sys.stdout.write(f"{len(differences)} differences between {kept.name} and the sources\n")
    return 1 if differences else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--source", type=Path, required=True, help="checkout of the release")
    parser.add_argument("--release", required=True, help="such as 1.36.4")
    parser.add_argument("--kept", type=Path, help="file with what is kept by hand")
    parser.add_argument(
        "--kind", action="append", default=[], help="a further type, such as resource.DeviceClass"
    )
    parser.add_argument(
        "--output", type=Path, help="where to write; the release's own file if left out"
    )
    parser.add_argument("--check", action="store_true", help="compare only")
    return parser.parse_args()


def _versions(release: str) -> tuple[str, str]:
    numbers = release.removeprefix("v").split(".")
    return ".".join(numbers[:2]), f"v{'.'.join(numbers)}"


def _data(source: Path, version: str, patch: str, before: Data, further: list[str]) -> Data:
    gates, dependencies = read_gates(source)
    removed = dict(before["removed_gates"])
    removed |= {name: version for name in before["gates"] if name not in gates}
    further_types = sorted({*before["further_types"], *further})
    return {
        "release": version,
        "source": patch if patch != f"v{version}" else before["source"],
        "kept_by_hand": list(_KEPT),
        "further_types": further_types,
        "extension_points": read_points(source),
        "plugins": read_plugins(source),
        "gates": gates,
        "gate_dependencies": dependencies,
        "removed_gates": {n: since for n, since in sorted(removed.items()) if n not in gates},
        "flags": _with_defaults(read_flags(source), before["flags"]),
        "metrics": read_metrics(source),
        "types": read_types(source, _wanted(source, before["types"], further_types)),
    }


def _wanted(source: Path, types: Data, further: list[str]) -> Iterator[tuple[str, str]]:
    """The kinds of the file before, as far as their versions exist, and further types."""
    for section, entries in types.items():
        group, _, version = section.partition("/")
        folder = source / "staging/src/k8s.io/api" / group
        if version and not (folder / version).exists():
            found = ", ".join(sorted(path.name for path in folder.glob("v*")))
            sys.stderr.write(f"{section} is gone; the group has {found}\n")
            continue
        for name, entry in entries.items():
            if any(field.get("inline") and field["name"] == "TypeMeta" for field in _fields(entry)):
                yield section, name
    for name in further:
        section, _, kind = name.rpartition(".")
        yield section, kind


def _fields(entry: Data) -> list[Data]:
    found: list[Data] = entry.get("fields", [])
    return found


def _with_defaults(flags: Data, before: Data) -> Data:
    kept = {
        flag["name"]: flag["default"]
        for section in before.values()
        for flag in section
        if "default" in flag
    }
    for section in flags.values():
        for flag in section:
            if "default" not in flag and flag["name"] in kept:
                flag["default"] = kept[flag["name"]]
    return flags


def _differences(path: str, before: Any, after: Any) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            yield from _differences(f"{path}.{key}".lstrip("."), before.get(key), after.get(key))
    elif isinstance(before, list) and isinstance(after, list) and _named(before) and _named(after):
        if [entry["name"] for entry in before] != [entry["name"] for entry in after]:
            yield f"{path}: order or names"
        yield from _differences(path, {e["name"]: e for e in before}, {e["name"]: e for e in after})
    elif before != after:
        yield f"{path}: file {json.dumps(before)}, sources {json.dumps(after)}"


def _named(entries: list[Any]) -> bool:
    return all(isinstance(entry, dict) and "name" in entry for entry in entries)


def render(data: Data) -> str:
    """JSON with a line per entry, so that two releases can be compared with diff."""
    parts = (
        f"{json.dumps(name)}: {_render(part, _LEVELS.get(name, 1))}" for name, part in data.items()
    )
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _render(part: Any, levels: int) -> str:
    if levels == 0 or not part or not isinstance(part, dict | list):
        return json.dumps(part)
    if isinstance(part, list):
        return "[\n" + ",\n".join(_render(each, levels - 1) for each in part) + "\n]"
    lines = []
    for name, each in part.items():
        inner = levels - 1 if _has_entries(each) else 0
        lines.append(f"{json.dumps(name)}: {_render(each, inner)}")
    return "{\n" + ",\n".join(lines) + "\n}"


def _has_entries(value: Any) -> bool:
    """Whether there is something in it that is to have a line of its own."""
    if isinstance(value, dict):
        return any(isinstance(each, dict) or _has_entries(each) for each in value.values())
    return isinstance(value, list) and any(isinstance(each, dict) for each in value)


if __name__ == "__main__":
    sys.exit(main())
