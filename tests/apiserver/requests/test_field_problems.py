"""Unknown and repeated fields are told in the order in which upstream's readers meet them."""

from support.apiserver.api_calls import CONFIG_MAPS, MERGE, Api

STRICT = f"{CONFIG_MAPS}?fieldValidation=Strict"


def problems(api: Api, body: bytes, content_type: str = "application/json") -> str:
    answer = api.ask("POST", STRICT, body, content_type=content_type)
    assert answer.status == 400
    return answer.message.partition("strict decoding error: ")[2]


def test_unknown_and_repeated_fields_are_told_as_they_stand_in_the_text() -> None:
    body = (
        b'{"kind":"ConfigMap","apiVersion":"v1","b":1,'
        b'"metadata":{"name":"x","name":"x","z":1,"z":2},'
        b'"a":1,"data":{"q":"1","q":"2"},"data":{},"b":2,"c":{"d":1,"d":2}}'
    )
    assert problems(Api(), body) == (
        'unknown field "b", duplicate field "metadata.name", unknown field "metadata.z",'
        ' unknown field "a", duplicate field "data.q", duplicate field "data",'
        ' unknown field "c"'
    )


def test_names_of_fields_are_quoted_as_in_go() -> None:
    body = b'{"metadata":{"name":"x","labels":{"x\\"":"a","x\\"":"b","\\u0001":"","\\u0001":""}}}'
    assert problems(Api(), body) == (
        'duplicate field "metadata.labels.x\\"", duplicate field "metadata.labels.\\x01"'
    )


def test_fields_of_yaml_are_told_sorted() -> None:
    body = b'{"b":1,"metadata":{"name":"x","z":1},"a":1}'
    assert problems(Api(), body, "application/yaml") == (
        'unknown field "a", unknown field "b", unknown field "metadata.z"'
    )


def test_fields_of_a_patched_object_are_told_sorted() -> None:
    answer = Api().ask(
        "PATCH",
        "/api/v1/namespaces/default?fieldValidation=Strict",
        b'{"b":1,"metadata":{"labels":{"a":"b","a":"c"},"q":1},"a":1}',
        content_type=MERGE,
    )
    assert answer.status == 422
    assert answer.message.partition("strict decoding error: ")[2] == (
        'duplicate field "metadata.labels.a", unknown field "a", unknown field "b",'
        ' unknown field "metadata.q"'
    )
