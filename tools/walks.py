#!/usr/bin/env python3
"""Three walks through the code: which files a question passes, and how often it changes packages.

    python tools/walks.py                       simulate, POST of a pod to its binding, drain a node
    python tools/walks.py --against REVISION    the same walks through the code of another commit
    python tools/walks.py explain web-0 -f examples/cluster.yaml -f examples/pods.yaml

Each walk is done twice, and the second one is counted, so that imports and caches of texts are not.
Counted are calls of Python functions of Podium. Ask of each figure: would the data have to go this
way if the layout were drawn anew?
"""

import asyncio
import contextlib
import importlib
import inspect
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
EXAMPLES: Final = ROOT / "examples"
INPUT: Final = ("-f", str(EXAMPLES / "cluster.yaml"), "-f", str(EXAMPLES / "pods.yaml"))
WALL_S: Final = 1_800_000_000.0
PATIENCE_S: Final = 60.0
POD: Final = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"generateName": "walker-", "namespace": "default"},
    "spec": {"containers": [{"name": "main", "image": "example.com/app:1"}]},
}
NODE: Final = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}}
NODE_STATUS: Final = {
    "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
    "capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"},
}


class Walk:
    """What was called, from which package into which."""

    def __init__(self) -> None:
        self.calls = Counter[str]()
        self.functions: set[tuple[str, str]] = set()
        self.switches = Counter[tuple[str, str]]()
        self.packages: list[str] = []
        """In the order in which they are first entered."""

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        sys.setprofile(self._see)
        try:
            yield
        finally:
            sys.setprofile(None)

    def _see(self, frame: FrameType, event: str, _argument: object) -> None:
        module = frame.f_globals.get("__name__", "")
        if event != "call" or not module.startswith("podium."):
            return
        self.calls[module] += 1
        self.functions.add((module, getattr(frame.f_code, "co_qualname", frame.f_code.co_name)))
        package = module.split(".")[1]
        if package not in self.packages:
            self.packages.append(package)
        caller = frame.f_back
        while caller and not caller.f_globals.get("__name__", "").startswith("podium."):
            caller = caller.f_back
        if caller and (origin := caller.f_globals["__name__"].split(".")[1]) != package:
            self.switches[origin, package] += 1

    def print(self, title: str) -> None:
        print(
            f"{title}: {len(self.calls)} files of {len(self.packages)} packages, "
            f"{len(self.functions):,} functions, {self.calls.total():,} calls, "
            f"{self.switches.total():,} from one package to another"
        )
        print("  " + " > ".join(self.packages))
        for (origin, package), count in self.switches.most_common(5):
            print(f"  {count:>7,}  {origin} > {package}")


def walk_command(*arguments: str) -> Walk:
    podium = load("podium.__main__:main")

    def run() -> None:
        sys.argv = ["podium", *arguments]
        quiet = io.StringIO()
        with (
            contextlib.suppress(SystemExit),
            contextlib.redirect_stdout(quiet),
            contextlib.redirect_stderr(quiet),
        ):
            podium()

    run()
    walk = Walk()
    with walk.watching():
        run()
    return walk


def load(*places: str) -> Any:
    """The first of some `module:name` that this code has: names move from commit to commit."""
    for place in places:
        module, _, name = place.partition(":")
        with contextlib.suppress(ModuleNotFoundError):
            return getattr(importlib.import_module(module), name)
    raise SystemExit(f"tools/walks.py: none of {', '.join(places)} is there")


def call(function: Any, *arguments: object, **named: object) -> Any:
    """Call it with those of the named arguments that it takes in this commit."""
    taken = inspect.signature(function).parameters
    return function(*arguments, **{name: named[name] for name in named if name in taken})


def walk_binding() -> Walk:
    """One pod from its POST to its binding: an API server in memory, and a scheduler that watches
    it, by way of the client and with no socket between."""

    async def post_twice() -> Walk:
        async with schedule_in_memory() as (client, registry):
            await post_pod(client, registry)
            walk = Walk()
            with walk.watching():
                await post_pod(client, registry)
            return walk

    return asyncio.run(post_twice())


@contextlib.asynccontextmanager
async def schedule_in_memory() -> AsyncIterator[tuple[Any, Any]]:
    """A client of an API server with one node and a scheduler, and what the server has stored."""
    randomness = Random(1)
    gates = load(
        "podium.kubernetes.releases.feature_gates:FeatureGates",
        "podium.config.feature_gates:FeatureGates",
    )()
    service = call(
        load("podium.apiserver.serving.assembly:build_service"),
        load("podium.apiserver.store.store:Store")(None),
        load("podium.apiserver.access.tokens:Tokens")("", anonymous_is_admin=True),
        clock=lambda: WALL_S,
        randomness=randomness,
        gates=gates,
    )
    application = load("podium.apiserver.http.app:Application")(service, randomness)
    client = load("podium.client:KubeClient")(load("podium.client:AsgiTransport")(application, {}))
    nodes = load("podium.client.resources:NODES")
    await client.create(nodes, NODE)
    await client.update(nodes, "node-1", {**NODE, "status": NODE_STATUS}, subresource="status")
    engine = load("podium.live.assembly:live_engine")(
        call(
            load(
                "podium.scheduler.config.load:load_configuration",
                "podium.config.load:load_configuration",
            ),
            None,
            gates=gates,
        ),
        load("podium.scheduler.plugins:in_tree_registry", "podium.plugins:in_tree_registry")(),
        wall=lambda: WALL_S,
        randomness=randomness,
        gates=gates,
    )
    assembly = load("podium.live.assembly:Assembly")(
        engine, client, client, host="walk", randomness=randomness
    )
    async with assembly.follow_cluster() as scheduler:
        await scheduler.ready()
        work = asyncio.ensure_future(scheduler.schedule())
        try:
            yield client, service.registry
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            application.stop()
            await application.close()


async def post_pod(client: Any, registry: Any) -> None:
    """Create a pod and wait until it has a node; looking is no call of a walk's."""
    created = json.loads(await client.create(load("podium.client.resources:PODS"), POD, "default"))
    pods = registry.table.get_required("pods", "")
    async with asyncio.timeout(PATIENCE_S):
        while True:
            await asyncio.sleep(0)
            profile = sys.getprofile()
            sys.setprofile(None)
            stored = registry.read(pods, registry.get(pods, "default", created["metadata"]["name"]))
            sys.setprofile(profile)
            if stored["spec"].get("nodeName"):
                return


def walk_revision(revision: str, arguments: list[str]) -> None:
    """The same walks, in a process of their own that imports the code of another commit."""
    archive = subprocess.run(
        ["git", "archive", revision, "src"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        environment = {**os.environ, "PYTHONPATH": str(Path(folder) / "src")}
        subprocess.run([sys.executable, __file__, *arguments], env=environment, check=True)


def main() -> None:
    os.environ.setdefault("NO_COLOR", "1")
    arguments = sys.argv[1:]
    if arguments[:1] == ["--against"]:
        walk_revision(arguments[1], arguments[2:])
        return
    if arguments:
        walk_command(*arguments).print(" ".join(arguments))
        return
    walk_command("simulate", *INPUT).print("simulate")
    walk_binding().print("POST of a pod to its binding")
    walk_command("what-if", "--drain", "general-a1", *INPUT).print("what-if --drain")


if __name__ == "__main__":
    main()
