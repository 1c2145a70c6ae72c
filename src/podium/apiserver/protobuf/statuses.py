"""Status answers as protobuf: the one kind that the server writes and no client stores."""

from podium.apiserver.protobuf.envelope import enveloped
from podium.apiserver.protobuf.writing import write_message
from podium.golang.json_values import JsonObject
from podium.kubernetes.schema.catalogue import built_in_struct


def encode_status(status: JsonObject) -> bytes:
    return enveloped("v1", "Status", write_message(built_in_struct("meta", "Status"), status))
