"""CEL, the expression language of device selectors and of custom resources' rules, compiled to
Python closures.

    source ─ lexer ─ parser (macros) ─ checker ─ compiler ─ Selector

The language is the one Kubernetes 1.36 gives to them: standard CEL with cross-type numeric
comparison, optionals, `cel.bind`, the strings, lists, sets and two-variable extensions, and
Kubernetes' own functions (quantity, semver, ip, cidr, url, format, regex).
"""

from podium.kubernetes.cel.errors import CelError, CompileError
from podium.kubernetes.cel.evaluation import COST_LIMIT, Meter
from podium.kubernetes.cel.selector import CelSelector, compile_selector, device_view

__all__ = [
    "COST_LIMIT",
    "CelError",
    "CelSelector",
    "CompileError",
    "Meter",
    "compile_selector",
    "device_view",
]
