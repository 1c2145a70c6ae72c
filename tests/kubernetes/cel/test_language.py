"""The language: operators, macros, literals and functions, one line of behaviour each."""

from typing import Any

import pytest

from podium.kubernetes.cel.environment import Environment
from podium.kubernetes.cel.errors import CelError, CompileError
from podium.kubernetes.cel.types import DYN, STRING, map_of
from podium.kubernetes.cel.values import CelDuration, Timestamp, TypeValue, Uint, equal

ENVIRONMENT = Environment({"m": map_of(STRING, DYN)})
M = {"n": 3, "s": "text", "l": [1, 2, 3], "nested": {"a": {"b": 1}}}


def value_of(expression: str) -> Any:
    return ENVIRONMENT.compile(expression).run(M)


def check(expression: str, expected: Any) -> None:
    found = value_of(expression)
    assert type(found) is type(expected)
    assert equal(found, expected)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 + 2 * 3 - 4", 3),
        ("(1 + 2) * 3", 9),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("7u / 2u", Uint(3)),
        ("1.0 / 0.0 == double('inf')", True),
        ("0x1F", 31),
        ("1e3", 1000.0),
        ("-9223372036854775808", -(2**63)),
        ("!true || !!true", True),
        ("1 < 2u && 2.5 > 2", True),
        ("dyn(1) == dyn(1.0)", True),
        ("dyn(true) == dyn(1)", False),
        ("dyn(1) != dyn('1')", True),
        ("true ? 'a' : 'b'", "a"),
        ("'a' + 'b'", "ab"),
        ("[1] + [2]", [1, 2]),
        ("b'a' + b'b'", b"ab"),
        ("r'\\n'", "\\n"),
        ("'\\u00e9\\x41\\101'", "éAA"),
        ('"""two\nlines"""', "two\nlines"),
        ("b'\\xff\\101'", b"\xffA"),
        ("null == null", True),
        ("1 in [1, 2]", True),
        ("'a' in {'a': 1}", True),
        ("{1: 'a'}[1]", "a"),
        ("{true: 'a', false: 'b'}[true]", "a"),
        ("[1, 2, 3][1]", 2),
        ("m.nested.a.b", 1),
        ("m['nested']['a']", {"b": 1}),
        ("m.l[dyn(1.0)]", 2),
        ("size('é☃') + size([1]) + size({}) + 'ab'.size()", 5),
        ("type(1) == int && type(type(1)) == type", True),
        ("type('') ", TypeValue("string")),
        ("// a comment\n1", 1),
        ("[1, 2,]", [1, 2]),
        ("{'a': 1,}", {"a": 1}),
    ],
)
def test_operators_and_literals(expression: str, expected: Any) -> None:
    check(expression, expected)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("[1, 2].all(x, x > 0)", True),
        ("[1, 2].exists(x, x > 1)", True),
        ("[1, 2].exists_one(x, x > 1)", True),
        ("[1, 2, 3].filter(x, x > 1)", [2, 3]),
        ("[1, 2].map(x, x * 2)", [2, 4]),
        ("[1, 2, 3].map(x, x > 1, x * 2)", [4, 6]),
        ("{'a': 1}.map(k, k)", ["a"]),
        ("[0, 1].exists(x, 1 / x == 1)", True),
        ("[0, 1].all(x, 1 / x == 2)", False),
        ("[[1], [2]].all(x, x.all(y, y > 0))", True),
        ("[5, 6].all(i, v, v == i + 5)", True),
        ("{'a': 1}.exists(k, v, k == 'a' && v == 1)", True),
        ("[5, 6].transformList(i, v, i + v)", [5, 7]),
        ("{'a': 1}.transformMap(k, v, v + 1)", {"a": 2}),
        ("['a', 'b'].transformMapEntry(i, v, {v: i})", {"a": 0, "b": 1}),
        ("cel.bind(x, 1 / 0, true)", True),
        ("cel.bind(x, 2, x + x)", 4),
        ("optional.of(1).value()", 1),
        ("optional.none().hasValue()", False),
        ("optional.none().orValue(2)", 2),
        ("optional.none().or(optional.of(3)).value()", 3),
        ("optional.of(1).optMap(x, x + 1).value()", 2),
        ("optional.of({'a': 1}).optFlatMap(x, x.?a).value()", 1),
        ("m.?nope.?deeper.hasValue()", False),
        ("m.?nested.a.b.value()", 1),
        ("m[?'n'].value()", 3),
        ("[1][?5].hasValue()", False),
        ("[?m.?n, ?m.?nope].size()", 1),
        ("{?'a': m.?n, ?'b': m.?nope}.size()", 1),
        ("['b', 'a'].sortBy(x, x)", ["a", "b"]),
        ("has(m.s.x) || m.s.?x.hasValue()", False),
        ("m.n.orValue(7)", 3),
    ],
)
def test_macros_and_optionals(expression: str, expected: Any) -> None:
    check(expression, expected)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("'tacocat'.indexOf('a', 2)", 5),
        ("'tacocat'.indexOf('a', 99)", -1),
        ("'tacocat'.lastIndexOf('a', 99)", -1),
        ("'tacocat'.lastIndexOf('a', 2)", 1),
        ("'tacocat'.lastIndexOf('a')", 5),
        ("'a,b'.split(',')", ["a", "b"]),
        ("['a', 'b'].join('-')", "a-b"),
        ("'  x '.trim()", "x"),
        ("'hello'.substring(1, 3)", "el"),
        ("'aaa'.replace('a', 'b', 2)", "bba"),
        ("strings.quote('a\"b')", '"a\\"b"'),
        ("'%s %d'.format(['a', 1])", "a 1"),
        ("'%d of %s: %.2f %x'.format([dyn(1), 'a', 1.5, 255])", "1 of a: 1.50 ff"),
        ("'abc 123'.find('[0-9]+')", "123"),
        ("'a1b22'.findAll('[0-9]+')", ["1", "22"]),
        ("[3, 1, 2].sort()", [1, 2, 3]),
        ("[1, 2, 1].distinct()", [1, 2]),
        ("[[1], [2, 3]].flatten()", [1, 2, 3]),
        ("[1, 2, 3].slice(1, 2)", [2]),
        ("[1, 2].reverse()", [2, 1]),
        ("lists.range(3)", [0, 1, 2]),
        ("[1, 3].sum() + [1, 3].min() + [1, 3].max()", 8),
        ("[1, 2].isSorted()", True),
        ("[1, 2, 1].lastIndexOf(1)", 2),
        ("sets.contains([1, 2], [2])", True),
        ("sets.equivalent([1, 1], [1])", True),
        ("sets.intersects([1], [2])", False),
        ("int('7') + int(7.9) + int(7u)", 21),
        ("string(1.5) + string(true) + string(1u)", "1.5true1"),
        ("double('1e3')", 1000.0),
        ("bool('true')", True),
        ("duration('1h30m').getMinutes()", 90),
        ("timestamp('2024-02-29T12:00:00Z').getDayOfYear()", 59),
        ("string(timestamp('2024-01-01T00:00:00Z') + duration('1s'))", "2024-01-01T00:00:01Z"),
        ("timestamp('2024-01-01T00:00:00Z').getHours('+02:00')", 2),
        ("quantity('1Gi').add(quantity('1Gi')).isGreaterThan(quantity('1.9Gi'))", True),
        ("quantity('50k').asInteger()", 50000),
        ("quantity('1.5').isInteger()", False),
        ("sign(quantity('-1'))", -1),
        ("isQuantity('1Gi') && !isQuantity('1GiB')", True),
        ("semver('1.2.3-rc.1').isLessThan(semver('1.2.3'))", True),
        ("semver('1.2.3+a') == semver('1.2.3+b')", True),
        ("semver('v01.2', true).minor()", 2),
        ("isSemver('1.2') || isSemver('1.2', true)", True),
        ("ip('127.0.0.1').isLoopback() && ip('::1').family() == 6", True),
        ("cidr('10.0.0.0/8').containsIP('10.1.2.3')", True),
        ("cidr('10.0.0.1/8').masked() == cidr('10.0.0.0/8')", True),
        ("url('https://a.b:80/c?d=e').getHost()", "a.b:80"),
        ("url('https://a.b/c?d=e').getQuery()", {"d": ["e"]}),
        ("isURL('not a url')", False),
        ("format.dns1123Label().validate('ok').hasValue()", False),
        ("format.named('dns1123Label').value().validate('NO').hasValue()", True),
    ],
)
def test_functions(expression: str, expected: Any) -> None:
    check(expression, expected)


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("1 / 0", "division by zero"),
        ("1 % 0", "modulus by zero"),
        ("9223372036854775807 + 1", "integer overflow"),
        ("0u - 1u", "unsigned integer overflow"),
        ("-(-9223372036854775807 - 1)", "integer overflow"),
        ("[1][1]", "index out of bounds: 1"),
        ("{'a': 1}['b']", "no such key: b"),
        ("{'a': 1, 'a': 2}", "Failed with repeated key: a"),
        ("m.n.x", "no such key: x"),
        ("dyn(1) + dyn('a')", "no such overload"),
        ("dyn(true) + 1", "no such overload: _+_"),
        ("size(dyn(1))", "no such overload: size"),
        ("m.n.trim()", "no such overload: trim(int)"),
        ("m.s.isLessThan(semver('1.0.0'))", "no such overload: isLessThan(string, kubernetes.Se"),
        ("[1][m.s]", "unsupported index type 'string' in list"),
        ("m.n['x']", "no such key: x"),
        ("optional.none().value()", "optional.none() dereference"),
        ("'a'.charAt(9)", "index out of range: 9"),
        ("'abc'.substring(2, 1)", "invalid substring range. start: 2, end: 1"),
        ("'abc'.substring(9)", "index out of range: 9"),
        ("'abc'.indexOf('b', -1)", "index out of range: -1"),
        ("'abc'.lastIndexOf('b', -1)", "index out of range: -1"),
        ("int('x')", "type conversion error from 'string' to 'int'"),
        ("int('9223372036854775808')", "type conversion error from 'string' to 'int'"),
        ("uint('-1')", "type conversion error from 'string' to 'uint'"),
        ("double('1e999')", "type conversion error from 'string' to 'double'"),
        ("bool('maybe')", "type conversion error from 'string' to 'bool'"),
        ("[1].exists_one(x, x / 0 > 1)", "division by zero"),
        ("[1].map(x, x / 0)", "division by zero"),
        ("[].min() == 1", "min called on empty list"),
        ("'a'.matches(m.s + '(')", "error parsing regexp: missing closing )"),
    ],
)
def test_errors_have_the_words_users_know(expression: str, problem: str) -> None:
    with pytest.raises(CelError) as found:
        value_of(expression)
    assert str(found.value).startswith(problem)


