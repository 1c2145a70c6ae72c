"""Texts that a terminal would obey rather than show, and input files that have them everywhere."""

import json
from pathlib import Path
from typing import Any, Final

from support.commands.command_line import Raw, node, pod

from podium.scheduler.config.types import API_VERSION, KIND

FORGED: Final = "x\npodium: all pods fit"

HOSTILE: Final = {
    "colour": "\x1b[31mred",
    "clear": "\x1b[2J\x1b[H",
    "conceal": "\x1b[8mhidden\x1b[0m",
    "title": "\x1b]0;owned\x07",
    "link": "\x1b]8;;http:evil\x1b\\here\x1b]8;;\x1b\\",
    "clipboard": "\x1b]52;c;cm0gLXJm\x07",
    "answer": "\x1b[6n\x05",
    "newline": FORGED,
    "return": "web\rgood",
    "backspace": "web\b\b\bgood",
    "tab": "a\tb",
    "feeds": "a\x0bb\x0cc\x1cd\x1de\x1ef",
    "delete": "a\x7fb",
    "c1": "\x9b31mred\x9d0;owned\x9c",
    "next line": "a\x85podium: all pods fit",
    "separators": "a\u2028b\u2029c",
    "override": "a\u202egnp.exe\u202c",
    "isolates": "a\u2066b\u2067c\u2068d\u2069",
    "marks": "a\u200eb\u200fc\u061cd",
    "zero width": "we\u200bb\u200c\u200d\u2060\ufeff",
    "tags": "a\U000e0041\U000e007f",
    "soft hyphen": "a\xadb",
    "spaces": "a\xa0b\u3000c",
    "markup": "[red]x[/red][link=http:evil]y[/link]",
    "unbalanced markup": "[/bold]",
    "emoji code": "a:smile:b",
}

WORST: Final = {
    "everything": "\x1b[8m\x1b]8;;e\x07\r\b\t\x0b\x7f\x9b\x85\u2028\u202e\u2066\u200e\u061c"
    "\u200b\ufeff\U000e0041\xad\xa0",
    "newline": FORGED,
    "markup": "[red]x[link=http:evil]y:smile:",
    "unbalanced markup": "[/bold]",
}
"""Enough for what prints like the rest; short enough for the name of a file."""


def cluster(text: str) -> list[Raw]:
    """Objects with the text wherever their kinds have room for one."""
    tainted = node(f"n-{text}", annotations={text: text})
    tainted["spec"] = {"taints": [{"key": text, "value": text, "effect": "NoSchedule"}]}
    tainted["status"]["allocatable"][f"example.com/{text}"] = "3"
    running = pod(f"r-{text}", nodeName="a", priorityClassName=text)
    placed = pod(f"p-{text}")
    placed["metadata"]["namespace"] = f"s-{text}"
    picky = pod(f"q-{text}", nodeName="", nodeSelector={"disk": "none"})
    picky["metadata"]["annotations"] = {text: text}
    large = pod(f"t-{text}", cpu="100")
    large["spec"]["containers"][0]["resources"]["requests"][f"example.com/{text}"] = "9"
    gated = pod(f"g-{text}", schedulingGates=[{"name": text}])
    foreign = pod(f"f-{text}", schedulerName=text)
    claims = [{"name": "v", "persistentVolumeClaim": {"claimName": text}}]
    stored = pod(f"v-{text}", volumes=claims)
    priority = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 5}
    priority["metadata"] = {"name": text}
    objects = [
        node("a"), tainted, priority, running, placed, picky, large, gated, foreign, stored,
    ]  # fmt: skip
    for obj in objects:  # as a cluster with such names has stored them; new ones are refused
        obj["metadata"]["resourceVersion"] = "1"
    return objects


def write_json(path: Path, document: Any) -> str:
    path.write_text(json.dumps(document))
    return str(path)


def write_cluster(text: str, *more: Raw, name: str = "cluster.json") -> str:
    items = [*cluster(text), *more]
    return write_json(Path(name), {"apiVersion": "v1", "kind": "List", "items": items})


def configuration(profile: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile], **fields}


def case(text: str) -> dict[str, Any]:
    """A recorded case that says something else than what will be decided."""
    expect = {"message": text, "bound": text, "filter": {text: None}, text: text}
    nodes, pods = cluster(text)[:2], cluster(text)[4:8]
    steps = [{"pod": each, "expect": expect} for each in pods]
    return {"name": f"case-{text}", "objects": nodes, "steps": steps}
