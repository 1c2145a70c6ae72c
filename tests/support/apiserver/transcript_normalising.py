"""Answers of an API server and of kubectl without what differs from run to run.

Times, uids, versions, addresses and random names become placeholders; lists whose order is the
server's choice are sorted. The transcripts in `tests/recorded` were written by these rules, so an
answer is comparable with one of them once it has been through here. `tests/recorded/README.md`
lists the rules for readers.
"""

import copy
import re
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

Raw = dict[str, Any]
Rule = tuple[re.Pattern[str], str]


def _compile(*rules: tuple[str, str]) -> tuple[Rule, ...]:
    return tuple((re.compile(pattern, re.M), replacement) for pattern, replacement in rules)


_ZONE: Final = r"(?:Z|[+-]\d\d:\d\d)"
_IN_STRINGS: Final = _compile(
    (rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+{_ZONE}", "<MICROTIME>"),
    (rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d{_ZONE}", "<TIME>"),
    (r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<UID>"),
    (r"too old resource version: \d+ \(\d+\)", "too old resource version: <RV> (<RV>)"),
    (r"(Too large resource version: \d+, current: )\d+", r"\1<RV>"),
    (r"(the ResourceVersion in (?:the precondition|record) \()\d+(\))", r"\1<RV>\2"),
    (r"\b10\.(?:0|96)\.\d{1,3}\.\d{1,3}\b(?!/)", "<CLUSTER_IP>"),
)
# An age stands alone: not in a name, a path, an assignment or a longer number.
_BEFORE_AGE: Final = r"(?<![\w.:/=-])"
_AFTER_AGE: Final = r"(?![\w.:/-])"
_IN_TEXT: Final = _compile(
    (
        r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}",
        "<TIME>",
    ),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}", "<TIME>"),
    (r'(resourceVersion"?\s*[:=]\s*"?)[1-9]\d*', r"\1<RV>"),
    (r"^(\s*Resource Version:\s+)\d+$", r"\1<RV>"),
    (r'("continue":\s*")[^"]+(")', r"\1<CONTINUE>\2"),
    (r"\b3[0-2]\d{3}(?=/(?:TCP|UDP|SCTP)\b)", "<NODE_PORT>"),
    (r"(nodePort\"?:\s*)3[0-2]\d{3}\b", r"\1<NODE_PORT>"),
    (
        rf"{_BEFORE_AGE}(?:\d+m)?\d+s{_AFTER_AGE}"
        rf"|{_BEFORE_AGE}\d+(?:d(?:\d+h)?|h(?:\d+m)?){_AFTER_AGE}",
        "<AGE>",
    ),
    (r"^([^:\n]*\s)\d+m$", r"\1<AGE>"),
    (r"^([EWI])\d{4} \d\d:\d\d:\d\d\.\d+\s+\d+ ", r"\1<LOG> "),
    (r"/[^\s\"']*/(LIVE|MERGED)-\d+", r"<TMP>/\1"),
    (r"/[^\s\"']*/kubectl-edit-\d+\.yaml", "<TMP>/kubectl-edit.yaml"),
)
_AGE_COLUMNS: Final = frozenset({"Age", "Last Seen", "First Seen", "Duration"})
_ORDER_OF_MANAGERS: Final = ("operation", "manager", "subresource", "apiVersion")
_ORDER_OF_CAUSES: Final = ("field", "message")
_NODE_PORTS: Final = range(30000, 32768)


class Normaliser:
    """The rules for one server and one case or step."""

    def __init__(
        self, server_url: str, rules: Sequence[Sequence[str]] = (), *, keeps_managers: bool = False
    ) -> None:
        self._server_url = server_url
        self._rules = tuple((re.compile(pattern), made) for pattern, made in rules)
        self._keeps_managers = keeps_managers

    def add_rules(self, rules: Sequence[Sequence[str]]) -> "Normaliser":
        """The same with more rules after its own."""
        more = Normaliser(self._server_url, rules, keeps_managers=self._keeps_managers)
        more._rules = (*self._rules, *more._rules)
        return more

    def string(self, text: str) -> str:
        """A string within JSON, or a header."""
        return _replace(_replace(text, _IN_STRINGS), self._rules)

    def text(self, text: str) -> str:
        """What kubectl prints for people, and answers that are not JSON."""
        host = urlsplit(self._server_url).netloc
        text = text.replace(self._server_url, "<SERVER>").replace(host, "<SERVER_HOST>")
        text = _replace(self.string(text), _IN_TEXT)
        return "\n".join(map(_narrow_columns, text.split("\n")))

    def json(self, value: Any) -> Any:
        match value:
            case dict():
                return self._object(value)
            case list():
                return [self.json(item) for item in value]
            case str():
                return self.string(value)
        return value

    def _object(self, value: Raw) -> Raw:
        if value.get("kind") == "Table" and "columnDefinitions" in value:
            value = _hide_ages(value)
        found: Raw = {}
        for key, item in value.items():
            if key == "storageVersionHash":
                continue
            if key == "managedFields" and not self._keeps_managers:
                continue
            found[key] = _placeholder(key, item) or self.json(_sort(key, item))
        prefix, name = value.get("generateName"), value.get("name")
        if prefix and isinstance(name, str) and name.startswith(prefix) and name != prefix:
            found["name"] = self.string(f"{prefix}<RAND>")
        return found


def _replace(text: str, rules: Sequence[Rule]) -> str:
    for pattern, replacement in rules:
        text = pattern.sub(replacement, text)
    return text


def _narrow_columns(line: str) -> str:
    """Columns are as wide as their widest value, which may be a placeholder now."""
    stripped = line.lstrip(" ")
    indent = line[: len(line) - len(stripped)]
    return indent + re.sub(r" {2,}", "   ", stripped.strip(" ")).rstrip()


def _placeholder(key: str, value: Any) -> str | None:
    """What stands for a value that is the server's choice; None where it is compared."""
    match key, value:
        case "resourceVersion", str() if value not in ("", "0"):
            return "<RV>"
        case "continue", str() if value:
            return "<CONTINUE>"
        case "nodePort", int() if value in _NODE_PORTS:
            return "<NODE_PORT>"
    return None


def _sort(key: str, value: Any) -> Any:
    """Lists without an order of their own, in one."""
    match key, value:
        case "managedFields", list():
            return _sort_by(value, _ORDER_OF_MANAGERS)
        case "causes", list() if all(map(_is_conflict, value)):
            return _sort_by(value, _ORDER_OF_CAUSES)
    return value


def _is_conflict(cause: Raw) -> bool:
    return cause.get("reason") == "FieldManagerConflict"


def _sort_by(items: list[Raw], keys: Sequence[str]) -> list[Raw]:
    return sorted(items, key=lambda item: [str(item.get(key, "")) for key in keys])


def _hide_ages(table: Raw) -> Raw:
    """A Table without the ages in its cells and without descriptions of its columns."""
    table = copy.deepcopy(table)
    columns = table["columnDefinitions"] or []
    for column in columns:
        column.pop("description", None)
    ages = [at for at, column in enumerate(columns) if column.get("name") in _AGE_COLUMNS]
    for row in table.get("rows") or []:
        for at in ages:
            if at < len(row["cells"]) and re.fullmatch(r"[\dydhms]+", str(row["cells"][at])):
                row["cells"][at] = "<AGE>"
    return table
