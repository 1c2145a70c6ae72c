"""`randScore`: a pod that rebuilds an image goes where the image is.

Despite its name nothing about it is random. A build pod names the image in the environment variable
`PUBLICIMAGE` of its first container; a node that holds it scores 100, every other one 0. With a
weight of 300 that outweighs all scores of kube-scheduler's own plugins together.

What nodes hold is in their status, which lists the 50 largest images by default; a service on the
nodes, if there is one, knows of all (`node_images.py`). An image that is named for the first time
is known from there with the next refresh, so those that matter can be listed as `images`.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec
import numpy as np

from podium.addons.collection.wyq.node_images import NAME, NODE_MAP_FILE, NodeImages
from podium.addons.collection.wyq.trace_lines import TraceArgs, TraceLines
from podium.plugin import (
    Action,
    Cycle,
    Dependence,
    Handle,
    Ints,
    Node,
    Registration,
    Resource,
    Rows,
    ScorePlugin,
    ValueSource,
    indices,
)
from podium.scheduler.plugins.image_locality import canonical_image

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
        images = self._named(cycle)
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
        return Dependence(fragment=self._named(cycle), usage=False, version=version)

    def events(self) -> Sequence[Registration]:
        return (Registration(Resource.NODE, Action.ADD),)

    def _write(self, cycle: Cycle, rows: Rows, scores: Ints) -> None:
        names = cycle.nodes.names
        for row, score in zip(indices(rows).tolist(), scores.tolist(), strict=True):
            # upstream: spelled so
            more = f", socer: {score}" if self.args.prefix else ""
            self.lines.on("Score", cycle, names[row], more)

    def _named(self, cycle: Cycle) -> tuple[str, ...]:
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
