"""Requests for certificates: who asks is noted, and nobody approves or signs without the right."""

import base64
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from support.apiserver.api_calls import MERGE, Api
from support.apiserver.smallest_objects import CERTIFICATE_REQUEST

REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
APPROVED = {"type": "Approved", "status": "True", "reason": "Because"}
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def request(**spec: Any) -> dict[str, Any]:
    written = {
        "request": CERTIFICATE_REQUEST,
        "signerName": "example.com/signer",
        "usages": ["client auth"],
        "username": "somebody-else",
        **spec,
    }
    return {"metadata": {"name": "c"}, "spec": written, "status": {"conditions": [APPROVED]}}


def approve(api: Api, *conditions: dict[str, str], path: str = "approval") -> Any:
    found = api.ask("GET", f"{REQUESTS}/c").body
    found["status"] = {"conditions": list(conditions)}
    return api.ask("PUT", f"{REQUESTS}/c/{path}", found)


def test_the_server_notes_who_asks_and_nothing_is_decided_yet() -> None:
    api = Api()

    created = api.ask("POST", REQUESTS, request(expirationSeconds=3600))

    assert created.status == 201
    assert created.body["spec"]["username"] == "admin"
    assert "system:masters" in created.body["spec"]["groups"]
    assert created.body["status"] == {}
    (row,) = api.ask("GET", REQUESTS, accept=TABLE).body["rows"]
    assert row["cells"][2:] == ["example.com/signer", "admin", "60m", "Pending"]


def test_an_approval_is_dated_and_cannot_be_taken_back() -> None:
    api = Api()
    api.create(REQUESTS, request())

    (condition,) = approve(api, APPROVED).body["status"]["conditions"]

    assert condition["lastUpdateTime"] == condition["lastTransitionTime"]
    assert "updates may not remove a condition of type" in approve(api).message
    denied = {"type": "Denied", "status": "True"}
    assert "mutually exclusive" in approve(api, condition, denied).message


def test_a_status_cannot_approve_and_an_update_changes_nothing_of_it() -> None:
    api = Api()
    api.create(REQUESTS, request())

    answer = approve(api, APPROVED, path="status")
    assert 'updates may not add a condition of type "Approved"' in answer.message
    change = {"spec": {"signerName": "a.b/c"}, "metadata": {"labels": {"a": "b"}}}
    changed = api.ask("PATCH", f"{REQUESTS}/c", change, content_type=MERGE).body
    assert changed["metadata"]["labels"] == {"a": "b"}
    assert changed["spec"]["signerName"] == "example.com/signer"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"request": "aGVsbG8="}, '"aGVsbG8=": PEM block type must be CERTIFICATE REQUEST'),
        ({"usages": []}, "spec.usages: Required value"),
        ({"usages": ["x"]}, 'spec.usages[0]: Unsupported value: "x": supported values: "any"'),
        ({"usages": ["any", "any"]}, 'spec.usages[1]: Duplicate value: "any"'),
        ({"signerName": "foo"}, "must be a fully qualified domain and path of the form"),
        ({"signerName": "kubernetes.io/legacy-unknown"}, "the legacy signerName is not allowed"),
        ({"signerName": "foo/bar"}, "should be a domain with at least two segments"),
        ({"expirationSeconds": 5}, "may not specify a duration less than 600 seconds"),
    ],
)
def test_mistakes_are_told(change: dict[str, Any], problem: str) -> None:
    answer = Api().ask("POST", REQUESTS, request(**change))

    assert answer.status == 422
    assert problem in answer.message


def written_for(*groups: str) -> str:
    """A request for a certificate of jane, a member of these groups."""
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, "jane")]
    parts += [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(parts))
    signed = builder.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    return base64.b64encode(signed.public_bytes(serialization.Encoding.PEM)).decode()


def test_nobody_becomes_a_master_by_a_certificate() -> None:
    api, signer = Api(), "kubernetes.io/kube-apiserver-client"

    refused = api.ask(
        "POST", REQUESTS, request(request=written_for("a", "system:masters"), signerName=signer)
    )

    assert (refused.status, refused.body["reason"]) == (403, "Forbidden")
    assert refused.message == (
        'certificatesigningrequests.certificates.k8s.io "c" is forbidden: use of'
        " kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed"
    )
    other = request(request=written_for("system:masters"))
    assert api.ask("POST", REQUESTS, other).status == 201
    other = request(request=written_for("developers"), signerName=signer)
    other["metadata"]["name"] = "d"
    assert api.ask("POST", REQUESTS, other).status == 201