@pytest.mark.parametrize(
    "expression", ["1 +", "(1", "[1", "{1}", "a.", "'\\q'", "1 2", "$", "1 == 1.0", "'a'.nope()"]
)
def test_nonsense_does_not_compile(expression: str) -> None:
    with pytest.raises(CompileError):
        ENVIRONMENT.compile(expression)


def test_times_are_exact_to_the_nanosecond() -> None:
    assert value_of("duration('1ns')") == CelDuration(1)
    assert value_of("timestamp('1970-01-01T00:00:00.000000001Z')") == Timestamp(1)


def test_a_deeply_nested_expression_is_refused_not_crashed() -> None:
    with pytest.raises(CompileError, match="recursion limit"):
        ENVIRONMENT.compile("(" * 5000 + "1" + ")" * 5000)


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("[m.n, 'a']", "1:7: expected type 'dyn' but found 'string'"),
        ("{'a': 'b', 'c': m.s}", "1:18: expected type 'string' but found 'dyn'"),
        ("{m.s: 1, 'a': 2}", "1:10: expected type 'dyn' but found 'string'"),
        ("[[1], [m.n]]", "1:7: expected type 'list(int)' but found 'list(dyn)'"),
    ],
)
def test_what_may_be_anything_does_not_go_with_what_is_known(expression: str, problem: str) -> None:
    with pytest.raises(CompileError) as found:
        ENVIRONMENT.compile(expression)

    assert str(found.value).startswith(f"ERROR: <input>:{problem}")


def test_what_format_is_given_may_be_of_many_types() -> None:
    check("'%s %d %s'.format([m.s, 1, 'a'])", "text 1 a")
