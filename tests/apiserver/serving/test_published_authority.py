"""`kube-system/extension-apiserver-authentication`: what servers beside this one have to know."""

import asyncio
import logging
from random import Random

import pytest
from support.apiserver.api_calls import TOKEN, Api
from support.live.management_pages import management

from podium.apiserver.http.app import Application
from podium.client import AsgiTransport, KubeClient

MAPS = "/api/v1/namespaces/kube-system/configmaps"
PATH = f"{MAPS}/extension-apiserver-authentication"
AUTHORITY = b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"


def test_the_authority_and_the_headers_of_a_front_proxy_are_published() -> None:
    assert Api(authority=AUTHORITY).get(PATH)["data"] == {
        "client-ca-file": AUTHORITY.decode(),
        "requestheader-client-ca-file": AUTHORITY.decode(),
        "requestheader-allowed-names": '["front-proxy-client"]',
        "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
        "requestheader-group-headers": '["X-Remote-Group"]',
        "requestheader-uid-headers": '["X-Remote-Uid"]',
        "requestheader-username-headers": '["X-Remote-User"]',
    }


def test_a_server_without_tls_publishes_no_authority() -> None:
    assert "data" not in Api().get(PATH)


def test_it_is_brought_up_to_date_at_every_start_and_else_left_alone() -> None:
    api = Api(authority=AUTHORITY)
    first = api.get(PATH)
    revision = api.store.revision
    assert Api(api.store, authority=AUTHORITY).get(PATH) == first
    assert api.store.revision == revision
    newer = AUTHORITY.replace(b"MIIB", b"MIIC")
    changed = Api(api.store, authority=newer).get(PATH)
    assert changed["data"]["client-ca-file"] == newer.decode()
    assert changed["metadata"]["uid"] == first["metadata"]["uid"]


def test_its_role_may_read_it_and_nothing_else() -> None:
    roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles"
    role = Api().get(f"{roles}/extension-apiserver-authentication-reader")
    (rule,) = role["rules"]
    assert rule["resourceNames"] == ["extension-apiserver-authentication"]
    assert rule["verbs"] == ["get", "list", "watch"]


@pytest.mark.parametrize("authority", [b"", AUTHORITY])
def test_a_scheduler_finds_what_it_looks_up(
    authority: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    server = Application(Api(authority=authority).service, Random(1))
    client = KubeClient(AsgiTransport(server, {"Authorization": f"Bearer {TOKEN}"}))
    endpoints = management()
    with caplog.at_level(logging.WARNING):
        assert asyncio.run(endpoints.trust.look_up(client)) == ""
    assert endpoints.trust.client_authority == authority
    assert caplog.messages == []
