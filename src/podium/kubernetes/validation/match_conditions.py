"""Expressions of policies and webhooks: they have to compile, and to be not too many."""

from collections.abc import Iterable, Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.cel.admission_programs import BOOL, Programs, problem_of
from podium.kubernetes.cel.types import Type
from podium.kubernetes.rules.field_errors import duplicate, invalid, required, too_many
from podium.kubernetes.validation.object_meta import Errors, check_label_key

_MAX_CONDITIONS: Final = 64
MAX_EXPRESSIONS: Final = 500
MAX_EXPRESSION_CHARACTERS: Final = 100_000
"""Of one object. upstream has no such limits, but compiles a hundred times as fast."""
TOO_MANY: Final = (
    f"must not have more than {MAX_EXPRESSIONS} expressions, nor expressions of more than"
    f" {MAX_EXPRESSION_CHARACTERS} characters in all"
)


def are_too_many(sources: Iterable[str]) -> bool:
    written = [source for source in sources if source]
    return len(written) > MAX_EXPRESSIONS or sum(map(len, written)) > MAX_EXPRESSION_CHARACTERS


def check_match_conditions(
    errors: Errors, conditions: Sequence[JsonObject], programs: Programs, path: str
) -> None:
    if len(conditions) > _MAX_CONDITIONS:
        errors.append(too_many(path, len(conditions), _MAX_CONDITIONS))
    names: set[str] = set()
    for index, condition in enumerate(conditions):
        at, name = f"{path}[{index}]", condition.get("name") or ""
        source = (condition.get("expression") or "").strip()
        if not source:
            errors.append(required(f"{at}.expression"))
        else:
            check_expression(errors, source, BOOL, programs, f"{at}.expression", variables=False)
        if not name:
            errors.append(required(f"{at}.name"))
            continue
        check_label_key(errors, name, f"{at}.name")
        if name in names:
            errors.append(duplicate(f"{at}.name", name))
        names.add(name)


def check_expression(
    errors: Errors,
    source: str,
    results: tuple[Type, ...],
    programs: Programs,
    path: str,
    *,
    variables: bool = True,
    authorizer: bool = True,
    patch_types: bool = False,
) -> None:
    how = {
        "with_variables": variables,
        "with_authorizer": authorizer,
        "with_patch_types": patch_types,
    }
    problem = problem_of(programs, source, results, **how)
    if problem:
        errors.append(invalid(path, source, problem))
