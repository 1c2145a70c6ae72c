"""Replays a recorded transcript against a server, and judges each step.

Every step is taken, whatever came of those before it, so that one difference does not hide others.
An answer is normalised as the recorded one was (`transcript_normalising`) and compared as the step
says. Afterwards what the case has made is removed, so that cases can follow in any order.
"""

import difflib
import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from support.apiserver.apiserver_process import ApiServer
from support.apiserver.transcript_commands import (
    Commands,
    Output,
    StartedCommand,
    normalise_output,
    select_lines,
)
from support.apiserver.transcript_normalising import Normaliser, Raw
from support.apiserver.transcript_requests import (
    LINGER_S,
    Connections,
    Watch,
    normalise_headers,
)
from support.waiting import PATIENCE_S

_REPEAT: Final = re.compile(r"\{\{repeat:([^:}]*):(\d+)\}\}")
_MAX_LINES: Final = 80
_AT_ONCE: Final = {
    "kind": "DeleteOptions",
    "apiVersion": "v1",
    "gracePeriodSeconds": 0,
    "propagationPolicy": "Background",
}


@dataclass(frozen=True)
class Verdict:
    """How the answer to a step compares with the recorded one."""

    case: str
    step: str
    kind: str
    matches: bool
    has_right_outcome: bool
    """Whether at least the status, the exit code or the types of the events are right."""
    expected: Raw
    answer: Raw

    def describe(self) -> str:
        """The case, the step and the first lines that differ."""
        lines = difflib.unified_diff(
            _lines_of(self.expected), _lines_of(self.answer), "recorded", "answered", "", "", 1, ""
        )
        return "\n".join([f"{self.case} {self.step}", *islice(lines, _MAX_LINES)])


def replay_transcript(case: Raw, server: ApiServer, kubectl: Path) -> list[Verdict]:
    """Take the steps of a case in order, then remove what they made."""
    replay = TranscriptReplay(case, server, kubectl)
    try:
        return list(replay.take_steps())
    finally:
        replay.close()


class TranscriptReplay:
    """A case, and what its steps have left for later ones."""

    def __init__(self, case: Raw, server: ApiServer, kubectl: Path) -> None:
        self._case = case
        self._server = server
        self._home = Path(tempfile.mkdtemp(prefix="transcript-"))
        self._commands = Commands(kubectl, server.kubeconfig, self._home)
        self._connections = Connections(server)
        self._started: dict[str, StartedCommand] = {}
        self._watches: dict[str, Watch] = {}
        self._variables: dict[str, Any] = {}
        self._normaliser = Normaliser(
            server.url,
            case.get("normalise", ()),
            keeps_managers=case.get("managedFields") == "keep",
        )

    def take_steps(self) -> Iterator[Verdict]:
        for number, step in enumerate(self._case["steps"], 1):
            try:
                answer = self._take(_fill_in(step, self._variables))
            except Exception as problem:  # a broken answer differs; the steps after it go on
                answer = {"error": f"{type(problem).__name__}: {problem}"}
            if "expect" in step:
                name, expected = step.get("id", str(number)), step["expect"]
                same = matches(step.get("compare", "exact"), expected, answer)
                right = same or has_right_outcome(expected, answer)
                kind = step["kind"]
                yield Verdict(self._case["name"], name, kind, same, right, expected, answer)

    def _take(self, step: Raw) -> Raw:
        match step["kind"]:
            case "http":
                return self._request(step)
            case "watch_start":
                return self._start_watch(step)
            case "watch_collect":
                return self._collect_watch(step)
            case "kubectl":
                return self._normalise_output(self._commands.run(step), step)
            case "kubectl_start":
                return self._start_command(step)
            case "kubectl_collect":
                return self._collect_command(step)
            case "sleep":
                return {}  # the recorded server took a while to serve a new kind, this one none
            case kind:
                raise ValueError(f"steps of the kind {kind!r} are unknown")

    def _request(self, step: Raw) -> Raw:
        normaliser = self._normaliser_of(step)
        reply = self._connections.request(step)
        response = reply.response
        answer: Raw = {
            "status": response.status,
            "headers": normalise_headers(response, step, normaliser),
            "body": None,
        }
        if "connection" in step:
            answer["keepAlive"] = not response.will_close
        if reply.is_protobuf:
            answer["body"] = {"protobuf": True}
        elif reply.is_json and not reply.is_empty:
            document = reply.decode()
            self._capture(step, document)
            answer["body"] = _select(normaliser.json(document), step)
        elif not reply.is_empty:
            answer["body"] = select_lines(normaliser.text(reply.text), step)
        return answer

    def _start_watch(self, step: Raw) -> Raw:
        watch = self._watches[step["name"]] = Watch(self._server, step)
        watch.read(step.get("waitEvents", 0), bookmarks=True)
        headers = normalise_headers(watch.response, step, self._normaliser_of(step))
        return {"status": watch.response.status, "headers": headers}

    def _collect_watch(self, step: Raw) -> Raw:
        watch = self._watches.pop(step["name"])
        try:
            if "events" in step:
                watch.read(step["events"])
                watch.read_to_end(LINGER_S)
            else:
                watch.read_to_end(step.get("timeout", PATIENCE_S))
        finally:
            watch.close()
        events = watch.events
        self._capture(step, events)
        normaliser = self._normaliser_of({**watch.step, **step})
        answer: Raw = {"events": normaliser.json(events)}
        if "events" not in step:
            answer |= {"closed": watch.closed, "bookmark": watch.has_bookmark}
        return answer

    def _start_command(self, step: Raw) -> Raw:
        command = self._started[step["name"]] = self._commands.start(step)
        command.wait_for_lines(step.get("waitLines", 0))
        if "settle" in step:
            command.wait_for_watch()
        return {}

    def _collect_command(self, step: Raw) -> Raw:
        command = self._started.pop(step["name"])
        stopped = "lines" in step
        output = command.stop_after_lines(step["lines"]) if stopped else command.wait()
        return self._normalise_output(output, {**command.step, **step})

    def _normalise_output(self, output: Output, step: Raw) -> Raw:
        normaliser = self._normaliser_of(step)
        answer = normalise_output(output, step, normaliser)
        document = output.decode()
        if document is not None:
            answer["stdoutJSON"] = _select(normaliser.json(document), step)
        return answer

    def _normaliser_of(self, step: Raw) -> Normaliser:
        return self._normaliser.add_rules(step.get("normalise", ()))

    def _capture(self, step: Raw, document: Any) -> None:
        """Keep values of an answer for the steps after it."""
        for name, path in step.get("capture", {}).items():
            self._variables[name] = _value_at(document, path)

    def close(self) -> None:
        """End what runs and remove what was made; nobody compares how that goes."""
        for command in self._started.values():
            command.kill()
        for watch in self._watches.values():
            watch.close()
        cleanup = self._case.get("cleanup", {})
        for namespace in cleanup.get("namespaces", []):
            for collection in cleanup.get("collections", []):
                group, _, plural = collection.rpartition("/")
                self._empty(f"/{group}/namespaces/{namespace}/{plural}")
            if namespace != "default":
                self._remove_namespace(f"/api/v1/namespaces/{namespace}")
        for path in cleanup.get("objects", []):
            self._remove(path)
        self._connections.close()
        shutil.rmtree(self._home, ignore_errors=True)

    def _empty(self, collection: str) -> None:
        status, found = self._connections.call("GET", collection)
        for item in found.get("items") or [] if status == 200 else []:
            self._remove(f"{collection}/{item['metadata']['name']}")

    def _remove(self, path: str) -> None:
        call = self._connections.call
        if call("DELETE", path, _AT_ONCE)[0] not in (200, 202):
            return
        status, left = call("GET", path)
        if status == 200 and left["metadata"].get("finalizers"):
            without = {"metadata": {"finalizers": None}}
            call("PATCH", path, without, "application/merge-patch+json")

    def _remove_namespace(self, path: str) -> None:
        call = self._connections.call
        call("DELETE", path, _AT_ONCE)
        status, left = call("GET", path)
        if status == 200:
            left.setdefault("spec", {})["finalizers"] = []
            call("PUT", f"{path}/finalize", left)


