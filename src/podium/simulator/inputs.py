"""Files to typed objects, in the order in which they were given.

Files, directories (every *.yaml, *.yml and *.json below them, sorted) and `-` for standard input
may hold manifests, `kind: List` dumps or both, packed with gzip or not. Kinds that have nothing to
do with scheduling are passed over and counted. Unknown fields are refused, told or ignored, as with
kubectl's `--validate`.

Contract: the objects are as they were written; what an API server or a controller would add is
the business of `admission` and `workloads`.
"""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from podium.api.documents import Document, expand_lists, read_documents
from podium.api.errors import InputError, ObjectError
from podium.api.field_paths import ROOT
from podium.api.kinds import KINDS, KubeObject, convert_object
from podium.api.shapes import described, shape_of
from podium.files.bounded_files import MAX_CLUSTER_BYTES, STDIN, read_input
from podium.files.gzip_inputs import MAGIC, unpack_gzip
from podium.framework.watched_kind import WatchedKind
from podium.simulator.foreign_kinds import refuse_mistake
from podium.simulator.old_spellings import may_be_old, old_labels_of, respell_object
from podium.simulator.problems import Problems
from podium.simulator.templates import check_templates, find_unknown_in_templates
from podium.workloads.kinds import WORKLOAD_KINDS, Workload

_SUFFIXES = tuple(
    f"{kind}{packed}" for kind in (".yaml", ".yml", ".json") for packed in ("", ".gz")
)
_ADDRESS = re.compile(r"[a-z]+://", re.IGNORECASE)
_HELM_HOOK = "helm.sh/hook"
_HELM_TESTS = frozenset({"test", "test-success", "test-failure"})
_READ: dict[tuple[str, str], type[KubeObject] | type[Workload]] = {**KINDS, **WORKLOAD_KINDS}


class Validation(StrEnum):
    """What to do with a field that does not exist."""

    STRICT = "strict"
    WARN = "warn"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class Item:
    """One object and where it stands."""

    document: Document
    value: KubeObject | Workload


@dataclass(slots=True)
class Inputs:
    items: list[Item] = field(default_factory=list)
    passed_over: Counter[str] = field(default_factory=Counter)
    helm_tests: Counter[str] = field(default_factory=Counter)
    """Left out: Helm runs them when somebody asks for a test, not when a chart is installed."""
    warnings: list[str] = field(default_factory=list)
    old_spellings: list[InputError] = field(default_factory=list)
    """What was taken for something else than is written."""
    old_labels: set[str] = field(default_factory=set)
    """Old names of node labels by which nodes are chosen."""
    kinds: set[str] = field(default_factory=set)
    """What there is, and what there is none of because a list of it is empty."""


def read_inputs(
    paths: Iterable[str],
    *,
    validation: Validation = Validation.STRICT,
    problems: Problems,
    on_file: Callable[[str], None] = lambda _: None,
    watched: Iterable[WatchedKind] = (),
    takes_old: bool = True,
) -> Inputs:
    """All objects of all files; what is wrong goes to `problems`. `watched` are kinds that plugins
    read beside the rest. Without `takes_old`, what is written as in earlier releases is wrong."""
    inputs = Inputs()
    tell = inputs.old_spellings.append if takes_old else problems.add
    read = {**_READ, **{(kind.api_version, kind.kind): kind.struct for kind in watched}}
    for path in _files(paths, problems):
        on_file(_display_path(path))
        try:
            data = _read(path)
            written = read_documents(data, _display_path(path))
        except InputError as problem:
            problems.add(problem)
            continue
        inputs.kinds.update(map(_listed_kind, written))
        to_respell = may_be_old(data)
        for document in expand_lists(written):
            if to_respell:
                _respell(document, tell)
                inputs.old_labels |= _old_labels(document, tell)
            with problems.of(document):
                _take(document, inputs, read, validation, problems)
    return inputs


def read_inline(documents: Iterable[Document], problems: Problems) -> Inputs:
    """Objects that stand inside of another document, read as strictly as those of files."""
    inputs = Inputs()
    for document in expand_lists(documents):
        with problems.of(document):
            _take(document, inputs, _READ, Validation.STRICT, problems)
    return inputs


def documents_in(
    paths: Iterable[str], tell_old: Callable[[InputError], None] | None = None
) -> list[Document]:
    """Every object of some files and directories, of whatever kind, lists taken apart.

    `tell_old` is told of what is written as in earlier releases; without it that is refused. Raises
    InputError, with everything that is wrong in it.
    """
    problems = Problems()
    found: list[Document] = []
    for path in _files(paths, problems):
        try:
            data = _read(path)
            documents = list(expand_lists(read_documents(data, _display_path(path))))
        except InputError as problem:
            problems.add(problem)
            continue
        if may_be_old(data):
            for document in documents:
                _respell(document, tell_old or problems.add)
        found.extend(documents)
    problems.raise_if_any()
    return found


def _respell(document: Document, tell: Callable[[InputError], None]) -> None:
    if isinstance(document.value, dict):
        for each in respell_object(document.value):
            tell(document.error(each.problem, path=each.path, remedy=each.remedy))


