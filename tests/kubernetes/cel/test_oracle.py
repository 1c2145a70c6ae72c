"""Random expressions against another implementation of CEL (cel-expr-python, Google's C++ one).

The two must agree on whether an expression compiles, whether it fails, and what it gives. Where
the environments differ on purpose (Kubernetes compares numbers across types, wants literals of one
type, and adds functions) the generator stays away or the difference is named.
"""

import math
import re
from typing import Any

from cel_expr_python import cel  # type: ignore[import-untyped]
from cel_expr_python.ext import (  # type: ignore[import-untyped]
    ext_bindings,
    ext_optional,
    ext_strings,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.kubernetes.cel.environment import Environment
from podium.kubernetes.cel.errors import CelError, CompileError
from podium.kubernetes.cel.types import DYN, STRING, map_of

ORACLE = cel.NewEnv(
    variables={"m": cel.Type.Map(cel.Type.STRING, cel.Type.DYN)},
    extensions=[
        ext_bindings.ExtBindings(),
        ext_optional.ExtOptional(),
        ext_strings.ExtStrings(),
    ],
)
OURS = Environment({"m": map_of(STRING, DYN)})
M = {"i": 3, "s": "A100", "b": True, "d": 2.5, "l": [1, 2, 3], "e": ""}

# fmt: off
LEAVES = [
    "0", "1", "2", "-1", "7", "9223372036854775807", "-9223372036854775808", "1.0", "2.5", "-0.5",
    "1e3", '"a"', '"A100"', '""', '"é☃"', "true", "false", "1u", "3u", "null", "m.i", "m.s", "m.b",
    "m.d", "m.l", "m.nope", "[1, 2, 3]", '["a", "b"]', '{"a": 1}', "[]",
]
MEMBERS = [
    "startsWith({})", "endsWith({})", "contains({})", "lowerAscii()", "upperAscii()", "charAt({})",
    "replace({}, {})", "split({})", "substring({})", "substring({}, {})", "trim()", "size()",
    'matches("^[a-z]+$")', "join({})",
]
# fmt: on


def _leaf() -> st.SearchStrategy[str]:
    plain = st.sampled_from(LEAVES)
    return plain | plain.map(lambda text: f"dyn({text})")


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def infix(operators: list[str]) -> st.SearchStrategy[str]:
        return st.builds("({} {} {})".format, inner, st.sampled_from(operators), inner)

    def member(target: str, template: str, args: list[str]) -> str:
        return f"({target}).{template.format(*args)}"

    return st.one_of(
        infix(["+", "-", "*", "/", "%"]),
        infix(["==", "!=", "<", "<=", ">", ">="]),
        infix(["&&", "||"]),
        st.builds("(!{})".format, inner),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
        st.builds("({} in [{}])".format, inner, inner),
        st.builds(
            "{}({})".format,
            st.sampled_from(["size", "double", "string", "uint", "dyn", "bool"]),
            inner,
        ),
        st.builds(member, inner, st.sampled_from(MEMBERS), st.lists(inner, min_size=2, max_size=2)),
        st.builds("({})[{}]".format, inner, inner),
        st.builds(
            "({}).{}(v, {})".format,
            inner,
            st.sampled_from(["all", "exists", "exists_one", "map", "filter"]),
            inner.map(lambda text: text.replace("m.i", "v")),
        ),
        st.builds("cel.bind(w, {}, {})".format, inner, inner.map(lambda t: t.replace("m.s", "w"))),
        st.builds("m.?{}.orValue({})".format, st.sampled_from(["i", "s", "zz", "l"]), inner),
        st.builds("optional.of({}).hasValue()".format, inner),
    )


expressions = st.recursive(_leaf(), _larger, max_leaves=6)

NUMBERS = "(int|uint|double)"
ACROSS_TYPES = re.compile(rf"'_[<>]=?_' applied to '\({NUMBERS}, {NUMBERS}\)'")
MIXED_LITERAL = "expected type '"

Outcome = tuple[str, Any]


def asked(source: str) -> Outcome:
    try:
        program = ORACLE.compile(source)
    except RuntimeError as problem:
        return "does not compile", str(problem)
    value = program.eval(data={"m": M})
    if value.type() == cel.Type.ERROR:
        return "fails", None
    return "gives", _comparable(value.plain_value())


def answered(source: str) -> Outcome:
    try:
        program = OURS.compile(source)
    except CompileError as problem:
        return "does not compile", str(problem)
    try:
        return "gives", _comparable(program.run(M))
    except CelError:
        return "fails", None


def _comparable(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else ("double", value)
    if isinstance(value, int):
        return "int", int(value)
    if isinstance(value, list):
        return [_comparable(item) for item in value]
    if isinstance(value, dict):
        return {key: _comparable(item) for key, item in value.items()}
    return value


@given(expressions)
@settings(max_examples=600, deadline=None)
def test_another_implementation_says_the_same(source: str) -> None:
    theirs, ours = asked(source), answered(source)
    if theirs[0] == "does not compile" and ACROSS_TYPES.search(theirs[1]):
        return
    if ours[0] == "does not compile" and MIXED_LITERAL in ours[1]:
        return
    assert ours[0] == theirs[0], (source, ours, theirs)
    if ours[0] == "gives":
        assert ours[1] == theirs[1], source
