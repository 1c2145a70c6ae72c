"""Models of cards that simulated nodes can have, with what their data sheets say.

Memory is what the driver reports, in MiB. An instance of a card in MIG mode has its share of the
card's memory slices and of its compute slices: 3g.20gb of an A100 with 40960 MiB has 4 of 8 and 3
of 7, that is 20480 MiB and 42 cores.
"""

from typing import Final

from msgspec import Struct

from podium.addons.gpu.cards.card import MigProfile
from podium.golang.errors import InputError, closest, did_you_mean


class Model(Struct, frozen=True):
    """`nvlinks` are those between each two cards of a node, `instances` the sizes for MIG: name,
    memory slices, and where they may begin."""

    product: str
    memory_mib: int
    nvlinks: int = 0
    instances: tuple[tuple[str, int, tuple[int, ...]], ...] = ()
    slices: int = 8

    def profiles(self, memory: int) -> tuple[MigProfile, ...]:
        """What one card can be split into, of which all memory is so much."""
        compute = int(self.instances[-1][0].partition("g")[0]) if self.instances else 1
        return tuple(
            MigProfile(
                name=name,
                memory=memory * width // self.slices,
                cores=100 * int(name.partition("g")[0]) // compute,
                width=width,
                placements=placements,
            )
            for name, width, placements in self.instances
        )


_EIGHTHS: Final = (
    (1, tuple(range(7))),
    (2, (0, 2, 4, 6)),
    (2, (0, 2, 4)),
    (4, (0, 4)),
    (4, (0,)),
    (8, (0,)),
)


def _sevenths(*names: str) -> tuple[tuple[str, int, tuple[int, ...]], ...]:
    return tuple((name, *where) for name, where in zip(names, _EIGHTHS, strict=True))


_OF_40GB: Final = _sevenths("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb")
_OF_80GB: Final = _sevenths("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")
_OF_141GB: Final = _sevenths("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb")
_OF_180GB: Final = _sevenths("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb")
_OF_24GB: Final = (("1g.6gb", 1, (0, 1, 2, 3)), ("2g.12gb", 2, (0, 2)), ("4g.24gb", 4, (0,)))

MODELS: Final[dict[str, Model]] = {
    "T4": Model("Tesla T4", 15360),
    "V100-16GB": Model("Tesla V100-SXM2-16GB", 16384, 1),
    "V100-32GB": Model("Tesla V100-SXM2-32GB", 32768, 1),
    "A10": Model("NVIDIA A10", 23028),
    "A30": Model("NVIDIA A30", 24576, 0, _OF_24GB, 4),
    "A100-40GB": Model("NVIDIA A100-SXM4-40GB", 40960, 12, _OF_40GB),
    "A100-80GB": Model("NVIDIA A100-SXM4-80GB", 81920, 12, _OF_80GB),
    "L4": Model("NVIDIA L4", 23034),
    "L40S": Model("NVIDIA L40S", 46068),
    "H100": Model("NVIDIA H100 80GB HBM3", 81559, 18, _OF_80GB),
    "H200": Model("NVIDIA H200", 143771, 18, _OF_141GB),
    "B200": Model("NVIDIA B200", 183359, 18, _OF_180GB),
}
_SAME: Final = {"V100": "V100-32GB", "A100": "A100-80GB", "H100-80GB": "H100"}
NAMES: Final = tuple(sorted((*MODELS, *_SAME)))


def find_model(name: str) -> Model:
    """A model by its short name, in any case of letters. Raises InputError."""
    known = {each.upper(): each for each in NAMES}
    found = known.get(name.upper())
    if found is None:
        remedy = did_you_mean(closest(name, NAMES)) or (
            f"there are {', '.join(NAMES)}; any other one needs its memory: {name}:memory=24Gi"
        )
        raise InputError(f'no model of GPU is known as "{name}"', remedy=remedy)
    return MODELS[_SAME.get(found, found)]
