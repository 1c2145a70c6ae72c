"""Patches of every kind, on one object."""

from support.apiserver.api_calls import (
    APPLY,
    CONFIG_MAPS,
    JSON_PATCH,
    MERGE,
    PODS,
    STRATEGIC,
    Api,
    config_map,
)

CM = f"{CONFIG_MAPS}/c"


def test_a_merge_patch_sets_and_removes() -> None:
    api = Api()
    api.create(CONFIG_MAPS, config_map("c", a="1", b="2"))

    assert api.patch(CM, {"data": {"a": None, "c": "3"}})["data"] == {"b": "2", "c": "3"}


def test_a_json_patch_is_a_list_of_operations() -> None:
    api = Api()
    api.create(CONFIG_MAPS, config_map("c", a="1"))

    patched = api.patch(CM, [{"op": "replace", "path": "/data/a", "value": "2"}], JSON_PATCH)

    assert patched["data"] == {"a": "2"}


def test_a_strategic_merge_patch_merges_lists_by_their_keys() -> None:
    api = Api()
    api.create_pod("p")

    change = {"spec": {"containers": [{"name": "main", "image": "nginx:2"}]}}
    patched = api.patch(f"{PODS}/p", change, STRATEGIC)

    containers = patched["spec"]["containers"]
    assert [(each["name"], each["image"]) for each in containers] == [("main", "nginx:2")]
    assert containers[0]["imagePullPolicy"] == "IfNotPresent"


def test_applying_creates_and_then_takes_fields_away_again() -> None:
    api = Api()
    path = f"{CM}?fieldManager=me"

    first = api.ask("PATCH", path, config_map("c", a="1", b="2"), content_type=APPLY)
    second = api.ask("PATCH", path, config_map("c", a="1"), content_type=APPLY)

    assert (first.status, second.status) == (201, 200)
    assert second.body["data"] == {"a": "1"}


def test_applying_yaml_works_as_well() -> None:
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: x}\n"

    answer = Api().ask("PATCH", f"{CM}?fieldManager=me", text, content_type=APPLY)

    assert answer.status == 201
    assert answer.body["data"] == {"a": "x"}


def test_applying_again_what_is_there_keeps_the_version() -> None:
    api = Api()
    path = f"{CM}?fieldManager=me"
    first = api.ask("PATCH", path, config_map("c", a="1"), content_type=APPLY).body
    api.clock.advance(100)

    second = api.ask("PATCH", path, config_map("c", a="1"), content_type=APPLY).body

    assert first == second


def test_two_managers_conflict_unless_one_is_forceful() -> None:
    api = Api()
    api.ask("PATCH", f"{CM}?fieldManager=one", config_map("c", a="1"), content_type=APPLY)

    other = config_map("c", a="2")
    conflict = api.ask("PATCH", f"{CM}?fieldManager=two", other, content_type=APPLY)
    forced = api.ask("PATCH", f"{CM}?fieldManager=two&force=true", other, content_type=APPLY)

    assert conflict.status == 409
    assert 'conflict with "one": .data.a' in conflict.message
    assert forced.body["data"] == {"a": "2"}


def test_apply_needs_a_manager_and_force_needs_apply() -> None:
    api = Api()

    nobody = api.ask("PATCH", CM, config_map("c"), content_type=APPLY)
    forceful = api.ask("PATCH", f"{CM}?force=true", {}, content_type=MERGE)

    assert "fieldManager: Required value: is required for apply patch" in nobody.message
    assert "force: Forbidden: may not be specified for non-apply patch" in forceful.message


def test_what_is_no_patch_is_refused() -> None:
    api = Api()
    api.create(CONFIG_MAPS, config_map("c"))

    broken = api.ask("PATCH", CM, b"{bad json", content_type=MERGE)
    scalar = api.ask(
        "PATCH", CM, [{"op": "replace", "path": "", "value": 1}], content_type=JSON_PATCH
    )
    unknown = api.ask("PATCH", CM, {}, content_type="application/json")
    broken_yaml = api.ask("PATCH", f"{CM}?fieldManager=m", b"a: [", content_type=APPLY)
    list_yaml = api.ask("PATCH", f"{CM}?fieldManager=m", b"- a", content_type=APPLY)

    assert broken.status == 400
    assert broken.message.startswith("error decoding patch: invalid character 'b'")
    assert scalar.status in (400, 422)
    assert (unknown.status, unknown.message) == (415, "415: Unsupported Media Type")
    assert broken_yaml.status == 400
    assert list_yaml.status == 400


def test_unknown_fields_in_a_patch_are_warned_of_or_refused() -> None:
    api = Api()
    api.create_pod("p")
    change = {"spec": {"foo": 1}}

    warned = api.ask("PATCH", f"{PODS}/p", change, content_type=MERGE)
    refused = api.ask("PATCH", f"{PODS}/p?fieldValidation=Strict", change, content_type=MERGE)

    assert warned.header("warning") == ['299 - "unknown field \\"spec.foo\\""']
    assert refused.status == 422


def test_a_dry_run_of_a_patch_changes_nothing() -> None:
    api = Api()
    api.create(CONFIG_MAPS, config_map("c", a="1"))

    shown = api.patch(f"{CM}?dryRun=All", {"data": {"a": "2"}})

    assert shown["data"] == {"a": "2"}
    assert api.get(CM)["data"] == {"a": "1"}


def test_a_refused_request_still_warns() -> None:
    api = Api()
    taints = [{"key": "t", "effect": "NoSchedule"}]
    api.create("/api/v1/nodes", {"metadata": {"name": "n"}, "spec": {"taints": taints}})
    change = {"spec": {"taints": [{"key": "t", "$patch": "delete"}]}}

    answer = api.ask("PATCH", "/api/v1/nodes/n", change, content_type=STRATEGIC)

    assert answer.status == 422
    assert answer.header("warning") == ['299 - "unknown field \\"spec.taints[0].$patch\\""']


def test_keys_that_stand_twice_in_yaml_are_told_and_the_last_one_counts() -> None:
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: one\n  a: two\n"
    told = '  line 6: key "a" already set in map'
    where = f"{CM}?fieldManager=me"
    api = Api()
    strict = api.ask("PATCH", f"{where}&fieldValidation=Strict", text, content_type=APPLY)
    assert strict.status == 400
    start = "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n"
    assert strict.message == start + told

    warned = api.ask("PATCH", f"{where}&fieldValidation=Warn", text, content_type=APPLY)
    assert warned.status == 201
    assert warned.body["data"] == {"a": "two"}
    assert warned.header("warning") == ['299 - "line 6: key \\"a\\" already set in map"']
