#!/usr/bin/env python3
"""Three walks through the code: which files a question passes, and how often it changes packages.

    python tools/walks.py              simulate, the POST of a pod to the API server, drain a node
    python tools/walks.py explain web-0 -f examples/cluster.yaml -f examples/pods.yaml

Each walk is done twice, and the second one is counted, so that imports and caches of texts are not.
Counted are calls of Python functions of Podium. Ask of each figure: would the data have to go this
way if the layout were drawn anew?
"""

import asyncio
import contextlib
import io
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Final

EXAMPLES: Final = Path(__file__).resolve().parent.parent / "examples"
INPUT: Final = ("-f", str(EXAMPLES / "cluster.yaml"), "-f", str(EXAMPLES / "pods.yaml"))
POD: Final = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"generateName": "walker-", "namespace": "default"},
    "spec": {"containers": [{"name": "main", "image": "example.com/app:1"}]},
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
    from podium.__main__ import main as podium

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


def walk_post() -> Walk:
    """One pod to an API server in memory, by way of the client and with no socket between."""
    from random import Random

    from podium.apiserver.access.tokens import Tokens
    from podium.apiserver.http.app import Application
    from podium.apiserver.serving.assembly import build_service
    from podium.apiserver.store.store import Store
    from podium.client import AsgiTransport, KubeClient
    from podium.client.resources import PODS

    randomness = Random(1)
    tokens = Tokens("", anonymous_is_admin=True)
    service = build_service(Store(None), tokens, clock=lambda: 1e9, randomness=randomness)
    client = KubeClient(AsgiTransport(Application(service, randomness), {}))

    async def post_twice() -> Walk:
        await client.create(PODS, POD, "default")
        walk = Walk()
        with walk.watching():
            await client.create(PODS, POD, "default")
        return walk

    return asyncio.run(post_twice())


def main() -> None:
    os.environ.setdefault("NO_COLOR", "1")
    if sys.argv[1:]:
        walk_command(*sys.argv[1:]).print(" ".join(sys.argv[1:]))
        return
    walk_command("simulate", *INPUT).print("simulate")
    walk_post().print("POST of a pod")
    walk_command("what-if", "--drain", "general-a1", *INPUT).print("what-if --drain")


if __name__ == "__main__":
    main()
