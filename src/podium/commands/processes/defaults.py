"""What processes do unless they are told otherwise, as far as command lines show it.

Help names these values, and loads no process for them.
"""

from typing import Final

CONTROLLER_WORKERS: Final = 1
IMAGE_SERVICE_PORT: Final = 8088
DOCKER_SOCKET: Final = "/var/run/docker.sock"
CRI_ENDPOINT: Final = "unix:///run/containerd/containerd.sock"