def _old_labels(document: Document, tell: Callable[[InputError], None]) -> set[str]:
    """The old node labels that an object names."""
    found: set[str] = set()
    for key, each in old_labels_of(document.value) if isinstance(document.value, dict) else ():
        found.add(key)
        tell(document.error(each.problem, path=each.path, remedy=each.remedy))
    return found


def _take(
    document: Document,
    inputs: Inputs,
    read: Mapping[tuple[str, str], type[KubeObject] | type[Workload]],
    validation: Validation,
    problems: Problems,
) -> None:
    """Everything that is wrong with the object is told; one whose fields do not all exist is taken
    all the same, so that whoever looks at it later can tell the rest."""
    raw = document.value
    if not isinstance(raw, dict):
        raise ObjectError("", f"expected a Kubernetes object, got {described(raw)}")
    api_version, kind = _text(raw, "apiVersion"), _text(raw, "kind")
    struct = read.get((api_version, kind))
    if struct is None:
        refuse_mistake(api_version, kind, read)
        inputs.passed_over[kind] += 1
        return
    if _is_helm_test(raw):
        inputs.helm_tests[kind] += 1
        return
    raw = _fill_in_name(raw)
    value: KubeObject | Workload | None = None
    with problems.of(document):
        value = convert_object(raw, struct, strict=False)
    is_workload = issubclass(struct, Workload)
    is_sound = not is_workload
    if is_workload:
        with problems.of(document):
            check_templates(raw)
            is_sound = True
    unknown: list[ObjectError] = []
    if validation is not Validation.IGNORE:
        shape_of(struct).find_unknown(raw, ROOT, unknown)
        if is_workload:
            find_unknown_in_templates(raw, unknown)
    for each in unknown:
        told = document.error(each.problem, path=each.path, remedy=each.remedy)
        if validation is Validation.STRICT:
            problems.add(told)
        else:
            inputs.warnings.append(str(told))
    if value is not None and is_sound:
        inputs.items.append(Item(document, value))
    inputs.kinds.add(kind)


def _is_helm_test(raw: dict[str, Any]) -> bool:
    metadata = raw.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    hooks = annotations.get(_HELM_HOOK) if isinstance(annotations, dict) else None
    if not isinstance(hooks, str):
        return False
    return any(hook.strip() in _HELM_TESTS for hook in hooks.split(","))


def _listed_kind(document: Document) -> str:
    """What a typed list such as `PodList` holds all of, even if that is nothing."""
    kind = document.value.get("kind") if isinstance(document.value, dict) else None
    return kind.removesuffix("List") if isinstance(kind, str) and kind.endswith("List") else ""


def _text(raw: dict[str, Any], name: str) -> str:
    written = raw.get(name)
    if isinstance(written, str) and written:
        return written
    if written:
        raise ObjectError(name, f"expected a string, got {described(written)}")
    raise ObjectError(name, "is missing", "every Kubernetes object names its apiVersion and kind")


def _fill_in_name(raw: dict[str, Any]) -> dict[str, Any]:
    """`generateName` turned into a name, the same one every time."""
    metadata = raw.get("metadata")
    if not isinstance(metadata, dict) or metadata.get("name"):
        return raw
    prefix = metadata.get("generateName")
    if not isinstance(prefix, str) or not prefix:
        return raw
    suffix = sha256(msgspec.json.encode(raw, order="sorted")).hexdigest()[:5]
    return {**raw, "metadata": {**metadata, "name": f"{prefix}{suffix}"}}


# --- files ------------------------------------------------------------------------------------


def _files(paths: Iterable[str], problems: Problems) -> Iterator[str]:
    """Each file once, in the order in which it is first met."""
    seen: set[str] = set()
    for path in paths:
        try:
            for found in _below(path):
                identity = found if found == STDIN else str(Path(found).resolve())
                if identity not in seen:
                    seen.add(identity)
                    yield found
        except OSError as problem:
            problems.add(_unreadable(path, problem))
        except InputError as problem:
            problems.add(problem)


def _below(path: str) -> list[str]:
    if _ADDRESS.match(path):
        remedy = f"curl -fsSL {shlex.quote(path)} | podium simulate -f -"
        raise InputError("is an address, and nothing is fetched", source=path, remedy=remedy)
    if path == STDIN or not Path(path).is_dir():
        return [path]
    found = sorted(p for p in Path(path).rglob("*") if p.name.endswith(_SUFFIXES) and p.is_file())
    if not found:
        raise InputError("holds no .yaml, .yml or .json files", source=path)
    return [str(p) for p in found]


def _read(path: str) -> bytes:
    shown = _display_path(path)
    data = read_input(path, MAX_CLUSTER_BYTES, source=shown)
    return unpack_gzip(data, MAX_CLUSTER_BYTES, shown) if data.startswith(MAGIC) else data


def _unreadable(path: str, problem: OSError) -> InputError:
    text = (problem.strerror or str(problem)).lower()
    return InputError(f"cannot be read: {text}", source=_display_path(path))


def _display_path(path: str) -> str:
    return "standard input" if path == STDIN else path
