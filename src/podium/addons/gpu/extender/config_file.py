"""The configuration file of gpu-admission's first generation, JSON."""

from typing import Annotated

import msgspec

from podium.addons.gpu.cards.quota import MODEL_LABEL, POOL_LABEL, QUOTA_CONFIG_MAP
from podium.golang.errors import InputError


class GPUExtenderFile(msgspec.Struct, rename="pascal", forbid_unknown_fields=True, frozen=True):
    """`SkipBindTime` is read and not needed: nothing waits for the last binding to be seen."""

    quota_config_map_name: str = QUOTA_CONFIG_MAP[1]
    quota_config_map_namespace: str = "kube-system"
    gpu_model_label: str = msgspec.field(default=MODEL_LABEL, name="GPUModelLabel")
    gpu_pool_label: str = msgspec.field(default=POOL_LABEL, name="GPUPoolLabel")
    skip_bind_time: Annotated[int, msgspec.Meta(ge=0)] = 0


def read_config_file(content: bytes, source: str) -> GPUExtenderFile:
    """Raises InputError."""
    try:
        return msgspec.json.decode(content, type=GPUExtenderFile)
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        known = ", ".join(field.encode_name for field in msgspec.structs.fields(GPUExtenderFile))
        raise InputError(str(problem), source=source, remedy=f"JSON with {known}") from None
