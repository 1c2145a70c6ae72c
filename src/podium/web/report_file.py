"""Documents and views as one HTML file that needs no server: what every report is made with.

The documents that views ask for are in it as JSON, the scripts and styles as they are served. Its
policy lets nothing run but that very script, and nothing be loaded at all.

    documents = {"overview": ReportOverview(command=..., facts=...), "comparison": comparison}
    make_report_file(documents, [ReportView("compare", "Compare", "compare.js", "showCompare")])

Contract: the same documents give the same bytes. Whoever makes documents keeps them bounded.
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from podium import __version__
from podium.golang.document_structs import Count, Document, DocumentPart
from podium.net.files.versioned_documents import encode_document
from podium.web.page_documents import REPORT
from podium.web.script_bundle import bundle
from podium.web.static_files import static_files

OVERVIEW: Final = "overview"
"""The path of the document with which a report begins."""
_VIEWS_SCRIPT: Final = "report_views.js"


@dataclass(frozen=True, slots=True)
class ReportView:
    """A view that only reports have: its name in addresses, and the function that a script of the
    page's own exports for it. Views of the page itself are there where their documents are."""

    name: str
    title: str
    script: str
    function: str


class Fact(DocumentPart, frozen=True):
    """A figure in the head of a report, such as 5 nodes."""

    value: str
    """The figure."""
    label: str
    """What it counts."""
    bad: bool = False
    """Whether it is a reason to look closer."""

    @classmethod
    def count(cls, number: int, noun: str, *, bad: bool = False) -> "Fact":
        return cls(f"{number:,}", noun if number == 1 else f"{noun}s", bad)


class ReportOverview(Document, frozen=True, kw_only=True):
    """What the head of a report shows that is made by another command than `podium simulate`."""

    KIND: ClassVar[str] = "ReportOverview"

    mode: Literal["report"] = REPORT
    """A file on its own."""
    version: str = __version__
    """The version of Podium."""
    command: str
    """The command that tells the same in a terminal."""
    facts: tuple[Fact, ...]
    """Figures, in order."""
    totals: Mapping[str, Count] | UnsetType = UNSET
    """How many entries lists have in truth, which a report may cut."""
    metric_words: Mapping[str, str] | UnsetType = UNSET
    """What metrics are called in tables and charts, by their names."""
    phases: tuple[str, ...] | UnsetType = UNSET
    """The moments at which the Cluster view shows the cluster; the last one's documents have no
    prefix."""


def make_report_file(documents: Mapping[str, Document], views: Iterable[ReportView] = ()) -> bytes:
    """Documents by the paths by which views ask for them; one of them is the overview."""
    found = static_files()
    scripts = {name: file.content.decode() for name, file in found.items() if name.endswith(".js")}
    scripts[_VIEWS_SCRIPT] = _views_script(views)
    script, style = bundle(scripts), found["style.css"].content.decode()
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    page = found["index.html"].content.decode()
    head, _, rest = page.partition('<link rel="icon"')
    body = rest[rest.index("</head>") :]
    return "".join(
        (
            head.replace(
                '<meta charset="utf-8">',
                '<meta charset="utf-8">\n'
                f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
                '<meta name="referrer" content="no-referrer">',
            ),
            f"<style>{style}</style>\n",
            body.replace(
                "</body>",
                f'<script type="application/json" id="report-data">{_json(documents)}</script>\n'
                f'<script type="module">{script}</script>\n</body>',
            ),
        )
    ).encode()


def _json(documents: Mapping[str, Document]) -> str:
    encoded = {path: msgspec.Raw(encode_document(each)) for path, each in documents.items()}
    data = msgspec.json.encode(encoded).decode()
    # What ends a script in HTML is no character of JSON that has to be written as it is.
    for sign in "<>&\u2028\u2029":
        data = data.replace(sign, f"\\u{ord(sign):04x}")
    return data


def _views_script(views: Iterable[ReportView]) -> str:
    wanted = list(views)
    lines = [f'import {{ {view.function} }} from "./{view.script}";\n' for view in wanted]
    entries = (
        f'  "{view.name}": {{ title: "{view.title}", show: {view.function}, inReport: true }},\n'
        for view in wanted
    )
    return "".join((*lines, "export const REPORT_VIEWS = {\n", *entries, "};\n"))


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
