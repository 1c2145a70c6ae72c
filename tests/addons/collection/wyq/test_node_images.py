"""The service on the nodes is asked in the background, within bounds, and may be away."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from podium.addons.collection.wyq.rand_score import MAX_IMAGES, NODE_MAP_FILE, NodeImages
from podium.scheduler.framework.log import SILENT, Log


class Heard:
    verbosity = 0

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []

    def info(self, message: str, *, v: int = 0, **fields: Any) -> None:
        self.lines.append((message, fields))

    def error(self, message: str, **fields: Any) -> None: ...

    def note(self, text: str, *, v: int = 0) -> None: ...


def source(file: str, port: int = 8088, log: Log = SILENT, **more: Any) -> NodeImages:
    settings = {"timeout_s": 2.0, "refresh_every_s": 5.0, "max_age_s": 60.0, "images": ()}
    return NodeImages(
        node_map_file=file, port=port, addresses=None, log=log, **{**settings, **more}
    )


@asynccontextmanager
async def image_service(*held: str, status: int = 200) -> AsyncIterator[int]:
    async def answer(request: web.Request) -> web.Response:
        found = "sha256:1\n" if request.query["reference"] in held else ""
        return web.Response(text=found, status=status)

    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def node_map(tmp_path: Path, **addresses: str) -> str:
    path = tmp_path / "nodetoip.json"
    path.write_text(json.dumps(addresses))
    return str(path)


def test_nodes_are_asked_for_the_images_that_pods_name(tmp_path: Path) -> None:
    async def main() -> None:
        async with image_service("team/model") as port:
            asked = source(node_map(tmp_path, a="127.0.0.1"), port, images=("always",))
            asked.want(["team/model"])
            found = await asked.fetch()
            assert found == {"always": frozenset(), "team/model": frozenset({"a"})}

    asyncio.run(main())


@pytest.mark.parametrize("status", [500, 302])
def test_a_node_that_does_not_answer_holds_nothing_and_is_told_once(
    tmp_path: Path, status: int
) -> None:
    async def main() -> None:
        heard = Heard()
        async with image_service("team/model", status=status) as port:
            asked = source(node_map(tmp_path, a="127.0.0.1"), port, heard)
            asked.want(["team/model"])
            for _ in range(2):
                assert await asked.fetch() == {"team/model": frozenset()}
        told = ("Image service of node does not answer", {"node": "a", "err": f"status {status}"})
        assert heard.lines == [told]

    asyncio.run(main())


def test_a_connection_that_is_refused_is_no_exception(tmp_path: Path) -> None:
    async def main() -> None:
        heard = Heard()
        async with image_service() as port:
            pass
        asked = source(node_map(tmp_path, a="127.0.0.1"), port, heard)
        asked.want(["team/model"])
        assert await asked.fetch() == {"team/model": frozenset()}
        assert len(heard.lines) == 1

    asyncio.run(main())


def test_without_a_map_nobody_is_asked_and_a_lost_one_is_a_problem(tmp_path: Path) -> None:
    usual = source(NODE_MAP_FILE)
    usual.want(["team/model"])
    assert asyncio.run(usual.fetch()) == {}
    with pytest.raises(FileNotFoundError):
        asyncio.run(source(str(tmp_path / "gone.json")).fetch())
    (tmp_path / "list.json").write_text("[]")
    with pytest.raises(TypeError, match="no map of node names"):
        asyncio.run(source(str(tmp_path / "list.json")).fetch())


def test_profiles_with_equal_settings_share_a_source(tmp_path: Path) -> None:
    file = node_map(tmp_path)
    assert source(file) == source(file) != source(file, port=1)


def test_only_so_many_images_are_asked_for(tmp_path: Path) -> None:
    async def main() -> None:
        async with image_service() as port:
            asked = source(node_map(tmp_path, a="127.0.0.1"), port)
            asked.want(f"image-{number}" for number in range(MAX_IMAGES + 5))
            found = await asked.fetch()
            assert len(found) == MAX_IMAGES
            assert "image-0" not in found

    asyncio.run(main())
