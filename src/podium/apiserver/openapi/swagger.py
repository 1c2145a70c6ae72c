"""Paths of version 3 of OpenAPI in the form of version 2 (Swagger)."""

from typing import Final

from podium.golang.json_values import JsonObject

_METHODS: Final = ("get", "put", "post", "delete", "patch")


def as_swagger(paths: dict[str, JsonObject]) -> JsonObject:
    """The same paths; bodies become parameters, formats stand beside them."""
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
