"""Files to typed objects, in the order in which they were given.

Files, directories (every *.yaml, *.yml and *.json below them, sorted) and `-` for standard input
may hold manifests, `kind: List` dumps or both, packed with gzip or not. New objects of kinds that
have nothing to do with scheduling are decoded all the same, since a server may refuse them; stored
ones are passed over and counted. Unknown fields are refused, told or ignored, as with kubectl's
`--validate`.

Contract: the objects are as they were written; what an API server or a controller would add is
the business of `admission` and `workloads`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any

import msgspec

from podium.golang.documents import (
    JsonListItem,
    Located,
    SourceDocument,
    expand_lists,
    read_documents,
    read_json_list,
)
from podium.golang.errors import InputError, ObjectError, raise_first
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.workloads import WORKLOAD_KINDS, Workload
from podium.kubernetes.kinds.reading import describe_value, read_raw, unknown_fields
from podium.kubernetes.kinds.strict_decoding import decode_strictly
from podium.kubernetes.kinds.typed_objects import KINDS, KubeObject, convert_object
from podium.kubernetes.kinds.workloads import ADMISSION_KINDS
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.admission import DEFINITION, BuiltinKinds, refuse_unknown, served_kinds
from podium.offline.simulate.input_files import Problems, display_path, find_files, read_unpacked
from podium.offline.simulate.input_kinds import (
    describe_configuration,
    expand_export,
    find_wrong_in_templates,
    is_export,
    is_of_kubernetes,
    old_version,
    unknown_kind,
)
from podium.offline.simulate.old_spellings import may_be_old, old_labels_of, respell_object
from podium.offline.simulate.openb_trace import is_openb, is_openb_pods, openb_documents
from podium.offline.simulate.simkube_trace import is_simkube_trace, simkube_documents
from podium.scheduler.framework.events import WatchedKind

_HELM_HOOK = "helm.sh/hook"
_RESOURCE_VERSION = b'"resourceVersion"'
_NOT_ALLOWED = "the server does not allow this method on the requested resource"
_NO_NAME = "Required value: name or generateName is required"
"""What the server says; a generateName is a name here."""
_HELM_TESTS = frozenset({"test", "test-success", "test-failure"})
READ_KINDS: dict[tuple[str, str], type[KubeObject] | type[Workload]] = {
    **KINDS,
    **ADMISSION_KINDS,
    **WORKLOAD_KINDS,
}


class FieldValidation(StrEnum):
    """What to do with a field that does not exist."""

    STRICT = "strict"
    WARN = "warn"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class Item:
    """One object and where it is. `written` is what an API server decodes of it, None if one
    has stored the object or knows nothing of its kind."""

    document: Located
    value: KubeObject | Workload
    written: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class OtherItem:
    """A new object of a kind that scheduling does not read, as an API server decodes it."""

    document: Located
    written: JsonObject


@dataclass(slots=True)
class Inputs:
    served: BuiltinKinds
    """The kinds of the server, those that definitions among the objects bring included."""
    items: list[Item] = field(default_factory=list)
    others: list[OtherItem] = field(default_factory=list)
    """What a server may refuse although nothing reads it."""
    passed_over: Counter[str] = field(default_factory=Counter)
    undefined: dict[tuple[str, str], int] = field(default_factory=dict)
    """How many new objects there are of kinds (apiVersion, kind) of which nobody knows more."""
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
    gates: FeatureGates,
    validation: FieldValidation = FieldValidation.STRICT,
    problems: Problems,
    on_file: Callable[[str], None] = lambda _: None,
    watched: Iterable[WatchedKind] = (),
    takes_old: bool = True,
) -> Inputs:
    """All objects of all files; what is wrong goes to `problems`. `watched` are kinds that plugins
    read beside the rest. Without `takes_old`, what is written as in earlier releases is wrong."""
    inputs = Inputs(served_kinds(gates))
    reading = _Reading(
        inputs,
        problems,
        {**READ_KINDS, **{(kind.api_version, kind.kind): kind.struct for kind in watched}},
        validation,
        inputs.old_spellings.append if takes_old else problems.add,
    )
    for path in find_files(paths, problems):
        on_file(display_path(path))
        try:
            reading.read(read_unpacked(path), display_path(path))
        except InputError as problem:
            problems.add(problem)
    reading.take_undefined()
    return inputs


def read_inline(
    documents: Iterable[SourceDocument], problems: Problems, *, gates: FeatureGates
) -> Inputs:
    """Objects that are inside of another document, read as strictly as those of files."""
    inputs = Inputs(served_kinds(gates))
    reading = _Reading(inputs, problems, READ_KINDS, FieldValidation.STRICT, problems.add)
    reading.take_all(list(documents), to_respell=False)
    reading.take_undefined()
    return inputs


def documents_in(
    paths: Iterable[str], tell_old: Callable[[InputError], None] | None = None
) -> list[SourceDocument]:
    """Every object of some files and directories, of whatever kind, lists taken apart.

    `tell_old` is notified of what is written as in earlier releases; without it that is refused.
    Raises InputError, with everything that is wrong in it.
    """
    problems = Problems()
    found: list[SourceDocument] = []
    for path in find_files(paths, problems):
        try:
            data = read_unpacked(path)
            documents = list(expand_lists(read_documents(data, display_path(path))))
        except InputError as problem:
            problems.add(problem)
            continue
        if may_be_old(data):
            for document in documents:
                _respell(document, tell_old or problems.add)
        found.extend(documents)
    problems.raise_if_any()
    return found


def _respell(document: SourceDocument, tell: Callable[[InputError], None]) -> None:
    if isinstance(document.value, dict):
        for each in respell_object(document.value):
            tell(document.error(each.problem, path=each.path, remedy=each.remedy))


def _old_labels(document: SourceDocument, tell: Callable[[InputError], None]) -> set[str]:
    """The old node labels that an object names."""
    found: set[str] = set()
    for key, each in old_labels_of(document.value) if isinstance(document.value, dict) else ():
        found.add(key)
        tell(document.error(each.problem, path=each.path, remedy=each.remedy))
    return found


@dataclass(frozen=True, slots=True)
class _Reading:
    """What of the files goes where: `inputs` is filled, `tell` is notified of old spellings."""

    inputs: Inputs
    problems: Problems
    read_kinds: Mapping[tuple[str, str], type[KubeObject] | type[Workload]]
    validation: FieldValidation
    tell: Callable[[InputError], None]
    undefined: list[tuple[SourceDocument, JsonObject]] = field(default_factory=list)
    """New objects of kinds that are not built in: their definitions may be further on."""
    definitions: list[JsonObject] = field(default_factory=list)

    def read(self, data: bytes, source: str) -> None:
        """All objects of a file. Raises InputError if it cannot be read at all."""
        if is_simkube_trace(data) or is_openb(data):
            self.take_all(self._timed_documents(data, source), to_respell=False)
            return
        listed = read_json_list(data, source)
        if listed is None:
            self.take_all(read_documents(data, source), to_respell=may_be_old(data))
            return
        self.inputs.kinds.add(_listed_kind(listed.document))
        for item in listed.items:
            if not self._take_sound(item):
                text = bytes(item.raw)
                document = item.document(keeps_repeated=_RESOURCE_VERSION not in text)
                self.take_all([document], to_respell=may_be_old(text))

    def take_all(self, written: list[SourceDocument], *, to_respell: bool) -> None:
        self.inputs.kinds.update(map(_listed_kind, written))
        for document in expand_lists(self._without_exports(written)):
            if to_respell:
                _respell(document, self.tell)
                self.inputs.old_labels |= _old_labels(document, self.tell)
            with self.problems.of(document):
                self._take(document)

    def _timed_documents(self, data: bytes, source: str) -> list[SourceDocument]:
        """What a file with times has in it, without the times."""
        if is_openb(data):
            found = openb_documents(data, source)
        else:
            found = simkube_documents(data, source)
        if is_simkube_trace(data) or is_openb_pods(data):
            self.inputs.warnings.append(
                f"{source}: everything that comes in the course of the trace is there at once,"
                " and nothing goes"
            )
        return found

    def _without_exports(self, written: list[SourceDocument]) -> Iterator[SourceDocument]:
        """The documents, with what an export of kube-scheduler-simulator holds in place of it."""
        for document in written:
            if not is_export(document.value):
                yield document
                continue
            if told := describe_configuration(document):
                self.inputs.warnings.append(told)
            yield from expand_export(document)

    def _take_sound(self, item: JsonListItem) -> bool:
        """Take an object in which nothing is wrong or old; False if it has to be looked through."""
        meta = item.type_meta()
        struct = self.read_kinds.get((meta.api_version, meta.kind)) if meta is not None else None
        if meta is None or struct is None or issubclass(struct, Workload):
            return False
        value = decode_strictly(item.raw, struct)
        # What no server has stored is looked through as a server would.
        if value is None or not value.metadata.resource_version:
            return False
        if _is_test_hook(value.metadata.annotation(_HELM_HOOK)):
            self.inputs.helm_tests[meta.kind] += 1
            return True
        self.inputs.items.append(Item(item, value))
        self.inputs.kinds.add(meta.kind)
        return True

    def _take(self, document: SourceDocument) -> None:
        """Everything that is wrong with the object is told; one whose fields do not all exist is
        taken all the same, so that whoever looks at it later can tell the rest."""
        inputs, problems = self.inputs, self.problems
        raw = document.value
        if not isinstance(raw, dict):
            raise ObjectError("", f"expected a Kubernetes object, got {describe_value(raw)}")
        api_version, kind = _text(raw, "apiVersion"), _text(raw, "kind")
        struct = self.read_kinds.get((api_version, kind))
        if struct is None and _is_stored(raw):
            inputs.passed_over[kind] += 1
            if kind == DEFINITION and inputs.served.find(api_version, kind) is not None:
                self.definitions.append(raw)
            return
        if _is_helm_test(raw):
            inputs.helm_tests[kind] += 1
            return
        raw = _fill_in_name(raw)
        if struct is not None:
            inputs.kinds.add(kind)
        is_served = inputs.served.find(api_version, kind) is not None
        with problems.of(document):
            if struct is None:
                if is_served:
                    self._take_other(document, raw)
                elif is_of_kubernetes(api_version):
                    self._take_undefined(document, raw)
                else:
                    self.undefined.append((document, raw))
            elif is_served and not _is_stored(raw):
                self._take_new(document, raw, struct)
            else:
                self._take_stored(document, raw, struct)
                if not _is_stored(raw):  # behind a closed gate, or of a plugin's group
                    self.undefined.append((document, raw))

    def take_undefined(self) -> None:
        """What is left when all files are read: objects of kinds that are not built in. Where a
        definition is among the files, they are what a server with it would be sent."""
        inputs = self.inputs
        if self.definitions:
            inputs.served = inputs.served.with_definitions(self.definitions)
        for document, raw in self.undefined:
            with self.problems.of(document):
                self._take_undefined(document, raw)

    def _take_undefined(self, document: SourceDocument, raw: JsonObject) -> None:
        inputs, (api_version, kind) = self.inputs, (raw["apiVersion"], raw["kind"])
        is_read = (api_version, kind) in self.read_kinds
        if inputs.served.find(api_version, kind) is not None:
            self._take_other(document, raw)
            return
        if (old := old_version(api_version, kind, {k for _, k in self.read_kinds})) is not None:
            self.tell(document.error(old.problem, path=old.path, remedy=old.remedy))
        elif unknown := unknown_kind(api_version, kind, self.read_kinds, inputs.served.gates):
            raise unknown
        elif not is_read:
            inputs.undefined[api_version, kind] = inputs.undefined.get((api_version, kind), 0) + 1
        inputs.passed_over[kind] += not is_read

    def _take_new(
        self, document: Located, raw: JsonObject, struct: type[KubeObject] | type[Workload]
    ) -> None:
        """An object that a server would be sent."""
        written = self._decode(document, raw)
        value = convert_object(written, struct, strict=False)
        self.inputs.items.append(Item(document, value, written))

    def _take_other(self, document: SourceDocument, raw: JsonObject) -> None:
        """The same of a kind that scheduling does not read."""
        found = self.inputs.served.find(raw["apiVersion"], raw["kind"])
        assert found is not None
        if (raw["apiVersion"], raw["kind"]) not in self.read_kinds:
            self.inputs.passed_over[raw["kind"]] += 1
        if "create" not in found[0].verbs:
            raise ObjectError("", _NOT_ALLOWED)
        if "get" not in found[0].verbs:
            return  # a question to a server, which keeps nothing of it
        written = self._decode(document, raw)
        self.inputs.others.append(OtherItem(document, written))
        if raw["kind"] == DEFINITION:
            self.definitions.append(written)

    def _decode(self, document: Located, raw: JsonObject) -> JsonObject:
        """The object as a server reads it, which refuses what is wrong, in its words."""
        decoded = self.inputs.served.decode(raw)
        assert decoded is not None
        if decoded.strict and self.validation is FieldValidation.STRICT:
            with self.problems.of(document):
                raise_first(self.inputs.served.strict_refusal(raw, decoded.strict))
        elif decoded.strict and self.validation is FieldValidation.WARN:
            self._warn(document, unknown_fields(decoded.strict, in_go=True))
        elif decoded.problems and self.validation is FieldValidation.STRICT:
            raise refuse_unknown(raw, decoded.problems)
        elif decoded.problems and self.validation is FieldValidation.WARN:
            self._warn(document, [ObjectError("", each) for each in decoded.problems])
        if not (raw.get("metadata") or {}).get("name"):
            raise ObjectError("metadata.name", _NO_NAME)
        return decoded.value

    def _take_stored(
        self, document: Located, raw: JsonObject, struct: type[KubeObject] | type[Workload]
    ) -> None:
        """An object that a server has stored, or of a kind that none has of itself. The server may
        have been a newer one, so what of it scheduling reads is looked at, and nothing else."""
        found = read_raw(raw, struct) if self.validation is not FieldValidation.IGNORE else None
        unknown = found.unknown if found is not None else []
        if issubclass(struct, Workload):
            wrong, unknown_in_templates = find_wrong_in_templates(raw)
            for each in wrong:
                self.problems.add(document.error(each.problem, path=each.path, remedy=each.remedy))
            unknown += unknown_in_templates if found is not None else []
        if self.validation is FieldValidation.STRICT:
            for each in unknown:
                self.problems.add(document.error(each.problem, path=each.path, remedy=each.remedy))
        else:
            self._warn(document, unknown)
        self.inputs.items.append(Item(document, convert_object(raw, struct, strict=False)))

    def _warn(self, document: Located, unknown: Iterable[ObjectError]) -> None:
        for each in unknown:
            problem = document.error(each.problem, path=each.path, remedy=each.remedy)
            self.inputs.warnings.append(str(problem))


def _is_stored(raw: JsonObject) -> bool:
    metadata = raw.get("metadata")
    return isinstance(metadata, dict) and bool(metadata.get("resourceVersion"))


def _is_helm_test(raw: dict[str, Any]) -> bool:
    metadata = raw.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    hooks = annotations.get(_HELM_HOOK) if isinstance(annotations, dict) else None
    return isinstance(hooks, str) and _is_test_hook(hooks)


def _is_test_hook(hooks: str) -> bool:
    return any(hook.strip() in _HELM_TESTS for hook in hooks.split(","))


def _listed_kind(document: SourceDocument) -> str:
    """What a typed list such as `PodList` holds all of, even if that is nothing."""
    kind = document.value.get("kind") if isinstance(document.value, dict) else None
    return kind.removesuffix("List") if isinstance(kind, str) and kind.endswith("List") else ""


def _text(raw: dict[str, Any], name: str) -> str:
    written = raw.get(name)
    if isinstance(written, str) and written:
        return written
    if written:
        raise ObjectError(name, f"expected a string, got {describe_value(written)}")
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
