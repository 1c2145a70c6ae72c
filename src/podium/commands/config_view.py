"""How `podium config` shows what it found: mistakes, effective configurations, plugin lists."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from podium.commands.answering import Answer
from podium.commands.config_document import ConfigurationCheck, ProfilePoints
from podium.commands.config_files import Checked
from podium.commands.console import RichText, Text
from podium.commands.exit_codes import BAD_INPUT
from podium.commands.tables import Screen, count
from podium.net.files.versioned_documents import DocumentList
from podium.scheduler.config.examine import Examination
from podium.scheduler.config.merge import PointLists
from podium.scheduler.config.types import API_VERSION, ExtensionPoint

# The order in which a pod meets them.
_SHOWN_ORDER = (
    "preEnqueue",
    "queueSort",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
    "placementGenerate",
    "placementScore",
)


@dataclass(frozen=True)
class CheckView(Answer):
    """`is_list` if several files were asked about."""

    results: Sequence[Checked]
    is_list: bool
    has_crashed: bool = False

    @property
    def is_yes(self) -> bool:
        return all(each.found.loads for each in self.results)

    @property
    def exit_code(self) -> int:
        if not all(each.readable for each in self.results):
            return BAD_INPUT
        return super().exit_code

    def document(self) -> ConfigurationCheck | DocumentList:
        checks = [
            ConfigurationCheck.of(each.file, each.found, _notes(each.found))
            for each in self.results
        ]
        return DocumentList(ConfigurationCheck, checks) if self.is_list else checks[0]

    def show(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        _show_checked(screen, [(each.file, each.found) for each in self.results])


@dataclass(frozen=True)
class PointsView(Answer):
    lists: Mapping[str, PointLists]
    is_yes: bool = True
    has_crashed: bool = False

    def document(self) -> DocumentList:
        return DocumentList(ProfilePoints, ProfilePoints.all_of(self.lists))

    def show(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        _show_points(screen, self.lists)


def _show_checked(screen: Screen, results: Iterable[tuple[str, Examination]]) -> None:
    for file, found in results:
        if found.configuration is not None:
            names = ", ".join(profile.scheduler_name for profile in found.configuration.profiles)
            profiles = count(len(found.configuration.profiles), "profile")
            verdict = _verdict(screen.signs.yes, "green", file, f"loads, {profiles}: {names}")
            _print_line(screen, verdict)
            _print_findings(screen, found)
            for note in _notes(found):
                _print_line(screen, Text(f"  {note}", style="dim"))
            continue
        problems = count(len(found.mistakes), "problem")
        _print_line(screen, _verdict(screen.signs.no, "red", file, problems))
        for mistake in found.mistakes:
            _print_line(screen, Text(f"  {_line(mistake.line)}{mistake.sentence}"))
            _print_remedy(screen, mistake.remedy)
        _print_findings(screen, found)


def _print_findings(screen: Screen, found: Examination) -> None:
    for finding in found.findings:
        sentence = f"  {_line(finding.line)}{finding.sentence}"
        _print_line(screen, Text(sentence, style="yellow"))
        _print_remedy(screen, finding.remedy)


def _line(number: int | None) -> str:
    return "" if number is None else f"line {number}: "


def _print_remedy(screen: Screen, remedy: str) -> None:
    if remedy:
        _print_line(screen, Text(f"    {screen.signs.arrow} {remedy}", style="dim"))


def _print_line(screen: Screen, line: RichText) -> None:
    """A line that stays one, so that it can be searched for and clicked on."""
    screen.console.print(line, soft_wrap=True)


def _notes(found: Examination) -> list[str]:
    """What a user of a configuration that loads should still know."""
    configuration = found.configuration
    if configuration is None:
        return []
    notes = [*configuration.notes, *found.notes]
    if configuration.api_version != API_VERSION:
        notes.append(f"kube-scheduler 1.36 reads {API_VERSION} only; see podium config convert")
    return notes


def _show_points(screen: Screen, lists: Mapping[str, PointLists]) -> None:
    for index, (scheduler_name, points) in enumerate(lists.items()):
        if index:
            screen.print()
        table = screen.table("POINT", scheduler_name, whole=("POINT",))
        for point in map(ExtensionPoint, _SHOWN_ORDER):
            names = [
                f"{plugin.name} {plugin.weight}" if point.is_weighted else plugin.name
                for plugin in points[point]
            ]
            table.add_row(point.value, ", ".join(names) or screen.signs.nothing)
        screen.print(table)


def _verdict(sign: str, style: str, file: str, text: str) -> RichText:
    return Text.assemble((sign, style), f" {file}  ", (text, style))
