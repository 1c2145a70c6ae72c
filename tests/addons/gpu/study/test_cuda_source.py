"""The packing rules as C: operations and their order stay, and what is not known is refused."""

from importlib.resources import files

import pytest

from podium.addons.gpu.study.cuda_source import UnknownWord, cuda_rules
from podium.addons.gpu.study.kernel_engine import RULE_CONSTANTS

RULE = """
class Pair(NamedTuple):
    low: int
    weights: Floats

@njit(cache=True)
def weigh(pair: Pair, left: Ints, size: int, wanted: int) -> float:
    \"\"\"What they weigh.\"\"\"
    total = 0.0
    for device in range(size):
        if left[device] < WHOLE and not pair.low:
            continue
        total += pair.weights[device] * left[device] / 2
        wanted -= 1
    return max(total, 0.5) if wanted // 2 > 0 else float_of(total)

def float_of(value: float) -> float:
    return -value
"""


def body_of(text: str, name: str) -> list[str]:
    lines = text.splitlines()
    start = next(at for at, line in enumerate(lines) if f" {name}(" in line)
    return lines[start : lines.index("}", start) + 1]


def test_a_rule_keeps_its_operations_and_their_order() -> None:
    written = cuda_rules(RULE, {"WHOLE": 1000, "PART": 0.1})

    assert body_of(written, "weigh") == [
        "__device__ static double weigh(const Pair *pair, const int *left, int size, int wanted) {",
        "    double total = 0;",
        "    int device = 0;",
        "    total = 0.0;",
        "    for (device = 0; device < size; device++) {",
        "        if (((left[device] < WHOLE) && (!pair->low))) {",
        "            continue;",
        "        }",
        "        total += ((double)(pair->weights[device] * left[device]) / (double)2);",
        "        wanted -= 1;",
        "    }",
        "    return ((floor_div(wanted, 2) > 0) ? max_double(total, 0.5) : float_of(total));",
        "}",
    ]
    assert "typedef struct {\n    int low;\n    const double *weights;\n} Pair;" in written
    assert "enum { WHOLE = 1000 };" in written
    assert "#define PART 0.1" in written


@pytest.mark.parametrize(
    "line",
    [
        "return left.sum()",
        "return [each for each in left]",
        "return left[0] ** 2",
        "return 0 < devices < 2",
        "while devices: devices -= 1\n    else: return 1",
        "for device in left: devices += device",
        "return unknown(devices)",
        "return UNKNOWN",
        "assert devices",
        "return left[0] / 2 // 1",
    ],
)
def test_words_without_a_counterpart_are_refused_with_their_line(line: str) -> None:
    rule = f"def rule(left: Ints, devices: int) -> int:\n    {line}\n"

    with pytest.raises(UnknownWord, match=r"^line [23]: .* has no counterpart in C$"):
        cuda_rules(rule, {})


def test_every_policy_of_the_study_is_among_the_rules() -> None:
    rules = files("podium.addons.gpu.study").joinpath("packing_rules.py").read_text()
    written = cuda_rules(rules, RULE_CONSTANTS)

    for name in ("score_node", "fragmentation", "devices_mask", "tag_of"):
        assert body_of(written, name)
