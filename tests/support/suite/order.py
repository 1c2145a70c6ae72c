"""Another order of tests, to show that none depends on what ran before it.

`pytest --order-seed=7` shuffles files, and the tests within each file; the same number gives the
same order. Files stay together, so that what a file sets up once is not set up again and again.
"""

from random import Random
from typing import Final

import pytest

SEED_OPTION: Final = "--order-seed"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        SEED_OPTION, metavar="N", help="shuffle the tests, the same way for the same N"
    )


def shuffle(items: list[pytest.Item], seed: str) -> list[pytest.Item]:
    random = Random(seed)
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    names = sorted(files)
    random.shuffle(names)
    for tests in files.values():
        random.shuffle(tests)
    return [item for name in names for item in files[name]]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.getoption(SEED_OPTION)
    if seed:
        items[:] = shuffle(items, seed)
