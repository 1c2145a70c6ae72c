"""Who somebody is, what he may see, and for how long an answer is remembered."""

import asyncio
import hashlib
from random import Random
from typing import Any

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from support.apiserver.api_calls import TOKEN, Api
from support.live.management_pages import OPEN, FakeApi, management, reviewed_by

from podium.apiserver.http.app import Application as ApiServer
from podium.client import AsgiTransport, KubeClient
from podium.live.serving import Reviewers
from podium.live.serving.authentication import ACCESS_REVIEWS, TOKEN_REVIEWS

NOBODY_MAY = {"status": {"allowed": False}}
EVERYBODY_MAY = {"status": {"allowed": True}}


def known(*tokens: str, **user: Any) -> Any:
    """An answer to token reviews: these tokens are good."""

    def answer(review: Any) -> Any:
        if review["spec"]["token"] not in tokens:
            return {"status": {"authenticated": False}}
        return {"status": {"authenticated": True, "user": {"username": "prometheus", **user}}}

    return answer


def certificate(authority: trustme.CA, name: str, organization: str = "") -> tuple[str, ...]:
    issued = authority.issue_cert(common_name=name, organization_name=organization or None)
    return (issued.cert_chain_pems[0].bytes().decode(),)


def test_a_stranger_sees_health_and_no_more() -> None:
    endpoints = management()
    assert asyncio.run(endpoints.get("/healthz")).status == 200
    page = asyncio.run(endpoints.get("/metrics"))
    assert page.status == 403
    assert page.headers["content-type"] == "application/json"
    assert page.headers["cache-control"] == "no-cache, private"
    assert page.json == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'forbidden: User "system:anonymous" cannot get path "/metrics"',
        "reason": "Forbidden",
        "details": {},
        "code": 403,
    }


def test_people_get_json_that_they_can_read() -> None:
    page = asyncio.run(management().get("/metrics", user_agent="curl/8.0"))
    assert page.text.startswith('{\n  "kind": "Status"')


def test_the_verb_is_the_method() -> None:
    page = asyncio.run(management().ask("DELETE", "/metrics"))
    assert "cannot delete path" in page.json["message"]


def test_names_that_look_like_html_are_made_harmless() -> None:
    page = asyncio.run(management().get("/<b>&"))
    assert page.json["message"].endswith('path "/&lt;b&gt;&amp;"')


@pytest.mark.parametrize(
    ("listed", "path", "seen"),
    [
        ("/metrics", "/metrics", True),
        ("metrics", "/metrics", True),
        ("/metrics", "/metrics/slis", False),
        ("/metrics*", "/metrics/slis", True),
        ("/*", "/configz", True),
        ("/", "/configz", False),
    ],
)
def test_listed_paths_are_open_to_all(listed: str, path: str, seen: bool) -> None:
    endpoints = management(f"--authorization-always-allow-paths={listed}")
    assert (asyncio.run(endpoints.get(path)).status == 200) is seen


# --- tokens -----------------------------------------------------------------------------------


def test_a_token_is_looked_up_and_its_user_may_look() -> None:
    user = {"uid": "u1", "groups": ["monitors"], "extra": {"scope": ["a", "b"]}}
    api = FakeApi({TOKEN_REVIEWS: known("good", **user), ACCESS_REVIEWS: EVERYBODY_MAY})
    endpoints = management(reviewers=reviewed_by(api))
    page = asyncio.run(endpoints.get("/metrics", authorization="Bearer good"))
    assert page.status == 200
    (_, token), (_, access) = api.asked
    assert token["kind"] == "TokenReview"
    assert token["spec"] == {"token": "good"}
    assert access["kind"] == "SubjectAccessReview"
    assert access["spec"] == {
        "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
        "user": "prometheus",
        "groups": ["monitors", "system:authenticated"],
        "uid": "u1",
        "extra": {"scope": ["a", "b"]},
    }


def test_a_token_that_nobody_knows_is_refused_even_where_all_is_open() -> None:
    api = FakeApi({TOKEN_REVIEWS: known()})
    endpoints = management(OPEN, reviewers=reviewed_by(api))
    page = asyncio.run(endpoints.get("/healthz", authorization="Bearer bad"))
    assert page.status == 401
    assert page.json == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "Unauthorized",
        "reason": "Unauthorized",
        "code": 401,
    }


def test_without_a_reviewer_tokens_are_not_looked_at() -> None:
    page = asyncio.run(management().get("/healthz", authorization="Bearer bad"))
    assert page.status == 200


