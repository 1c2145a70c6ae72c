"""How `podium gpu` looks on a terminal: a block for each card, and tables of who has what."""

from dataclasses import dataclass
from typing import Final

from podium.addons.gpu.cards.overview import (
    CardOwner,
    CardView,
    DevicesView,
    DialectView,
    GPUNodeView,
)
from podium.addons.gpu.cards.requests import ContainerRequest
from podium.commands.answering import Answer
from podium.commands.console import RichText, Text
from podium.commands.gpu_document import GPUOverview
from podium.commands.gpu_report import GPUReport
from podium.commands.tables import PLAIN, Screen, amount, count, percent, some
from podium.kubernetes.rules.requests import MEMORY

_LEVELS: Final = "▁▂▃▄▅▆▇"
_PLAIN_LEVELS: Final = "123456789"
_BAR: Final = 10
_MAX_OWNERS: Final = 4


@dataclass(frozen=True)
class GPUOverviewView(Answer):
    """Cards that nobody uses are listed with `-o wide`, and where one node was asked for."""

    found: GPUReport
    shows_every_card: bool
    is_yes: bool = True
    has_crashed: bool = False

    def document(self) -> GPUOverview:
        return GPUOverview.of(self.found)

    def show(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        _show_gpus(self.found, screen, every_card=wide or self.shows_every_card)


def _show_gpus(report: GPUReport, screen: Screen, *, every_card: bool) -> None:
    for view in report.dialects:
        _show_dialect(view, screen, every_card=every_card)
    _show_devices(report.devices, screen)
    if not any(view.nodes for view in report.dialects) and not report.devices.devices:
        screen.print("no node has GPUs that an agent has registered, or a driver published")
    _show_quotas(report, screen)
    for view in report.dialects:
        _show_pods(view, screen)
    screen.notes(report.notes)


# --- nodes and cards ------------------------------------------------------------------------------


def _show_dialect(view: DialectView, screen: Screen, *, every_card: bool) -> None:
    if not view.nodes:
        return
    pieces = view.fragmentation
    screen.print_heading(
        f"GPUs, {view.dialect}",
        f"{count(len(view.nodes), 'node')}, {count(pieces.cards, 'card')} to be had, "
        f"{pieces.idle_cards} idle, {pieces.partial_cards} in pieces; "
        f"{percent(pieces.of_cores)} of the free cores and {percent(pieces.of_memory)} of the free "
        "memory lie beside somebody",
    )
    numbers = ("IDLE", "IN PIECES", "FREE CORES", "FREE MEMORY")
    table = screen.table("NODE", "CARDS", "MODEL", *numbers, "", right=numbers, whole=("NODE",))
    for node in view.nodes:
        free = node.fragmentation
        table.add_row(
            node.name,
            Text.assemble(*(_block(card, node, screen) for card in node.cards)),
            _models(node),
            str(free.idle_cards),
            str(free.partial_cards),
            str(free.free_cores),
            _memory(free.free_memory, view),
            Text(_refusal(node), style="red"),
        )
    screen.print(table)
    _show_cards(view, screen, every_card=every_card)


def _block(view: CardView, node: GPUNodeView, screen: Screen) -> tuple[str, str]:
    """One card as a character and its colour."""
    card, signs = view.card, screen.signs
    if not card.healthy or card.cordoned or node.refusal is not None:
        return signs.no, "red"
    if not view.owners:
        return signs.free, "dim"
    share = _fullness(view)
    if share >= 1:
        return signs.full, "blue"
    levels = _PLAIN_LEVELS if signs is PLAIN else _LEVELS
    return levels[int(share * len(levels))], "green"


def _fullness(view: CardView) -> float:
    """The larger of the shares of cores and memory; of slices for a card in MIG mode."""
    card, used = view.card, view.used
    slices = max((at + each.width for each in card.profiles for at in each.placements), default=0)
    if slices:
        return used.slices.bit_count() / slices
    return max(_share(used.cores, card.cores), _share(used.memory, card.memory))


def _share(used: int, whole: int) -> float:
    return used / whole if whole else 0.0


def _models(node: GPUNodeView) -> str:
    models = dict.fromkeys(view.card.model for view in node.cards if view.card.model)
    return some(list(models), 2)


def _refusal(node: GPUNodeView) -> str:
    if node.refusal is None:
        return ""
    return f"{node.refusal.phrase}: {node.detail}" if node.detail else node.refusal.phrase


def _show_cards(view: DialectView, screen: Screen, *, every_card: bool) -> None:
    rows = [
        (node, card)
        for node in view.nodes
        for card in node.cards
        if every_card or card.owners or not card.card.healthy or card.card.cordoned
    ]
    if not rows:
        return
    screen.print()
    numbers = ("CARD", "NUMA", "SHARES")
    table = screen.table(
        "NODE", *numbers, "CORES", "MEMORY", "SHARED BY", right=numbers, whole=("NODE",)
    )
    for node, card in rows:
        numa = card.card.numa
        table.add_row(
            node.name,
            str(card.card.index),
            str(numa) if numa >= 0 else screen.signs.nothing,
            str(card.used.slots),
            _bar(card.used.cores, card.card.cores, f"{card.used.cores}", screen),
            _bar(card.used.memory, card.card.memory, _of(card, view), screen),
            _owners(card, view, screen),
        )
    screen.print(table)


def _bar(used: int, whole: int, words: str, screen: Screen) -> RichText:
    share = _share(used, whole)
    bar = screen.bar(min(share, 1.0), min(share, 1.0), _BAR)
    return Text.assemble(bar, (f" {words}", "red" if used > whole else "default"))


def _of(card: CardView, view: DialectView) -> str:
    return f"{_memory(card.used.memory, view)} of {_memory(card.card.memory, view)}"


def _owners(card: CardView, view: DialectView, screen: Screen) -> RichText:
    words = [_owner(owner, view) for owner in card.owners[:_MAX_OWNERS]]
    more = len(card.owners) - _MAX_OWNERS
    shared = "; ".join(words) + (f" and {more} more" if more > 0 else "")
    wrong = "" if card.card.healthy else "unhealthy"
    wrong = wrong or ("cordoned" if card.card.cordoned else "")
    if wrong:
        return Text.assemble((wrong, "red"), f"; {shared}" if shared else "")
    return Text(shared or screen.signs.nothing, style="default" if shared else "dim")


def _owner(owner: CardOwner, view: DialectView) -> str:
    parts = [f"{profile} at {at}" for profile, at in owner.instances]
    if not parts:
        parts = [f"{owner.use.cores} cores"] if owner.use.cores else []
        parts += [_memory(owner.use.memory, view)] if owner.use.memory else []
    waits = "" if owner.phase.value == "confirmed" else ", not confirmed"
    return f"{owner.key} {' '.join(parts)}{waits}"


def _memory(units: int, view: DialectView) -> str:
    return amount(MEMORY, units * view.memory_unit)


# --- everything else -----------------------------------------------------------------------------


def _show_devices(view: DevicesView, screen: Screen) -> None:
    if view.devices:
        used = sum(bool(device.holders) for device in view.devices)
        screen.print_heading(
            "GPUs, dynamic resource allocation",
            f"{count(len(view.devices), 'device')}, {used} allocated",
        )
        table = screen.table("NODE", "DRIVER", "DEVICE", "MODEL", "MEMORY", "CLAIM", "PODS")
        for device in view.devices:
            memory = next((text for name, text in device.capacity if "memory" in name), "")
            claims = [f"{each.namespace}/{each.claim}" for each in device.holders]
            pods = [pod for each in device.holders for pod in each.pods]
            table.add_row(
                device.node or screen.signs.nothing,
                device.driver,
                Text(device.name + (" (tainted)" if device.tainted else "")),
                device.model,
                memory,
                some(claims) or screen.signs.nothing,
                some(pods),
            )
        screen.print(table)
    for name, holder in view.unknown:
        claim = f"{holder.namespace}/{holder.claim}"
        screen.print(f"{claim} has {name}, which no slice publishes", style="red")


def _show_quotas(report: GPUReport, screen: Screen) -> None:
    if not report.quotas and not report.model_quotas:
        return
    screen.print_heading("Quotas")
    numbers = ("USED", "OF")
    table = screen.table("NAMESPACE", "QUOTA", "RESOURCE", *numbers, right=numbers)
    for quota in report.quotas:
        used = quota.used or screen.signs.nothing
        table.add_row(quota.namespace, quota.name, quota.resource, used, quota.hard)
    for each in report.model_quotas:
        pools = f" in {some(each.pools)}" if each.pools else ""
        used = f"{each.used_cards:g}"
        table.add_row(each.namespace, "by model", f"{each.model}{pools}", used, f"{each.cards}")
    screen.print(table)


def _show_pods(view: DialectView, screen: Screen) -> None:
    if view.waiting:
        screen.print_heading("Waiting", f"{count(len(view.waiting), 'pod')} asking for cards")
        table = screen.table("POD", "ASKS FOR", whole=("POD",))
        for pod in view.waiting:
            containers = (*pod.request.init_containers, *pod.request.containers)
            asked = [_request(each, view) for each in containers if each is not None]
            table.add_row(f"{pod.namespace}/{pod.name}", "; ".join(asked))
        screen.print(table)
    if view.uncounted:
        screen.print_heading("Not counted", "pods of whose cards not everything counts")
        table = screen.table("POD", "NODE", "WHY", whole=("POD",))
        for each in view.uncounted:
            node = each.node or screen.signs.nothing
            table.add_row(f"{each.namespace}/{each.name}", node, each.why)
        screen.print(table)


def _request(request: ContainerRequest, view: DialectView) -> str:
    cards = count(request.cards, "card")
    if request.whole:
        return f"{cards}, whole"
    parts = [f"{request.cores} cores"] if request.cores else []
    if request.memory_percent is not None:
        parts.append(f"{request.memory_percent}% of the memory")
    elif request.memory:
        parts.append(_memory(request.memory, view))
    each = " and ".join(parts)
    kind = ", as MIG instances" if request.wants_mig() else ""
    return f"{cards} with {each}{kind}" if each else f"{cards}{kind}"
