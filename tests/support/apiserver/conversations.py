"""Conversations with the API server, written down: what is asked, and what has to come back.

A file has a title and steps. A step asks (`POST /path`) with a `body` or a `text`, in a `type`, and
gives the `status` and those parts of the `answer` that matter: fields that are not written are not
looked at, lists have to have as many items as written, and `<absent>` stands for a field that must
not be there. `keep` remembers a value of the answer under a name, for `${name}` in later steps.
`WATCH name` starts a watch, `EVENTS name` tells what it has to have seen since. `gates` are feature
gates of the server that are not to have their defaults.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from support.apiserver.api_calls import APPLY, JSON_PATCH, MERGE, STRATEGIC, TOKEN, Api, Watching

from podium.golang.yaml_reader import PARSER
from podium.kubernetes.releases.feature_gates import FeatureGates

ABSENT = "<absent>"
TYPES = {"apply": APPLY, "json": JSON_PATCH, "merge": MERGE, "strategic": STRATEGIC}


@dataclass(frozen=True)
class Conversation:
    title: str
    steps: list[dict[str, Any]]
    gates: dict[str, bool]


def read_conversation(path: Path) -> Conversation:
    document = yaml.load(path.read_text(), PARSER)
    return Conversation(document["title"], document["steps"], document.get("gates", {}))


class Talk:
    """One conversation as it goes on."""

    def __init__(self, gates: dict[str, bool]) -> None:
        self._api = Api(gates=FeatureGates(gates))
        self._kept: dict[str, str] = {}
        self._watches: dict[str, Watching] = {}

    def step(self, step: dict[str, Any]) -> list[str]:
        """What came back otherwise than written; empty if all is well."""
        step = self._filled(step)
        verb, _, rest = step["ask"].partition(" ")
        if verb == "WATCH":
            name, _, path = rest.partition(" ")
            self._watches[name] = self._api.watch(path, **step.get("headers", {}))
            return []
        if verb == "EVENTS":
            return differences(step["events"], self._watches[rest].events(), "events")
        return self._ask(verb, rest, step)

    def _ask(self, method: str, path: str, step: dict[str, Any]) -> list[str]:
        token = None if step.get("anonymous") else step.get("token", TOKEN)
        written = step.get("type", "application/json")
        body = step["text"].encode() if "text" in step else step.get("body")
        answer = self._api.ask(
            method,
            path,
            body,
            token=token,
            content_type=TYPES.get(written, written),
            **step.get("headers", {}),
        )
        found = differences(step["status"], answer.status, "status")
        if "warning" in step:
            found += differences(step["warning"], answer.header("warning"), "warning")
        if "answer" in step:
            content: Any = answer.body if "json" in answer.content_type else answer.text.decode()
            found += differences(step["answer"], content, "answer")
        for name, place in step.get("keep", {}).items():
            self._kept[name] = _at(answer.body, place)
        return found

    def _filled(self, value: Any) -> Any:
        match value:
            case str():
                return re.sub(r"\$\{(\w+)\}", lambda found: str(self._kept[found[1]]), value)
            case dict():
                return {key: self._filled(item) for key, item in value.items()}
            case list():
                return [self._filled(item) for item in value]
        return value


def _at(value: Any, place: str) -> Any:
    for part in place.split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def differences(wanted: Any, found: Any, path: str) -> list[str]:
    """Where `found` is not as written."""
    match wanted, found:
        case dict(), dict():
            told = []
            for key, item in wanted.items():
                below = f"{path}.{key}"
                if item == ABSENT:
                    told += [f"{below} is {found[key]!r}"] if key in found else []
                elif key not in found:
                    told.append(f"{below} is not there")
                else:
                    told += differences(item, found[key], below)
            return told
        case list(), list() if len(wanted) == len(found):
            return [
                each
                for number, (one, other) in enumerate(zip(wanted, found, strict=True))
                for each in differences(one, other, f"{path}[{number}]")
            ]
    return [] if wanted == found else [f"{path} is {found!r}, not {wanted!r}"]
