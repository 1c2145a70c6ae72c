"""What an API server answers about a kind that was added to it: `policy/v1 MaintenanceWindow`.

Run in a source tree that has the kind; prints the answers as one JSON object.
"""

import json

from support.apiserver.api_calls import APPLY, STRATEGIC, Api, Json

GROUP = "/apis/policy/v1"
WINDOWS = f"{GROUP}/namespaces/default/maintenancewindows"
PROTOBUF = "application/vnd.kubernetes.protobuf"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def window(name: str, **spec: object) -> Json:
    kind = {"apiVersion": "policy/v1", "kind": "MaintenanceWindow"}
    return {**kind, "metadata": {"name": name}, "spec": spec}


def answers() -> Json:
    api = Api()
    watch = api.watch(f"{WINDOWS}?watch=true&fieldSelector=spec.nodeName%3Dn1")
    created = api.ask("POST", WINDOWS, window("a", nodeName="n1", start="22:00"))
    api.create(WINDOWS, window("b", nodeName="n2", start="23:00"))
    one = f"{WINDOWS}/a"
    found: Json = {
        "resource": next(
            each for each in api.get(GROUP)["resources"] if each["name"] == "maintenancewindows"
        ),
        "created": created.body,
        "warnings": created.header("warning"),
        "unknown field": api.ask(
            "POST", f"{WINDOWS}?fieldValidation=Strict", window("c", x=1)
        ).message,
        "refused": api.ask("POST", WINDOWS, window("c", minutes=-1)).message,
        "selected": api.get(f"{WINDOWS}?fieldSelector=spec.nodeName%3Dn2"),
        "not selectable": api.ask("GET", f"{WINDOWS}?fieldSelector=spec.start%3Dx").message,
        "patched": api.patch(one, {"spec": {"minutes": 5}}, STRATEGIC),
        "status": api.patch(f"{one}/status", {"status": {"phase": "Open"}, "spec": {"minutes": 7}}),
        "refused update": api.ask("PUT", one, window("a", start="22:00", minutes=-1)).message,
        "applied": api.ask(
            "PATCH",
            f"{one}?fieldManager=tests&force=true",
            window("a", minutes=6) | {"status": {"phase": "Shut"}},
            content_type=APPLY,
        ).body,
        "table": api.get(WINDOWS, accept=TABLE),
        "explained": api.get("/openapi/v3/apis/policy/v1")["components"]["schemas"][
            "io.k8s.api.policy.v1.MaintenanceWindow"
        ]["description"],
    }
    binary = api.ask("GET", one, accept=PROTOBUF).text
    answer = api.ask("PUT", one, binary, content_type=PROTOBUF)
    found["protobuf"] = [answer.status, answer.body["spec"]]
    api.delete(one)
    return {**found, "watched": watch.seen()}


if __name__ == "__main__":
    print(json.dumps(answers()))
