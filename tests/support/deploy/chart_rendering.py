"""The chart rendered as Helm does it, in so far as its templates go.

There is no Helm among the packages that this project is tested with. The templates keep to a part
of Go's text/template that is rendered here: values by their path, `toYaml X | nindent N`, `if` with
`end`, `{{-` that trims what stands before, the checksum of another template, and a file of the
chart with the name of the release in its queries. Anything else is an error, so the chart cannot
outgrow what is tested.
"""

import json
import re
from hashlib import sha256
from typing import Any, Final

import yaml
from support.deploy.shipped_manifests import DEPLOY, NAMESPACE, Manifest

CHART: Final = DEPLOY / "chart" / "podium"
_ACTION: Final = re.compile(r"(\s*)\{\{(-?) (.+?) \}\}")
_PATH: Final = re.compile(r"\.\w+(?:\.\w+)*")
_TO_YAML: Final = re.compile(r"toYaml (\.\S+) \| nindent (\d+)")

_CHECKSUM: Final = re.compile(
    r'include \(print \$\.Template\.BasePath "/([\w.-]+)"\) \. \| sha256sum'
)
_FILE: Final = re.compile(
    r'\.Files\.Get "([\w/.-]+)" \| replace "job=\\"podium\\"" \(printf "job=%q" \.Release\.Name\)'
    r" \| nindent (\d+)"
)

Values = dict[str, Any]


def default_values() -> Values:
    values: Values = yaml.safe_load((CHART / "values.yaml").read_text())
    return values


def render_chart(values: Values, release: str = "podium") -> list[Manifest]:
    """The objects of a release with values over the chart's own."""
    metadata = yaml.safe_load((CHART / "Chart.yaml").read_text())
    context = {
        "Values": _merged(default_values(), values),
        "Release": {"Name": release, "Namespace": NAMESPACE, "Service": "Helm"},
        "Chart": {"Name": metadata["name"], "AppVersion": metadata["appVersion"]},
    }
    found: list[Manifest] = []
    for path in sorted((CHART / "templates").glob("*.yaml")):
        documents = yaml.safe_load_all(render_template(path.read_text(), context))
        found += [each for each in documents if each is not None]
    return found


def render_template(template: str, context: Values) -> str:
    written: list[str] = []
    shown = [True]
    rest = 0
    for action in _ACTION.finditer(template):
        before = template[rest : action.start()] + ("" if action[2] else action[1])
        rest = action.end()
        if shown[-1]:
            written.append(before)
        what = action[3]
        if what == "end":
            shown.pop()
        elif what.startswith("if "):
            holds = bool(_value(what.removeprefix("if "), context))
            shown.append(shown[-1] and holds)
        elif shown[-1]:
            written.append(_evaluated(what, context))
    assert shown == [True], "an if has no end"
    return "".join([*written, template[rest:]])


def _evaluated(what: str, context: Values) -> str:
    as_yaml, checksum, file = (p.fullmatch(what) for p in (_TO_YAML, _CHECKSUM, _FILE))
    if checksum is not None:
        text = render_template((CHART / "templates" / checksum[1]).read_text(), context)
        return sha256(text.encode()).hexdigest()
    if file is not None:
        release = f'job="{context["Release"]["Name"]}"'
        return _indented((CHART / file[1]).read_text().replace('job="podium"', release), file[2])
    if as_yaml is None:
        value = _value(what, context)
        assert isinstance(value, str | int), f"{what} is {value!r}"
        return json.dumps(value) if isinstance(value, bool) else str(value)
    text = yaml.safe_dump(_value(as_yaml[1], context), default_flow_style=False)
    return _indented(text, as_yaml[2])


def _indented(text: str, width: str) -> str:
    indent = " " * int(width)
    return "\n" + "\n".join(f"{indent}{line}" for line in text.rstrip("\n").splitlines())


def _value(path: str, context: Values) -> Any:
    assert _PATH.fullmatch(path), f"the test's renderer does not know {path}"
    found: Any = context
    for name in path[1:].split("."):
        found = found[name]
    return found


def _merged(values: Values, others: Values) -> Values:
    merged = dict(values)
    for name, value in others.items():
        known = merged.get(name)
        both = isinstance(known, dict) and isinstance(value, dict)
        merged[name] = _merged(known, value) if both else value  # type: ignore[arg-type]
    return merged