@pytest.mark.parametrize("header", ["", "Basic abc", "Bearer", "Bearer  x", "token"])
def test_what_is_no_token_makes_an_anonymous_user(header: str) -> None:
    api = FakeApi({TOKEN_REVIEWS: known()})
    endpoints = management(reviewers=reviewed_by(api))
    assert asyncio.run(endpoints.get("/healthz", authorization=header)).status == 200
    assert not api.asked


def test_a_token_is_asked_about_again_after_ten_seconds() -> None:
    api = FakeApi({TOKEN_REVIEWS: known("good")})
    endpoints = management(OPEN, reviewers=reviewed_by(api))
    asked: list[int] = []
    for wait_s in (0, 9.9, 0.2):
        endpoints.clock.advance(wait_s)
        asyncio.run(endpoints.get("/configz", authorization="Bearer good"))
        asked.append(len(api.asked))
    assert asked == [1, 1, 2]


def test_how_long_a_token_is_good_for_can_be_set() -> None:
    api = FakeApi({TOKEN_REVIEWS: known("good")})
    flag = "--authentication-token-webhook-cache-ttl=0s"
    endpoints = management(OPEN, flag, reviewers=reviewed_by(api))
    for _ in range(2):
        asyncio.run(endpoints.get("/configz", authorization="Bearer good"))
    assert len(api.asked) == 2


def test_a_token_that_cannot_be_looked_up_is_refused_and_asked_about_again() -> None:
    api = FakeApi()
    endpoints = management(OPEN, reviewers=reviewed_by(api))
    for _ in range(2):
        page = asyncio.run(endpoints.get("/configz", authorization="Bearer good"))
        assert page.status == 401
    assert len(api.asked) == 2


# --- what somebody may do ---------------------------------------------------------------------


def test_the_api_server_says_who_may_look_and_is_asked_every_ten_seconds() -> None:
    api = FakeApi({ACCESS_REVIEWS: {"status": {"allowed": False, "reason": "no such role"}}})
    endpoints = management(reviewers=reviewed_by(api))
    asked: list[int] = []
    for wait_s in (0, 9.9, 0.2):
        endpoints.clock.advance(wait_s)
        page = asyncio.run(endpoints.get("/metrics"))
        assert page.json["message"] == (
            'forbidden: User "system:anonymous" cannot get path "/metrics": no such role'
        )
        asked.append(len(api.asked))
    assert asked == [1, 1, 2]


def test_yes_and_no_are_remembered_for_times_of_their_own() -> None:
    api = FakeApi({ACCESS_REVIEWS: NOBODY_MAY})
    flags = (
        "--authorization-webhook-cache-authorized-ttl=100s",
        "--authorization-webhook-cache-unauthorized-ttl=1s",
    )
    endpoints = management(*flags, reviewers=reviewed_by(api))
    statuses: list[int] = []
    for answer in (NOBODY_MAY, EVERYBODY_MAY, NOBODY_MAY):
        api.answers[ACCESS_REVIEWS] = answer
        endpoints.clock.advance(2)
        statuses.append(asyncio.run(endpoints.get("/metrics")).status)
    assert statuses == [403, 200, 200]


def test_what_is_denied_is_denied() -> None:
    api = FakeApi({ACCESS_REVIEWS: {"status": {"allowed": True, "denied": True}}})
    page = asyncio.run(management(reviewers=reviewed_by(api)).get("/metrics"))
    assert page.status == 403


def test_without_an_answer_from_the_api_server_nobody_gets_in() -> None:
    page = asyncio.run(management(reviewers=reviewed_by(FakeApi())).get("/metrics?x=1"))
    assert page.status == 500
    assert page.text == 'Internal Server Error: "/metrics?x=1": nobody listens there\n'


def test_an_answer_that_makes_no_sense_is_none() -> None:
    api = FakeApi({ACCESS_REVIEWS: {"status": "yes"}})
    page = asyncio.run(management(reviewers=reviewed_by(api)).get("/metrics"))
    assert page.status == 500


# --- certificates -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def users() -> trustme.CA:
    return trustme.CA(organization_name="users")


@pytest.fixture(scope="module")
def proxies() -> trustme.CA:
    return trustme.CA(organization_name="proxies")


@pytest.fixture
def user_bundle(users: trustme.CA, tmp_path: Any) -> str:
    path = tmp_path / "users.pem"
    users.cert_pem.write_to_path(str(path))
    return f"--client-ca-file={path}"


@pytest.fixture
def proxy_bundle(proxies: trustme.CA, tmp_path: Any) -> str:
    path = tmp_path / "proxies.pem"
    proxies.cert_pem.write_to_path(str(path))
    return f"--requestheader-client-ca-file={path}"


