"""The rules of a schema (`x-kubernetes-validations`), compiled, in the places where they stand.

A tree has a node for each part of a schema that has rules, or something with rules below it. It
is made once for a definition; a rule is compiled when it is first asked.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from podium.apiserver.crds.rule_types import MAX_REQUEST_BYTES, Fields, declare, escaped, rooted
from podium.golang.json_values import JsonObject
from podium.kubernetes.cel import CompileError
from podium.kubernetes.cel.costs import Declared, size_of_path
from podium.kubernetes.cel.environment import RULE_FUNCTIONS, Environment, Program
from podium.kubernetes.cel.types import BOOL, STRING, Type, optional_of

RULES: Final = "x-kubernetes-validations"
OLD: Final = "oldSelf"


@dataclass(eq=False)
class Rule:
    """One rule. Its programs raise CompileError when they are asked for and do not compile."""

    written: JsonObject
    environment: Environment

    @property
    def source(self) -> str:
        return str(self.written.get("rule") or "")

    @property
    def has_optional_old(self) -> bool:
        return bool(self.written.get("optionalOldSelf"))

    @property
    def name(self) -> str:
        """How errors call it."""
        return (self.written.get("message") or "").strip() or self.source.strip()

    @cached_property
    def program(self) -> Program:
        return _compiled(self.environment, self.source, BOOL, "", "cel expression")

    @cached_property
    def message(self) -> Program | None:
        expression = self.written.get("messageExpression") or ""
        if not expression:
            return None
        name = "messageExpression"
        return _compiled(self.environment, expression, STRING, f"{name} ", name)

    @property
    def is_about_changes(self) -> bool:
        return OLD in self.program.names


def _compiled(
    environment: Environment, source: str, wanted: Type, prefix: str, name: str
) -> Program:
    try:
        program = environment.compile(source)
    except CompileError as problem:
        raise CompileError(f"{prefix}compilation failed: {problem}") from None
    if program.result != wanted:
        raise CompileError(f"{name} must evaluate to a {wanted}")
    return program


@dataclass(eq=False)
class RuleNode:
    """A part of a schema with rules in it or below it."""

    schema: JsonObject
    declared: Declared
    rules: list[Rule] = field(default_factory=list)
    properties: dict[str, "RuleNode"] = field(default_factory=dict)
    items: "RuleNode | None" = None
    additional: "RuleNode | None" = None

    @property
    def max_cardinality(self) -> int:
        """How often a value may occur in a request if nothing else bounds it."""
        return MAX_REQUEST_BYTES // (self.declared.min_bytes + 1)


def has_rules(schema: JsonObject) -> bool:
    """Whether there is a rule anywhere in a schema."""
    return bool(schema.get(RULES)) or any(has_rules(below) for _, below in schemas_below(schema))


def schemas_below(schema: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """The schemas of the values within a value, with the ends of their paths."""
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        yield "additionalProperties", additional
    for name, below in (schema.get("properties") or {}).items():
        yield f"properties[{name}]", below
    if isinstance(schema.get("items"), dict):
        yield "items", schema["items"]


def build_rule_tree(schema: JsonObject) -> RuleNode | None:
    """The rules of a schema of whole objects; None if there are none."""
    fields: Fields = {}
    schema = rooted(schema)
    declared = declare(schema, "self", fields)
    return None if declared is None else _build(schema, declared, "self", fields)


def _build(schema: JsonObject, declared: Declared, name: str, fields: Fields) -> RuleNode | None:
    node = RuleNode(schema, declared)
    written = schema.get(RULES) or ()
    if written:
        environments = _environments(declared, fields)
        node.rules = [
            Rule(rule, environments[bool(rule.get("optionalOldSelf"))]) for rule in written
        ]
    for key, below in (schema.get("properties") or {}).items():
        path, known = f"{name}.{key}", escaped(key)
        if known is None:  # rules below cannot be reached from above, but they are rules
            found = declare(below, path, fields)
        else:
            found = declared.fields.get(known)
        child = _build(below, found, path, fields) if found is not None else None
        if child is not None:
            node.properties[key] = child
    if declared.element is not None and isinstance(schema.get("items"), dict):
        node.items = _build(schema["items"], declared.element, f"{name}.@idx", fields)
    elif declared.element is not None:
        additional = schema["additionalProperties"]
        node.additional = _build(additional, declared.element, f"{name}.@elem", fields)
    is_needed = node.rules or node.properties or node.items or node.additional
    return node if is_needed else None


def _environments(declared: Declared, fields: Fields) -> tuple[Environment, Environment]:
    """Where `oldSelf` is a value, and where it may be missing."""
    first, second = (
        Environment(
            {"self": declared.type, OLD: old},
            fields,
            RULE_FUNCTIONS,
            size_of_path=size_of_path(declared),
            is_metered=True,
            has_bindings=False,
        )
        for old in (declared.type, optional_of(declared.type))
    )
    return first, second
