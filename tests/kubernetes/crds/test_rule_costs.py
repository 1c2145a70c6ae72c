"""Estimates of what rules may cost, as kube-apiserver 1.36.4 makes them."""

from typing import Any

import pytest

from podium.kubernetes.crds import default_definition, validate_definition
from podium.kubernetes.crds.rule_costs import MAX_RULES
from podium.kubernetes.crds.rule_tree import RULES, build_rule_tree

TEXT = {"type": "string"}
INTEGER = {"type": "integer"}


def array(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


def text(longest: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": longest}


def mapping(values: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values, **more}


def fields(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties}


SPEC = fields(
    "n",
    n=INTEGER,
    f={"type": "number"},
    b={"type": "boolean"},
    s=TEXT,
    sm=text(20),
    e={"type": "string", "enum": ["abc", "defgh"]},
    d={"type": "string", "format": "duration"},
    t={"type": "string", "format": "date-time"},
    by={"type": "string", "format": "byte", "maxLength": 100},
    l=array(INTEGER),
    lm=array(text(10), maxItems=50),
    ls=array(TEXT),
    lo=array(fields("name", name=text(63), v=INTEGER, sub=array(text(5), maxItems=7)), maxItems=30),
    m=mapping(TEXT),
    mm=mapping(text(9), maxProperties=12),
    mo=mapping(fields(q=text(8)), maxProperties=5),
    ios={"x-kubernetes-int-or-string": True},
    o=fields(p=fields(z=text(33))),
    ll=array(array(INTEGER, maxItems=6), maxItems=4),
    url=text(64),
)
ESTIMATES = r"""
3 self.n > 0
2 self.n == 5
3 self.s == "x"
12 self.s == self.sm
314577 self.s != self.s
9 self.lm == self.lm
7864318 self.l.all(x, x > 0)
7864318 self.l.exists(x, x == 9)
4718593 self.l.exists_one(x, x == 1)
253 self.lm.all(x, x.startsWith("a"))
22803 self.lm.all(x, self.lm.all(y, x == y))
345882608640773328 self.ls.all(x, self.ls.exists(y, x != y))
22020097 self.l.map(x, x * 2).size() > 0
1214 self.lm.map(x, x + "a").all(y, y.size() > 1)
765 self.lm.filter(x, x == "a").size() == 1
1015 self.lm.map(x, x == "a", x + "z").size() == 1
1713 self.lo.all(o, o.name.matches("^[a-z]+$"))
11943 self.lo.all(o, o.sub.all(s, s in self.lm))
584 self.lo.map(o, o.name).exists(n, n == "a")
243 self.lo.exists(o, has(o.v) && o.v > 1)
4 has(self.o) && has(self.o.p.z)
18 self.o.p.z.contains("z")
3145723 self.m.all(k, self.m[k] == "v")
75 self.mm.all(k, k.size() < 5)
75 self.mm.all(k, v, v.size() < 5)
353 self.lm.all(i, v, i < 5 && v != "q")
915 self.lm.transformList(i, v, v + "x").size() > 1
131 self.mm.transformMap(k, v, v + "x").size() > 0
443 self.mm.transformMapEntry(k, v, {v: k}).size() > 0
53 self.mo.exists(k, self.mo[k].q == "w")
3 "k" in self.m
52 "a" in self.lm
15 self.n in [1, 2, 5]
14 self.sm in ["abc", "def"]
3 self.e == "abc"
4 self.e.size() < 9
4 self.s.size() < 100
20 self.sm.replace("a", "bb").size() < 99
629149 self.s.replace("", "bb") == "x"
629150 self.s.split(" ").size() > 1
629150 self.s.split(" ", 2).size() > 1
208 self.lm.join(",") == "x"
329852964048 self.ls.join() == "x"
314576 self.s.lowerAscii() == "x"
19 self.sm.upperAscii().substring(1) == "BC"
19 self.sm.substring(0, 2).trim() == "ab"
314576 self.s.indexOf("w") > 0
314576 self.s.lastIndexOf("w") > 0
253 self.lm.indexOf("a") > 0
1572866 self.l.sum() == 6
1572866 self.l.min() == 1
253 self.lm.max() == "ccc"
1572865 self.l.isSorted() || true
20 self.sm.matches("[a-c]*")
629149 self.s.find("w[a-z]+") == "world"
629150 self.s.findAll("[a-z]+").size() > 1
2516588 self.s.contains(self.sm) || true
3 self.s.endsWith("text")
314586 self.s + self.sm == "x"
15 self.lm + self.ls == []
406 (self.lm + self.lm).all(x, x != "")
35 [1,2,3].all(x, x > self.n - 10)
23 ["a", self.sm].exists(x, x == "abc")
34 {"a": self.sm}["a"] == "abc"
37 {"a": self.sm}.all(k, k == "a")
14 [self.n, 2, 3][0] == 5
4 self.lm[0] == "b"
4 self.mm["a"] == "b"
143 self.ll.all(x, x.all(y, y > 0))
4 self.ll[0][1] == 2
19 self.ll.flatten().size() == 3
19 self.ll.flatten(1).size() == 3
1572887 self.l.reverse() == [2,1,3]
4947796033562 self.l.sort() == [1,2,3]
5265 self.lm.sort().size() == 3
5015 self.lm.distinct().size() == 3
4947796033553 self.l.distinct().size() == 3
2258 self.lo.sortBy(o, o.v).size() == 2
2348 self.lo.sortBy(o, o.name).size() == 2
17 self.l.slice(0, 2).size() == 2
18446744073709551615 lists.range(self.n).size() == 5
54 lists.range(7).all(x, x < 9)
1572876 sets.contains(self.l, [1])
5005 sets.equivalent(self.lm, self.lm)
52428755 sets.intersects(self.lm, self.ls) || true
4 self.?sm.orValue("x") == "abc"
5 self.?o.?p.?z.hasValue()
1844674407370955284 self.?sm.optMap(x, x + "y").orValue("") == "abcy"
19 self.?sm.optFlatMap(x, optional.of(x)).hasValue()
5 optional.of(self.n).value() == 5
5 self.lm[?0].orValue("") == "b"
4 self.mm[?"a"].hasValue()
7864320 self.b ? self.n > 3 : self.l.all(x, x > 0)
4194305 (self.b ? self.lm : self.ls).all(x, x != "q")
9 !self.b || self.n > 3 && self.f > 1.0
6 self.f > 1.0 && self.f < 2.0
8 self.n + 1 * 2 - 3 / 1 % 2 > 0
4 -self.n < 0
4 self.d < duration("2h")
4 self.d.getHours() == 1
4 self.t > timestamp("2000-01-01T00:00:00Z")
4 self.t.getFullYear() == 2020
8 self.t + self.d > self.t
4 size(self.by) == 5
13 string(self.by) == "hello"
11 bytes(self.sm) == b"abc"
4 string(self.n) == "5"
5 int(string(self.n)) == 5
4 double(self.n) > 1.0
4 dyn(self.sm) == "abc"
5 dyn(self.lm).size() > 0
4 type(self.ios) == int
8 type(self.ios) == int ? self.ios < 9 : self.ios.size() > 3
3 self.ios == 5
3 quantity("1Gi").isGreaterThan(quantity("1Mi"))
10 isQuantity(self.sm)
3 semver("1.2.3").major() == 1
314575 isSemver(self.s)
3 isURL(self.url)
30 url(self.url).getHost() == "a.b"
82 url(self.url) == url(self.url)
31 url(self.url).getQuery().size() > 0
3 ip("1.2.3.4").family() == 4
10 isIP(self.sm)
6 cidr("10.0.0.0/8").containsIP("10.1.1.1")
6 cidr("10.0.0.0/8").containsIP(ip("10.1.1.1"))
10 cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16")
4 cidr("10.0.0.0/8").ip() == ip("10.0.0.0")
2 ip.isCanonical("1.2.3.4")
314575 isCIDR(self.s)
260 format.dns1123Label().validate(self.sm).hasValue() || true
10066342 !format.named("uri").value().validate(self.s).hasValue() || true
11 strings.quote(self.sm) == "x"
16 "%s-%d".format([self.sm, self.n]) == "abc-5"
3 self.s < "zzz"
12 self.s >= self.sm
7 self.lo == self.lo
4 self.o == self.o
39326 self.m == self.m
13 self.l == [1,2]
659 self.lm.exists(x, x.size() > 2) && self.lm.all(x, x.size() < 10) && self.sm == "abc"
50331630 self.l.map(x, [x, x]).all(p, p[0] == p[1])
77070301 self.l.map(x, {"a": x}).all(p, p.a > 0)
614 self.lo.map(o, o.sub).all(s, s.size() >= 0)
4166 self.lo.map(o, o.sub.map(s, s + "!")).flatten().size() >= 0
1675 self.lm.filter(x, x != "a").map(x, x + "b").all(x, x != "")
4 oldSelf.n == self.n
29013 self.lo.all(o, self.lo.exists_one(p, p.name == o.name))
1364 self.lm.map(x, x.split("")).all(p, p.size() >= 0)
19503505 self.s.split(",").all(p, p.size() < 1000)
1844674407412478863 self.s.split(",").map(p, p.trim()).join(";").size() > 0
183 self.mm.map(k, k + "a").size() > 0
111 self.mm.exists(k, self.mm[k].startsWith("b"))
11 self.lo[0].name == "a" && self.lo[0].sub[0] == "p"
243 self.lo.exists(o, o.?v.orValue(0) == 1)
29 [self.lm, self.ls].exists(l, l.size() > 1)
106 ["a","b","c"].map(x, x + self.sm).exists(x, x == "a")
1603 self.lm.all(x, ["a","b","ccc"].exists(y, y == x))
"""
"""The estimate of upstream, and the rule."""


def definition(spec: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"spec": spec}}
    crd: dict[str, Any] = {
        "metadata": {"name": "gizmos.x.dev"},
        "spec": {
            "group": "x.dev",
            "scope": "Namespaced",
            "names": {"plural": "gizmos", "kind": "Gizmo"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }
    default_definition(crd)
    return crd


def refusals(spec: dict[str, Any]) -> list[str]:
    return [str(error) for error in validate_definition(definition(spec))]


def ruled(schema: dict[str, Any], *rules: str | dict[str, Any]) -> dict[str, Any]:
    written = [{"rule": rule} if isinstance(rule, str) else rule for rule in rules]
    return {**schema, RULES: written}


@pytest.mark.parametrize("line", ESTIMATES.strip().splitlines())
def test_a_rule_may_cost_what_upstream_says(line: str) -> None:
    cost, _, rule = line.partition(" ")
    tree = build_rule_tree({"type": "object", "properties": {"spec": ruled(SPEC, rule)}})

    assert tree is not None
    assert tree.properties["spec"].rules[0].program.max_cost == int(cost)


PLACE = "spec.validation.openAPIV3Schema.properties[spec]"
ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays,"
    " maps, and strings are declared)"
)
TOTAL = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
CONTRIBUTED = (
    "Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3"
    " schema"
)


def quadratic(rules: int, **array_limits: int) -> dict[str, Any]:
    return ruled(
        fields(a=array(INTEGER, **array_limits)),
        *(f"self.a.all(x, self.a.all(y, x + y > {number}))" for number in range(rules)),
    )


def test_a_definition_with_forty_quadratic_rules_is_refused() -> None:
    found = refusals(quadratic(40))

    each = f"Forbidden: estimated rule cost exceeds budget by factor of more than 100x {ADVICE}"
    total = f"Forbidden: {TOTAL} exceeds budget by factor of more than 100x {ADVICE}"
    assert found == [
        *(f"{PLACE}.{RULES}[{number}].rule: {each}" for number in range(40)),
        *(f"{PLACE}.{RULES}[{number}].rule: {CONTRIBUTED}" for number in range(4)),
        f"spec.validation.openAPIV3Schema: {total}",
    ]


def test_lists_that_are_bounded_make_a_rule_cheap_enough() -> None:
    assert refusals(quadratic(1, maxItems=1000)) == []


def test_a_factor_just_above_the_limit_is_told_exactly() -> None:
    told = f"estimated rule cost exceeds budget by factor of 1.276560x {ADVICE}"

    assert refusals(quadratic(1, maxItems=1350)) == [f"{PLACE}.{RULES}[0].rule: Forbidden: {told}"]


def test_rules_that_are_cheap_alone_may_be_too_expensive_together() -> None:
    found = refusals(quadratic(15, maxItems=1000))

    assert found == [
        *(f"{PLACE}.{RULES}[{number}].rule: {CONTRIBUTED}" for number in range(4)),
        "spec.validation.openAPIV3Schema: Forbidden: "
        f"{TOTAL} exceeds budget by factor of 1.050900x {ADVICE}",
    ]


def test_a_rule_of_an_item_costs_as_often_as_items_fit_into_a_request() -> None:
    item = ruled(TEXT, "self.contains('abcdefghijklmnop')")

    assert "more than 100x" in refusals(fields(a=array(item)))[0]
    assert refusals(fields(a=array(ruled(text(10), "self.contains('abc')"), maxItems=10))) == []


def test_a_message_expression_is_estimated_too() -> None:
    spec = ruled(
        fields(a=array(TEXT)),
        {
            "rule": "self.a.size() > 0",
            "messageExpression": "self.a.map(x, self.a.map(y, x + y).join(',')).join(';')",
        },
    )

    told = f"estimated messageExpression cost exceeds budget by factor of more than 100x {ADVICE}"
    assert refusals(spec)[0] == f"{PLACE}.{RULES}[0].messageExpression: Forbidden: {told}"


def test_an_update_that_leaves_a_schema_alone_is_judged_by_the_total_only() -> None:
    from podium.kubernetes.crds import validate_definition_update

    stored = definition(quadratic(1, maxItems=1350))
    stored["metadata"]["resourceVersion"] = "1"

    assert validate_definition_update(stored, stored) == []


def test_more_rules_than_can_be_compiled_in_a_request_are_refused() -> None:
    found = refusals(ruled(fields(a=TEXT), *(f"{n} > 0" for n in range(MAX_RULES + 1))))

    assert found[0].startswith("spec.versions: Forbidden: must not have more than 500 validation")


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ({"rule": "  "}, "rule: Required value: rule is not specified"),
        (
            {"rule": "true", "message": "  "},
            'message: Invalid value: "  ": must be non-empty if specified',
        ),
        (
            {"rule": "true", "message": "a\nb"},
            'message: Invalid value: "a\\nb": must not contain line breaks',
        ),
        (
            {"rule": "true &&\ntrue"},
            "message: Required value: message must be specified if rule contains line breaks",
        ),
        (
            {"rule": "self == oldSelf", "optionalOldSelf": False, "messageExpression": " "},
            "messageExpression: Required value: messageExpression must be non-empty if specified",
        ),
    ],
)
def test_the_parts_of_a_rule_have_to_say_something(rule: dict[str, Any], problem: str) -> None:
    assert refusals(ruled(fields(a=text(5)), rule)) == [f"{PLACE}.{RULES}[0].{problem}"]


def test_items_of_plain_lists_cannot_be_compared_with_what_they_were() -> None:
    (found,) = refusals(fields(a=array(ruled(text(5), "self == oldSelf"), maxItems=5)))

    assert found.endswith(f"uncorrelatable portion of the schema within {PLACE}.properties[a]")