def matches(mode: str, expected: Raw, answer: Raw) -> bool:
    """Whether an answer is the recorded one, as far as the mode compares them."""
    match mode:
        case "exact":
            return expected == answer
        case "contains":
            return _contains(answer, expected)
        case "keys":
            keys = set(expected.get("body") or {}), set(answer.get("body") or {})
            return expected.get("status") == answer.get("status") and keys[0] == keys[1]
        case "status":
            return _ending(expected) == _ending(answer)
    raise ValueError(f"steps are not compared by {mode!r}")


def has_right_outcome(expected: Raw, answer: Raw) -> bool:
    if "events" in expected:
        types = ([each.get("type") for each in one.get("events", [])] for one in (expected, answer))
        return next(types) == next(types)
    return _ending(expected) == _ending(answer)


def _ending(answer: Raw) -> tuple[Any, Any]:
    return answer.get("status"), answer.get("exit")


def _contains(whole: Any, part: Any) -> bool:
    """Whether every key and every item of `part` is in `whole`."""
    match part, whole:
        case dict(), dict():
            return all(key in whole and _contains(whole[key], part[key]) for key in part)
        case list(), list():
            return all(any(_contains(item, wanted) for item in whole) for wanted in part)
    return bool(part == whole)


def _fill_in(value: Any, variables: dict[str, Any]) -> Any:
    """A step with `{{variable}}` and `{{repeat:TEXT:N}}` replaced; `expect` stays as it is."""
    match value:
        case str():
            for name, content in variables.items():
                value = value.replace(f"{{{{{name}}}}}", str(content))
            return _REPEAT.sub(lambda found: found[1] * int(found[2]), value)
        case list():
            return [_fill_in(item, variables) for item in value]
        case dict():
            return {
                key: item if key == "expect" else _fill_in(item, variables)
                for key, item in value.items()
            }
    return value


def _value_at(value: Any, path: str) -> Any:
    """The value at a path of keys and list positions, such as `items.0.metadata.uid`."""
    for part in path.split("."):
        match value:
            case list() if int(part) < len(value):
                value = value[int(part)]
            case dict():
                value = value.get(part)
            case _:
                return None
    return value


def _select(document: Any, step: Raw) -> Any:
    """Of the lists that a step names, only the items that it names, in its order."""
    for rule in step.get("select", []):
        path, _, last = rule["path"].rpartition(".")
        parent = _value_at(document, path) if path else document
        if isinstance(parent, dict) and isinstance(parent.get(last), list):
            by_key = [(_value_at(item, rule["key"]), item) for item in parent[last]]
            parent[last] = [
                item for wanted in rule["values"] for key, item in by_key if key == wanted
            ]
    return document


def _lines_of(answer: Raw) -> list[str]:
    """For people to compare: JSON, and below it texts as they are."""
    texts = [key for key in ("stdout", "stderr") if key in answer]
    rest = {key: value for key, value in answer.items() if key not in texts}
    lines = json.dumps(rest, indent=1, sort_keys=True).split("\n")
    for key in texts:
        lines += [f"[{key}]", *answer[key].split("\n")]
    return lines
