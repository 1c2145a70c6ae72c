"""`/flagz` and `/statusz`: text for people, structure for those who ask for it by name."""

import asyncio
import platform
import re
from typing import Any

import pytest
import yaml
from support.live.management_pages import OPEN, Page, management

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.releases.release import Version
from podium.live.serving import Standing

FLAGZ = "as=Flagz;v=v1beta1;g=config.k8s.io"
STATUSZ = "as=Statusz;v=v1beta1;g=config.k8s.io"
WARNING = (
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility "
    "guarantees and is for debugging purposes only.\n"
)


def get(path: str, accept: str = "", **fields: Any) -> Page:
    headers: dict[str, Any] = {"accept": accept} if accept else {}
    return asyncio.run(management(OPEN, **fields).get(path, **headers))


@pytest.mark.parametrize("accept", ["", "*/*", "text/plain", "text/*", "image/png, */*;q=0.1"])
def test_flags_as_text(accept: str) -> None:
    page = get("/flagz", accept)
    assert page.headers["content-type"] == "text/plain; charset=utf-8"
    assert page.text.startswith(f"\nkube-scheduler flagz\n{WARNING}")
    rest = page.text.removeprefix(f"\nkube-scheduler flagz\n{WARNING}")
    assert re.fullmatch(r"secure-port(?P<gap>:|: |=| )10259\nv(?P=gap)0\n", rest)


def test_separators_change() -> None:
    endpoints = management(OPEN)
    texts = {asyncio.run(endpoints.get("/flagz")).text for _ in range(40)}
    assert len(texts) == 4


def test_flags_as_json() -> None:
    page = get("/flagz", f"application/json;{FLAGZ}")
    assert page.headers["content-type"] == "application/json"
    assert "warning" not in page.headers
    assert page.json == {
        "kind": "Flagz",
        "apiVersion": "config.k8s.io/v1beta1",
        "metadata": {"name": "kube-scheduler"},
        "flags": {"secure-port": "10259", "v": "0"},
    }


def test_flags_as_yaml() -> None:
    page = get("/flagz", f"application/yaml;{FLAGZ}")
    assert page.headers["content-type"] == "application/yaml"
    assert yaml.safe_load(page.text)["flags"] == {"secure-port": "10259", "v": "0"}


def test_an_old_version_comes_with_a_warning() -> None:
    page = get("/flagz", f"application/json;{FLAGZ.replace('v1beta1', 'v1alpha1')}")
    assert page.json["apiVersion"] == "config.k8s.io/v1alpha1"
    assert page.headers["warning"] == (
        '299 - "This version of the flagz endpoint is deprecated. Please use a newer version."'
    )


def test_the_better_liked_form_wins() -> None:
    accept = f"text/plain;q=0.5, application/json;{FLAGZ};q=0.8"
    assert get("/flagz", accept).headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "accept",
    [
        "application/json",
        f"application/json;{STATUSZ}",
        f"application/json;{FLAGZ.replace('v1beta1', 'v2')}",
        f"application/json;{FLAGZ.replace('config.k8s.io', 'apps')}",
        f"text/plain;{FLAGZ}",
        "text/plain;q=0",
        "application/vnd.kubernetes.protobuf",
        "nonsense",
    ],
)
def test_other_forms_are_not_acceptable(accept: str) -> None:
    page = get("/flagz", accept)
    assert page.status == 406
    assert page.json["reason"] == "NotAcceptable"
    assert page.json["message"] == (
        "only the following media types are accepted: application/json, application/yaml, "
        "text/plain"
    )


def test_flags_as_cbor_where_its_gate_is_on() -> None:
    page = get("/flagz", f"application/cbor;{FLAGZ}", gates={"CBORServingAndStorage": True})
    assert page.headers["content-type"] == "application/cbor"
    assert page.body == (
        bytes.fromhex("d9d9f7a4")
        + b"\x44kind\x45Flagz"
        + b"\x45flags\xa2\x41v\x410\x4bsecure-port\x4510259"
        + b"\x48metadata\xa1\x44name\x4ekube-scheduler"
        + b"\x4aapiVersion\x55config.k8s.io/v1beta1"
    )
    status = get("/statusz", f"application/cbor;{STATUSZ}", gates={"CBORServingAndStorage": True})
    assert b"\x4duptimeSeconds\x19\x0e\x8d" in status.body
    assert b"\x45paths\x86\x48/configz" in status.body


def test_without_its_gate_cbor_is_not_acceptable() -> None:
    assert get("/flagz", f"application/cbor;{FLAGZ}").status == 406
    page = get("/flagz", "image/png", gates={"CBORServingAndStorage": True})
    assert page.json["message"].endswith("application/yaml, text/plain, application/cbor")


def test_status_as_text() -> None:
    page = get("/statusz")
    assert page.text.startswith(f"\nkube-scheduler statusz\n{WARNING}\nStarted")
    rest = page.text.split("\nStarted")[1]
    assert re.fullmatch(
        r"(:|: |=| ) Tue Nov 14 22:13:20 UTC 2023\n"
        r"Up\1 1 hr 02 min 05 sec\n"
        r"Go version\1 CPython 3\n"
        r"Binary version\1 1.36.4\n"
        r"Emulation version\1 1.36\n"
        r"Paths\1 /configz /flagz /healthz /livez /metrics /readyz\n",
        rest,
    )


def test_status_as_json() -> None:
    page = get("/statusz", f"application/json;{STATUSZ}")
    assert page.json == {
        "kind": "Statusz",
        "apiVersion": "config.k8s.io/v1beta1",
        "metadata": {"name": "kube-scheduler"},
        "startTime": "2023-11-14T22:13:20Z",
        "uptimeSeconds": 3725,
        "goVersion": "CPython 3",
        "binaryVersion": "1.36.4",
        "emulationVersion": "1.36",
        "paths": ["/configz", "/flagz", "/healthz", "/livez", "/metrics", "/readyz"],
    }


@pytest.mark.parametrize(
    ("gate", "path"), [("ComponentFlagz", "/flagz"), ("ComponentStatusz", "/statusz")]
)
def test_a_gate_takes_a_page_away(gate: str, path: str) -> None:
    assert get(path, gates={gate: False}).status == 404
    assert get("/healthz", gates={gate: False}).status == 200


def test_a_scheduler_stands_for_the_release_it_decides_like() -> None:
    standing = Standing.of(1.0, FeatureGates(emulated=Version(1, 35)))
    assert (standing.binary_version, standing.emulation_version) == ("1.36.4", "1.35")
    assert standing.runtime.split()[1] == platform.python_version()
