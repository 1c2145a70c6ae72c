"""Which nodes hold which images, asked of a service on every node.

The service answers `GET http://ADDRESS:8088?reference=IMAGE` with the ids of the images it has
under that reference, one a line: an empty answer says that there are none. Where nodes are found is
a file with a map of names to addresses, or what the nodes say of themselves.

Nobody waits for it. Images that pods have named lately are asked for in the background, on all
nodes at once, and what was heard counts for as long as a source's answer counts. A node that does
not answer holds nothing, as far as anybody knows; the log has the reason, once.
"""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import aiohttp

from podium.net.files.bounded_files import read_file
from podium.plugin import Log, ValueSource

NAME: Final = "wyq-node-images"
NODE_MAP_FILE: Final = "/etc/nodetoip/nodetoip.json"
"""Where the ConfigMap `nodetoip` is mounted."""
MAX_IMAGES: Final = 200
MAX_NODES: Final = 5_000
_MAX_MAP_BYTES: Final = 4 << 20
_MAX_ANSWER_BYTES: Final = 64 << 10
_TOGETHER: Final = 64

Holders = Mapping[str, frozenset[str]]
"""Image to the names of nodes that hold it."""


class NodeImages(ValueSource):
    """`value` are `Holders`, of the images that were asked for."""

    name = NAME

    def __init__(
        self,
        *,
        node_map_file: str,
        port: int,
        timeout_s: float,
        refresh_every_s: float,
        max_age_s: float,
        images: tuple[str, ...],
        addresses: Callable[[], Mapping[str, str]] | None,
        log: Log,
    ) -> None:
        """`addresses` are what nodes say of themselves, asked for if there is no file."""
        self.settings = (node_map_file, port, timeout_s, images, addresses is not None)
        self.refresh_every_s, self.max_age_s = refresh_every_s, max_age_s
        self.timeout_s = timeout_s + 5.0  # of one fetch; the other is for one request
        self._node_map_file, self._port, self._request_s = node_map_file, port, timeout_s
        self._images, self._addresses, self._log = images, addresses, log
        self._wanted: OrderedDict[str, None] = OrderedDict()
        self._told: dict[str, str] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NodeImages) and self._fixed() == other._fixed()

    __hash__ = None

    def _fixed(self) -> tuple[object, ...]:
        return (*self.settings, self.refresh_every_s, self.max_age_s)

    def want(self, images: Iterable[str]) -> None:
        """Ask for these from now on, until many others are wanted."""
        for image in images:
            self._wanted[image] = None
            self._wanted.move_to_end(image)
        while len(self._wanted) > MAX_IMAGES:
            self._wanted.popitem(last=False)

    async def fetch(self) -> Holders:
        images = tuple(dict.fromkeys((*self._images, *self._wanted)))
        addresses = await asyncio.to_thread(self._read_addresses)
        if not images or not addresses:
            return {}
        turns = asyncio.Semaphore(_TOGETHER)
        timeout = aiohttp.ClientTimeout(total=self._request_s)
        async with aiohttp.ClientSession(timeout=timeout, trust_env=False) as session:
            answers = await asyncio.gather(
                *(
                    self._ask(session, turns, node, address, images)
                    for node, address in list(addresses.items())[:MAX_NODES]
                )
            )
        held = dict(answers)
        return {
            image: frozenset(node for node, found in held.items() if image in found)
            for image in images
        }

    async def _ask(
        self,
        session: aiohttp.ClientSession,
        turns: asyncio.Semaphore,
        node: str,
        address: str,
        images: tuple[str, ...],
    ) -> tuple[str, frozenset[str]]:
        """A node and the images it holds; none if it does not say."""
        found: set[str] = set()
        shown = f"[{address}]" if ":" in address else address
        async with turns:
            try:
                for image in images:
                    url = f"http://{shown}:{self._port}/"
                    async with session.get(
                        url, params={"reference": image}, allow_redirects=False
                    ) as answer:
                        body = await answer.content.read(_MAX_ANSWER_BYTES)
                        if answer.status != 200:
                            raise aiohttp.ClientError(f"status {answer.status}")
                        if body.strip():
                            found.add(image)
            except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as problem:
                self._tell(node, str(problem) or type(problem).__name__)
                return node, frozenset()
        self._told.pop(node, None)
        return node, frozenset(found)

    def _tell(self, node: str, problem: str) -> None:
        if self._told.get(node) != problem:
            self._told[node] = problem
            self._log.info("Image service of node does not answer", node=node, err=problem)

    def _read_addresses(self) -> Mapping[str, str]:
        """Node names to addresses. Raises OSError and ValueError for a file that was asked for."""
        if self._addresses is not None:
            return self._addresses()
        try:
            text = read_file(self._node_map_file, _MAX_MAP_BYTES)
        except FileNotFoundError:
            if self._node_map_file == NODE_MAP_FILE:
                return {}  # nobody has mounted one
            raise
        found = json.loads(text)
        if not isinstance(found, dict):
            raise TypeError(f"{self._node_map_file} is no map of node names to addresses")
        return {str(name): str(address) for name, address in found.items()}
