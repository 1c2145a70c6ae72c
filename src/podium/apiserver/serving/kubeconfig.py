"""The kubeconfig by which kubectl and client libraries reach the server.

It holds the token, so only its owner may read it. Clients send a token over TLS alone; a plain
server's kubeconfig has none.
"""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from podium.golang.json_values import JsonObject
from podium.golang.yaml_writer import as_yaml
from podium.net.files.private_files import create_private_directory, write_private_file

_NAME = "podium"
_NO_EXTENSIONS: Final[Mapping[str, JsonObject]] = {}


def kubeconfig(
    server: str,
    token: str,
    authority: bytes | None,
    extensions: Mapping[str, JsonObject] = _NO_EXTENSIONS,
) -> JsonObject:
    """`extensions` are what other programs look for in the entry of the cluster, by name."""
    cluster: JsonObject = {"server": server}
    if extensions:
        cluster["extensions"] = [
            {"name": name, "extension": extension} for name, extension in extensions.items()
        ]
    user: JsonObject = {}
    if authority is not None:
        cluster["certificate-authority-data"] = base64.b64encode(authority).decode()
        user["token"] = token
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": _NAME, "cluster": cluster}],
        "users": [{"name": _NAME, "user": user}],
        "contexts": [{"name": _NAME, "context": {"cluster": _NAME, "user": _NAME}}],
        "current-context": _NAME,
    }


def write_kubeconfig(
    path: Path,
    server: str,
    token: str,
    authority: bytes | None,
    extensions: Mapping[str, JsonObject] = _NO_EXTENSIONS,
) -> None:
    """Raises InputError."""
    if not path.parent.exists():
        create_private_directory(path.parent)
    write_private_file(path, as_yaml(kubeconfig(server, token, authority, extensions)))
