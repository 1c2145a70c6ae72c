"""The images of the machine at hand, by reference: asked of docker, of a CRI runtime, or of a file.

A reference is matched as docker matches it: `nginx` stands for every tag of nginx, `nginx:1.25` for
one, `*` for anything but a slash; `docker.io/library/` in front may be left out.

Whoever reaches the service chooses the reference. It is no longer than an image's can be, and few
patterns are kept in their compiled form: `fnmatch` would keep 32,768 of any length.
"""

import asyncio
import json
import re
from collections.abc import Iterator
from fnmatch import translate
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Protocol

import aiohttp

from podium.commands.processes.defaults import CRI_ENDPOINT, DOCKER_SOCKET
from podium.net.files.bounded_files import read_file

MAX_ANSWER_BYTES: Final = 32 << 20
MAX_REFERENCE: Final = 1024
"""Characters. A repository has 255 at most, a tag 128, a digest with SHA-512 135."""
_TIMEOUT_S: Final = 10.0
_DEFAULT_PREFIXES: Final = ("docker.io/library/", "docker.io/")


class ListingFailed(Exception):
    """The images cannot be listed; says why."""


class ImageListing(Protocol):
    async def find(self, reference: str) -> list[str]:
        """Ids of the images under a reference, each once. Raises ListingFailed."""


class DockerImages:
    """Docker's API on its socket."""

    def __init__(self, socket: str = DOCKER_SOCKET) -> None:
        self._socket = socket

    async def find(self, reference: str) -> list[str]:
        connector = aiohttp.UnixConnector(path=self._socket)
        timeout = aiohttp.ClientTimeout(total=_TIMEOUT_S)
        asked = {"filters": json.dumps({"reference": [reference]})}
        try:
            async with (
                aiohttp.ClientSession(connector=connector, timeout=timeout) as session,
                session.get("http://docker/images/json", params=asked) as answer,
            ):
                body = await _read_bounded(answer.content)
                if answer.status != 200:
                    raise ListingFailed(f"docker says {answer.status}: {_message_of(body)}")
        except (aiohttp.ClientError, OSError, TimeoutError) as problem:
            told = str(problem) or type(problem).__name__
            raise ListingFailed(f"docker at {self._socket} does not answer: {told}") from None
        found = _decode(body)
        if not isinstance(found, list):
            raise ListingFailed("docker's answer is no list of images")
        return _unique(str(image.get("Id", "")) for image in found if isinstance(image, dict))


class CriImages:
    """A CRI runtime (containerd, CRI-O), by way of crictl."""

    def __init__(self, endpoint: str = CRI_ENDPOINT, crictl: str = "crictl") -> None:
        self._command = (crictl, "--runtime-endpoint", endpoint, "images", "--output", "json")

    async def find(self, reference: str) -> list[str]:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
            )
        except OSError as problem:
            raise ListingFailed(f"{self._command[0]} cannot be run: {problem}") from None
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                out, errors = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
            raise ListingFailed(f"{self._command[0]} gave no answer in time") from None
        if process.returncode:
            raise ListingFailed(errors.decode(errors="replace").strip()[:1000])
        return find_in_document(out, reference)


class FileImages:
    """A file with what `crictl images --output json` prints, read at each question."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def find(self, reference: str) -> list[str]:
        try:
            text = await asyncio.to_thread(read_file, str(self._path), MAX_ANSWER_BYTES)
        except OSError as problem:
            raise ListingFailed(f"{self._path} cannot be read: {problem.strerror}") from None
        return find_in_document(text, reference)


async def _read_bounded(content: aiohttp.StreamReader) -> bytes:
    body = bytearray()
    async for part in content.iter_any():
        body += part
        if len(body) > MAX_ANSWER_BYTES:
            raise ListingFailed(f"docker's answer is longer than {MAX_ANSWER_BYTES >> 20} MiB")
    return bytes(body)


def find_in_document(text: str | bytes, reference: str) -> list[str]:
    """Raises ListingFailed for what is no list of a CRI's images."""
    document = _decode(text)
    images = document.get("images") if isinstance(document, dict) else None
    if not isinstance(images, list):
        raise ListingFailed("not a document of crictl: there is no list of images")
    return _unique(
        str(image.get("id", ""))
        for image in images
        if isinstance(image, dict) and any(matches(reference, each) for each in _names(image))
    )


def matches(reference: str, name: str) -> bool:
    """Whether an image's name, with its tag or digest, is meant by a reference.

    >>> matches("nginx", "docker.io/library/nginx:1.25"), matches("nginx:1.24", "nginx:1.25")
    (True, False)
    """
    pattern, full = _familiar(reference), _familiar(name)
    last = full.rpartition("/")[2]
    without_tag = full[: len(full) - len(last)] + last.partition("@")[0].partition(":")[0]
    return any(_matches_path(pattern, each) for each in (full, without_tag))


def _matches_path(pattern: str, name: str) -> bool:
    """As Go's path.Match: a star stands for no slash."""
    patterns, parts = pattern.split("/"), name.split("/")
    if len(patterns) != len(parts):
        return False
    pairs = zip(patterns, parts, strict=True)
    return all(compile_pattern(each).match(part) is not None for each, part in pairs)


@lru_cache(maxsize=64)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))


def _familiar(name: str) -> str:
    for prefix in _DEFAULT_PREFIXES:
        if name.startswith(prefix):
            return name.removeprefix(prefix)
    return name


def _names(image: dict[str, Any]) -> Iterator[str]:
    for field in ("repoTags", "repoDigests"):
        yield from map(str, image.get(field) or ())


def _decode(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise ListingFailed("the answer is no JSON") from None


def _message_of(body: bytes) -> str:
    try:
        return str(json.loads(body)["message"])
    except (ValueError, TypeError, KeyError):
        return body.decode(errors="replace")[:200]


def _unique(ids: Iterator[str]) -> list[str]:
    return [each for each in dict.fromkeys(ids) if each]
