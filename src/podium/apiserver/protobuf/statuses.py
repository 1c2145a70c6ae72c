"""Status answers as protobuf: the one kind that the server writes and no client stores."""

from functools import cache

from podium.golang.json_values import JsonObject
from podium.apiserver.protobuf.envelope import enveloped
from podium.apiserver.protobuf.writing import write_message
from podium.kubernetes.schema.catalogue import notation
from podium.kubernetes.schema.shapes import Field, Form, ListOf, Scalar, Shape, Struct


def encode_status(status: JsonObject) -> bytes:
    return enveloped("v1", "Status", write_message(_status(), status))


@cache
def _status() -> Struct:
    text, number = Scalar(Form.STRING, "string"), Scalar(Form.INT32, "int32")
    cause = _struct("StatusCause", reason=text, message=text, field=text)
    details = _struct(
        "StatusDetails",
        name=text,
        group=text,
        kind=text,
        causes=ListOf(cause),
        retryAfterSeconds=number,
        uid=text,
    )
    return _struct(
        "Status",
        metadata=notation().struct("meta", "ListMeta"),
        status=text,
        message=text,
        reason=text,
        details=details,
        code=number,
    )


def _struct(name: str, /, **shapes: Shape) -> Struct:
    fields = {field: Field(field, shape) for field, shape in shapes.items()}
    return Struct("meta", name, fields)
