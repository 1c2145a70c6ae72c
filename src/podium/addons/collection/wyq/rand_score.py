"""`randScore` and `RandomScore`: a pod goes where the image is that it rebuilds, or by chance.

Despite its name nothing about `randScore` is random. A build pod names the image in the environment
variable `PUBLICIMAGE` of its first container; a node that holds it scores 100, every other one 0.
With a weight of 300 that outweighs all scores of kube-scheduler's own plugins together.

What nodes hold is in their status, which lists the 50 largest images by default. A service on the
nodes, if there is one, knows of all: it answers `GET http://ADDRESS:8088?reference=IMAGE` with the
ids of the images that it has under that reference, one a line, and with nothing if it has none.
Where nodes are found is a file with a map of names to addresses, or what the nodes say of
themselves. No attempt waits for the service. Images that pods have named lately are asked for in
the background, on all nodes at once, and an answer counts for as long as a source's answer counts;
an image that is named for the first time is known from there with the next refresh, so those that
matter can be listed as `images`. A node that does not answer holds nothing, as far as anybody
knows; the log has the reason, once.

`RandomScore` gives scores that follow from nothing but a seed, the pod and the node. With a weight
it spreads pods by chance; with the same seed it does so the same way every time.
"""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Annotated, Final, Literal

import aiohttp
import msgspec
import numpy as np

from podium.addons.collection.wyq.trace import TraceArgs, TraceLines
from podium.net.files.bounded_files import read_file
from podium.plugin import (
    Action,
    Cycle,
    Dependence,
    Handle,
    Ints,
    Log,
    Node,
    Registration,
    Resource,
    Rows,
    ScorePlugin,
    ValueSource,
    canonical_image,
    indices,
)

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
        return isinstance(other, NodeImages) and self._comparison_key() == other._comparison_key()

    __hash__ = None

    def _comparison_key(self) -> tuple[object, ...]:
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


_SECONDS = msgspec.Meta(gt=0, le=3600)


class RandScoreArgs(TraceArgs, rename="camel"):
    """`use_internal_ip` asks nodes under the addresses they say they have, in place of the file."""

    env_name: str = "PUBLICIMAGE"
    containers: Literal["first", "all"] = "first"
    node_map_file: str = NODE_MAP_FILE
    use_internal_ip: bool = msgspec.field(default=False, name="useInternalIP")
    port: Annotated[int, msgspec.Meta(ge=1, le=65535)] = 8088
    timeout_seconds: Annotated[float, _SECONDS] = 2.0
    refresh_seconds: Annotated[float, _SECONDS] = 5.0
    max_age_seconds: Annotated[float, _SECONDS] = 120.0
    images: tuple[str, ...] = ()


class RandScore(ScorePlugin):
    name = "randScore"
    in_range = True
    Args = RandScoreArgs
    args: RandScoreArgs

    def __init__(self, args: RandScoreArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self.lines = TraceLines(handle.log, self.name, args)

    def sources(self) -> Sequence[ValueSource]:
        args = self.args
        return [
            NodeImages(
                node_map_file=args.node_map_file,
                port=args.port,
                timeout_s=args.timeout_seconds,
                refresh_every_s=args.refresh_seconds,
                max_age_s=args.max_age_seconds,
                images=args.images,
                addresses=self._internal_addresses if args.use_internal_ip else None,
                log=self.handle.log,
            )
        ]

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        images = self._find_named_images(cycle)
        held: Ints = np.zeros(cycle.nodes.size, dtype=np.int64)
        for image in images:
            state = cycle.nodes.images.state(canonical_image(image))
            if state is not None:
                held[state.rows] = 100
        if images:
            for name in self._told_of(images):
                if cycle.nodes.is_present(name):
                    held[cycle.nodes.row(name)] = 100
        scores = held[rows]
        if self.lines.wanted:
            self._write(cycle, rows, scores)
        return scores

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:  # noqa: ARG002
        if not self.args.prefix:
            self.lines.about("NormalizeScore", cycle)
        return scores

    def score_depends(self, cycle: Cycle) -> Dependence | None:
        if self.lines.wanted:
            return None  # to be called every time
        version = (cycle.nodes.images.version, self.handle.sources.column(NAME).version)
        return Dependence(fragment=self._find_named_images(cycle), usage=False, version=version)

    def events(self) -> Sequence[Registration]:
        return (Registration(Resource.NODE, Action.ADD),)

    def _write(self, cycle: Cycle, rows: Rows, scores: Ints) -> None:
        names = cycle.nodes.names
        for row, score in zip(indices(rows).tolist(), scores.tolist(), strict=True):
            # upstream: spelled so
            more = f", socer: {score}" if self.args.prefix else ""
            self.lines.on("Score", cycle, names[row], more)

    def _find_named_images(self, cycle: Cycle) -> tuple[str, ...]:
        """The images that a pod names."""
        containers = cycle.pod.pod.spec.containers or ()
        if self.args.containers == "first":
            containers = containers[:1]
        return tuple(
            variable.value
            for container in containers
            for variable in container.env or ()
            if variable.name == self.args.env_name and variable.value
        )

    def _told_of(self, images: Sequence[str]) -> set[str]:
        """The nodes whose service says that they hold one of the images."""
        column = self.handle.sources.column(NAME)
        if isinstance(column.source, NodeImages):
            column.source.want(images)
        held = column.value
        if not isinstance(held, Mapping):
            return set()
        return set().union(*(held.get(image, frozenset()) for image in images))

    def _internal_addresses(self) -> Mapping[str, str]:
        return {
            node.metadata.name: address.address
            for node in self.handle.list(Node)
            for address in node.status.addresses or ()
            if address.type == "InternalIP"
        }


_MIX = np.uint64(0x9E3779B97F4A7C15)


class RandomScore(ScorePlugin):
    name = "RandomScore"
    in_range = True

    class Args(msgspec.Struct):
        seed: int = 0

    args: Args

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        pod = _number(f"{self.args.seed}/{cycle.pod.key}")
        names = cycle.nodes.names
        nodes = (_number(names[row]) for row in indices(rows).tolist())
        mixed = np.fromiter(nodes, dtype=np.uint64) ^ np.uint64(pod)
        mixed *= _MIX
        mixed ^= mixed >> np.uint64(32)
        scores: Ints = (mixed % np.uint64(101)).astype(np.int64)
        return scores


def _number(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())
