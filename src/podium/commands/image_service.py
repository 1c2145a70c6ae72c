"""`podium image-service`: tell schedulers which images a node holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from podium.commands.exit_codes import OK
from podium.commands.line_logging import start_logging
from podium.commands.printing import print_line
from podium.commands.processes.defaults import CRI_ENDPOINT, DOCKER_SOCKET, IMAGE_SERVICE_PORT
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.commands.processes.image_listing import ImageListing


def image_service(
    *,
    images: Annotated[
        Literal["docker", "cri", "file"],
        Parameter(name=["--images"], help="Who knows the images of this machine."),
    ] = "docker",
    docker_socket: Annotated[
        str, Parameter(metavar="PATH", help="Docker's socket.")
    ] = DOCKER_SOCKET,
    cri_endpoint: Annotated[
        str, Parameter(metavar="URL", help="The CRI runtime, which crictl queries.")
    ] = CRI_ENDPOINT,
    file: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            show_default=False,
            help="What `crictl images --output json` has printed, for --images file.",
        ),
    ] = None,
    host: Annotated[str, Parameter(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Parameter(help="The port; 0 for any free one.")] = IMAGE_SERVICE_PORT,
) -> int:
    """Answer which images this machine holds, until SIGTERM or Ctrl-C.

    The node's side of Wyq-Scheduler's image rule: `GET /?reference=IMAGE` is answered with the ids
    of the images under that reference, one a line, and with nothing if there are none. The plugin
    randScore asks it on every node. On real nodes it listens on an address that the scheduler can
    reach: --host 0.0.0.0. Whoever reaches it may ask.

    **Examples**

    ```
    podium image-service --host 0.0.0.0
    podium image-service --images cri --cri-endpoint unix:///run/crio/crio.sock
    curl 'http://127.0.0.1:8088/?reference=nginx:1.25'
    ```

    **Exit code** 0 after SIGTERM or SIGINT, 2 if the port is taken.
    """
    import logging

    from podium.commands.processes.image_listing import CriImages, DockerImages, FileImages
    from podium.commands.processes.run_image_service import serve_images

    start_logging(logging.WARNING)
    if not 0 <= port <= 65535:
        raise InputError(f"{port} is no port: they go from 0 to 65535")
    listing: ImageListing
    if images == "file":
        if file is None:
            raise InputError("--images file needs a file", remedy="name it: --file images.json")
        listing = FileImages(file)
    else:
        listing = CriImages(cri_endpoint) if images == "cri" else DockerImages(docker_socket)
    serve_images(listing, host, port, lambda url: print_line(f"podium: images are listed at {url}"))
    print_line("podium: stopped", error=True)
    return OK