def ask_as(shown: tuple[str, ...], *flags: str, **headers: Any) -> tuple[int, Any]:
    """The status of a request, and whom the API server was asked about."""
    api = FakeApi({ACCESS_REVIEWS: EVERYBODY_MAY})
    endpoints = management(*flags, reviewers=reviewed_by(api))
    page = asyncio.run(endpoints.ask("GET", "/metrics", certificates=shown, **headers))
    return page.status, api.asked[0][1]["spec"] if api.asked else None


def test_a_certificate_names_its_user(users: trustme.CA, user_bundle: str) -> None:
    shown = certificate(users, "jane", "monitors")
    status, spec = ask_as(shown, user_bundle)
    assert (status, spec["user"]) == (200, "jane")
    assert spec["groups"] == ["monitors", "system:authenticated"]
    der = x509.load_pem_x509_certificate(shown[0].encode()).public_bytes(Encoding.DER)
    assert spec["extra"] == {
        "authentication.kubernetes.io/credential-id": [
            f"X509SHA256={hashlib.sha256(der).hexdigest()}"
        ]
    }


def test_administrators_need_not_be_asked_about(users: trustme.CA, user_bundle: str) -> None:
    status, spec = ask_as(certificate(users, "root", "system:masters"), user_bundle)
    assert (status, spec) == (200, None)


def test_a_proxy_speaks_for_its_users(proxies: trustme.CA, proxy_bundle: str) -> None:
    status, spec = ask_as(
        certificate(proxies, "front"),
        proxy_bundle,
        "--requestheader-uid-headers=X-Remote-Uid",
        x_remote_user="jane",
        x_remote_uid="7",
        x_remote_group="monitors",
        x_remote_extra_scope="all",
    )
    assert status == 200
    assert spec["user"] == "jane"
    assert spec["uid"] == "7"
    assert spec["groups"] == ["monitors", "system:authenticated"]
    assert spec["extra"] == {"scope": ["all"]}


def test_a_proxy_must_have_an_allowed_name(proxies: trustme.CA, proxy_bundle: str) -> None:
    flag = "--requestheader-allowed-names=front"
    good = ask_as(certificate(proxies, "front"), proxy_bundle, flag, x_remote_user="jane")
    assert good[0] == 200
    bad = ask_as(certificate(proxies, "back"), proxy_bundle, flag, x_remote_user="jane")
    assert bad[0] == 401


def test_nobody_else_speaks_for_others(
    users: trustme.CA, user_bundle: str, proxy_bundle: str
) -> None:
    shown = certificate(users, "mallory")
    _, spec = ask_as(shown, user_bundle, proxy_bundle, x_remote_user="root")
    assert spec["user"] == "mallory"
    _, spec = ask_as((), user_bundle, proxy_bundle, x_remote_user="root")
    assert spec["user"] == "system:anonymous"


def test_a_proxy_is_no_user_itself(
    proxies: trustme.CA, user_bundle: str, proxy_bundle: str
) -> None:
    status, _ = ask_as(certificate(proxies, "front"), user_bundle, proxy_bundle)
    assert status == 401


def test_authorities_come_from_the_cluster_where_flags_name_none(users: trustme.CA) -> None:
    published = {"client-ca-file": users.cert_pem.bytes().decode()}
    path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
    api = FakeApi({ACCESS_REVIEWS: EVERYBODY_MAY, path: {"data": published}})
    endpoints = management(reviewers=reviewed_by(api))
    assert endpoints.trust.lacks_something
    assert asyncio.run(endpoints.trust.look_up(api.client)) == ""
    shown = certificate(users, "jane")
    asyncio.run(endpoints.ask("GET", "/metrics", certificates=shown))
    assert api.asked[-1][1]["spec"]["user"] == "jane"


def test_a_lookup_that_fails_says_why() -> None:
    endpoints = management()
    assert asyncio.run(endpoints.trust.look_up(FakeApi().client)) == "nobody listens there"


def test_lookups_can_be_skipped(user_bundle: str, proxy_bundle: str) -> None:
    assert not management("--authentication-skip-lookup").trust.lacks_something
    assert not management(user_bundle, proxy_bundle).trust.lacks_something


# --- an API server that answers for itself ------------------------------------------------------


def test_an_api_server_is_asked_in_its_own_words() -> None:
    server = ApiServer(Api().service, Random(1))
    client = KubeClient(AsgiTransport(server, {"Authorization": f"Bearer {TOKEN}"}))
    endpoints = management(reviewers=Reviewers(client, client))
    known = asyncio.run(endpoints.get("/metrics", authorization=f"Bearer {TOKEN}"))
    assert known.status == 200
    unknown = asyncio.run(endpoints.get("/metrics", authorization="Bearer guessed"))
    assert unknown.status == 401
    nobody = asyncio.run(endpoints.get("/metrics"))
    assert nobody.status == 403
