"""OpenAPI version 2 (Swagger), made of version 3, and as protobuf for clients before v1.27.

Paths of version 3 of OpenAPI in the form of version 2 (Swagger).

OpenAPI version 2 as protobuf, for kubectl before v1.27. These clients ask for
`application/com.github.proto-openapi.spec.v2@v1.0+protobuf` and nothing else. The message is
gnostic's openapi.v2.Document; the numbers below are those of its fields. Extensions are written
as JSON, which their reader takes for the YAML that it is.
"""

from collections.abc import Iterable
from typing import Final

from podium.golang.json_values import JsonObject, JsonValue, encode

_METHODS: Final = ("get", "put", "post", "delete", "patch")


def as_swagger(paths: dict[str, JsonObject]) -> JsonObject:
    """The same paths; bodies become parameters, formats are beside them."""
    return {place: _item(item) for place, item in paths.items()}


def _item(item: JsonObject) -> JsonObject:
    out: JsonObject = {"parameters": [_parameter(each) for each in item["parameters"]]}
    for method in _METHODS:
        if method in item:
            out[method] = _operation(item[method])
    return out


def _operation(operation: JsonObject) -> JsonObject:
    parameters = [_parameter(each) for each in operation["parameters"]]
    out = {key: value for key, value in operation.items() if key != "requestBody"}
    body = operation.get("requestBody")
    if body is not None:
        formats = list(body["content"])
        schema = body["content"][formats[0]]["schema"]
        parameters.insert(0, {"name": "body", "in": "body", "required": True, "schema": schema})
        out["consumes"] = formats
    out["parameters"] = parameters
    out["responses"] = {code: _response(each) for code, each in operation["responses"].items()}
    contents = [list(each.get("content", ())) for each in operation["responses"].values()]
    out["produces"] = contents[0]
    return out


def _parameter(parameter: JsonObject) -> JsonObject:
    out = {key: value for key, value in parameter.items() if key != "schema"}
    return {**out, **parameter["schema"]}


def _response(response: JsonObject) -> JsonObject:
    content = response.get("content")
    out: JsonObject = {"description": response["description"]}
    if content:
        out["schema"] = next(iter(content.values()))["schema"]
    return out


_OPERATIONS: Final = {"get": 2, "put": 3, "post": 4, "delete": 5, "patch": 8}
_SCHEMA_COUNTS: Final = {
    "maxLength": 11, "minLength": 12, "maxItems": 14, "minItems": 15,
    "maxProperties": 17, "minProperties": 18,
}  # fmt: skip
_SCHEMA_FLAGS: Final = {"exclusiveMaximum": 8, "exclusiveMinimum": 10, "uniqueItems": 16}
_QUERY_PARAMETER: Final = 3
_PATH_PARAMETER: Final = 4


def swagger_bytes(document: JsonObject) -> bytes:
    paths = b"".join(
        _part(2, _encode_named(place, _path_item(item)))
        for place, item in document["paths"].items()
    )
    definitions = b"".join(
        _part(1, _encode_named(name, _schema(model)))
        for name, model in document["definitions"].items()
    )
    info = _text(1, document["info"]["title"]) + _text(2, document["info"]["version"])
    return _text(1, document["swagger"]) + _part(2, info) + _part(8, paths) + _part(9, definitions)


def _number(value: int) -> bytes:
    """A variable-length number: seven bits a byte, the lowest first."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _part(field: int, content: bytes) -> bytes:
    """A field whose content has a length: a text, or a message."""
    return _number(field << 3 | 2) + _number(len(content)) + content


def _text(field: int, value: str | None) -> bytes:
    return _part(field, value.encode()) if value else b""


def _flag(field: int, value: JsonValue) -> bytes:
    return _number(field << 3) + b"\x01" if value else b""


def _texts(field: int, values: Iterable[str]) -> bytes:
    return b"".join(_part(field, value.encode()) for value in values)


def _encode_named(name: str, content: bytes) -> bytes:
    return _text(1, name) + _part(2, content)


def _any(value: JsonValue) -> bytes:
    return _text(2, encode(value).decode())


def _extensions(field: int, holder: JsonObject) -> bytes:
    return b"".join(
        _part(field, _encode_named(name, _any(value)))
        for name, value in holder.items()
        if name.startswith("x-")
    )


def _schema(schema: JsonObject) -> bytes:
    out = _text(1, schema.get("$ref")) + _text(2, schema.get("format"))
    out += _text(4, schema.get("description"))
    if "default" in schema:
        out += _part(5, _any(schema["default"]))
    for name, field in _SCHEMA_FLAGS.items():
        out += _flag(field, schema.get(name))
    for name, field in _SCHEMA_COUNTS.items():
        if isinstance(schema.get(name), int) and schema[name] >= 0:
            out += _number(field << 3) + _number(schema[name])
    out += _text(13, schema.get("pattern"))
    out += _texts(19, schema.get("required") or ())
    out += b"".join(_part(20, _any(value)) for value in schema.get("enum") or ())
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        out += _part(21, _part(1, _schema(more)))
    elif more:
        out += _part(21, _flag(2, more))
    if isinstance(schema.get("type"), str):
        out += _part(22, _text(1, schema["type"]))
    if isinstance(schema.get("items"), dict):
        out += _part(23, _part(1, _schema(schema["items"])))
    properties = schema.get("properties")
    if properties:
        inner = b"".join(
            _part(1, _encode_named(name, _schema(each))) for name, each in properties.items()
        )
        out += _part(25, inner)
    return out + _extensions(31, schema)


def _path_item(item: JsonObject) -> bytes:
    out = b"".join(
        _part(field, _operation_bytes(item[method]))
        for method, field in _OPERATIONS.items()
        if method in item
    )
    return out + b"".join(_part(9, _parameter_bytes(each)) for each in item["parameters"])


def _operation_bytes(operation: JsonObject) -> bytes:
    out = _texts(1, operation["tags"]) + _text(3, operation["description"])
    out += _text(5, operation["operationId"])
    out += _texts(6, operation.get("produces") or ())
    out += _texts(7, operation.get("consumes") or ())
    out += b"".join(_part(8, _parameter_bytes(each)) for each in operation["parameters"])
    responses = b"".join(
        _part(1, _encode_named(code, _part(1, _response_bytes(each))))
        for code, each in operation["responses"].items()
    )
    return out + _part(9, responses) + _extensions(13, operation)


def _response_bytes(response: JsonObject) -> bytes:
    out = _text(1, response["description"])
    if "schema" in response:
        out += _part(2, _part(1, _schema(response["schema"])))
    return out


def _parameter_bytes(parameter: JsonObject) -> bytes:
    if parameter["in"] == "body":
        body = _text(2, parameter["name"]) + _text(3, "body") + _flag(4, parameter["required"])
        return _part(1, _part(1, body + _part(5, _schema(parameter["schema"]))))
    inner = _flag(1, parameter.get("required")) + _text(2, parameter["in"])
    inner += _text(3, parameter.get("description")) + _text(4, parameter["name"])
    if parameter["in"] == "query":
        inner += _text(6, parameter["type"]) + _flag(20, parameter.get("uniqueItems"))
        return _part(1, _part(2, _part(_QUERY_PARAMETER, inner)))
    inner += _text(5, parameter["type"]) + _flag(19, parameter.get("uniqueItems"))
    return _part(1, _part(2, _part(_PATH_PARAMETER, inner)))
