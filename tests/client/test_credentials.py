"""Tokens, passwords, plugins: where they come from, and that they stay secret."""

import asyncio
import base64
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import trustme

from podium.client.credentials import (
    Credentials,
    ExecCredentials,
    certificate_of,
    tls_context,
    user_credentials,
)
from podium.golang.errors import InputError
from podium.scheduler.config.kubeconfig import ClusterEntry, ExecPlugin, ExecVariable, UserEntry
from podium.testing import FakeClock

V1 = "client.authentication.k8s.io/v1"


def authorization(credentials: Credentials) -> str:
    return asyncio.run(credentials.current()).headers.get("Authorization", "")


def test_a_token_wins_over_a_password_and_a_file_over_both(tmp_path: Path) -> None:
    clock = FakeClock()
    password = UserEntry(username="me", password="pw")
    assert (
        authorization(user_credentials(password, clock))
        == "Basic " + base64.b64encode(b"me:pw").decode()
    )
    token = UserEntry(username="me", password="pw", token="t1")
    assert authorization(user_credentials(token, clock)) == "Bearer t1"
    file = tmp_path / "token"
    file.write_text("t2\n")
    both = UserEntry(token="t1", token_file=str(file))
    assert authorization(user_credentials(both, clock)) == "Bearer t2"
    assert authorization(user_credentials(UserEntry(), clock)) == ""


def test_a_token_file_is_read_again_after_a_minute_or_when_it_was_refused(tmp_path: Path) -> None:
    clock = FakeClock(1000)
    file = tmp_path / "token"
    file.write_text("t1")
    credentials = user_credentials(UserEntry(token_file=str(file)), clock)
    assert authorization(credentials) == "Bearer t1"
    file.write_text("t2")
    clock.advance(59)
    assert authorization(credentials) == "Bearer t1"
    clock.advance(2)
    assert authorization(credentials) == "Bearer t2"
    file.write_text("t3")
    assert credentials.handle_unauthorized()
    assert authorization(credentials) == "Bearer t3"
    file.unlink()
    clock.advance(100)
    assert authorization(credentials) == "Bearer t3"


def test_a_token_file_that_is_missing_or_empty_is_named(tmp_path: Path) -> None:
    clock = FakeClock()
    missing = user_credentials(UserEntry(token_file=str(tmp_path / "none")), clock)
    with pytest.raises(InputError, match=r"none: user\.tokenFile: cannot be read: no such file"):
        authorization(missing)
    (tmp_path / "empty").touch()
    with pytest.raises(InputError, match="is empty"):
        authorization(user_credentials(UserEntry(token_file=str(tmp_path / "empty")), clock))


def test_secrets_are_not_shown() -> None:
    authority = trustme.CA()
    issued = authority.issue_cert("someone")
    user = UserEntry(
        token="hush",
        client_certificate_data=issued.cert_chain_pems[0].bytes(),
        client_key_data=issued.private_key_pem.bytes(),
    )
    credential = asyncio.run(user_credentials(user, FakeClock()).current())
    assert "hush" not in repr(credential)
    assert "PRIVATE" not in repr(credential)


# --- certificates -----------------------------------------------------------------------------


def test_certificates_that_cannot_be_used_name_their_field(tmp_path: Path) -> None:
    authority = trustme.CA()
    one, other = authority.issue_cert("one"), authority.issue_cert("other")
    chain, key = one.cert_chain_pems[0].bytes(), one.private_key_pem.bytes()
    with pytest.raises(InputError, match=r"user\.client-key: is missing"):
        certificate_of(UserEntry(client_certificate_data=chain))
    with pytest.raises(InputError, match=r"user\.client-certificate: .*none.* cannot be read"):
        certificate_of(UserEntry(client_certificate=str(tmp_path / "none")))
    wrong = certificate_of(
        UserEntry(client_certificate_data=chain, client_key_data=other.private_key_pem.bytes())
    )
    with pytest.raises(InputError, match="does not belong to the client certificate"):
        tls_context(ClusterEntry(), wrong)
    unreadable = certificate_of(UserEntry(client_certificate_data=b"x", client_key_data=key))
    with pytest.raises(InputError, match="must be PEM"):
        tls_context(ClusterEntry(), unreadable)
    with pytest.raises(InputError, match=r"cluster\.certificate-authority: holds no certificate"):
        tls_context(ClusterEntry(certificate_authority_data=b"nonsense"), None)
    contradiction = ClusterEntry(
        certificate_authority_data=authority.cert_pem.bytes(), insecure_skip_tls_verify=True
    )
    with pytest.raises(InputError, match="contradicts"):
        tls_context(contradiction, None)


# --- plugins ----------------------------------------------------------------------------------

PLUGIN = """
import json, os, sys
count = os.path.join(os.environ["STATE"], "count")
number = int(open(count).read()) + 1 if os.path.exists(count) else 1
open(count, "w").write(str(number))
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
open(os.path.join(os.environ["STATE"], "info"), "w").write(json.dumps(info))
answer = json.loads(sys.argv[1])
answer.get("status", {}).update({"token": answer["status"]["token"] + str(number)})
print(json.dumps(answer))
"""


def make_plugin(tmp_path: Path, answer: Any, code: str = PLUGIN, **fields: Any) -> ExecPlugin:
    settings = {"api_version": V1, "provide_cluster_info": True, **fields}
    return ExecPlugin(
        command=sys.executable,
        args=("-c", code, json.dumps(answer)),
        env=(ExecVariable(name="STATE", value=str(tmp_path)),),
        **settings,
    )


def credential_answer(**status: Any) -> dict[str, Any]:
    return {"apiVersion": V1, "kind": "ExecCredential", "status": status}


def test_a_plugin_is_asked_again_when_its_answer_expires_or_is_refused(tmp_path: Path) -> None:
    answer = credential_answer(token="t", expirationTimestamp="1970-01-01T01:00:00Z")
    clock = FakeClock()
    cluster = ClusterEntry(server="https://api.test", certificate_authority_data=b"pem")

    async def main() -> None:
        credentials = ExecCredentials(
            make_plugin(tmp_path, answer), cluster, clock, interactive_mode="Never"
        )
        for _ in range(2):
            assert (await credentials.current()).headers == {"Authorization": "Bearer t1"}
        clock.advance(3601)
        assert (await credentials.current()).headers == {"Authorization": "Bearer t2"}
        clock.now = 0
        assert credentials.handle_unauthorized()
        assert (await credentials.current()).headers == {"Authorization": "Bearer t3"}

    asyncio.run(main())
    info = json.loads((tmp_path / "info").read_text())
    assert info["spec"]["interactive"] is False
    assert info["spec"]["cluster"]["server"] == "https://api.test"
    assert base64.b64decode(info["spec"]["cluster"]["certificate-authority-data"]) == b"pem"


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import sys; sys.exit(3)", "failed with exit code 3"),
        ("print('secret-garbage')", "is no ExecCredential in JSON"),
        ("print('{}')", "is not of kind ExecCredential"),
        ("import time; time.sleep(60)", r"has not answered within 0\.2 s"),
    ],
)
def test_a_plugin_that_fails_is_named_and_not_quoted(
    tmp_path: Path, code: str, problem: str
) -> None:
    async def main() -> None:
        plugin = make_plugin(tmp_path, None, code)
        timeout_s = 0.2 if "time" in code else 30
        credentials = ExecCredentials(
            plugin, ClusterEntry(), FakeClock(), interactive_mode="Never", timeout_s=timeout_s
        )
        with pytest.raises(InputError, match=problem) as caught:
            await credentials.current()
        assert sys.executable in str(caught.value)
        assert "secret-garbage" not in str(caught.value)

    asyncio.run(main())


def test_answers_that_prove_nothing_are_refused(tmp_path: Path) -> None:
    code = "import sys; print(sys.argv[1])"
    for status, problem in (
        ({}, "neither a token nor a client certificate"),
        ({"clientCertificateData": "x"}, "a certificate without a key"),
    ):

        async def main(status: Any = status, problem: str = problem) -> None:
            plugin = make_plugin(tmp_path, credential_answer(**status), code)
            credentials = ExecCredentials(
                plugin, ClusterEntry(), FakeClock(), interactive_mode="Never"
            )
            with pytest.raises(InputError, match=problem):
                await credentials.current()

        asyncio.run(main())


def test_a_plugin_that_is_not_installed_says_how_to_get_it() -> None:
    async def main() -> None:
        plugin = ExecPlugin(
            command="/nonexistent/plugin", api_version=V1, install_hint="apt install it\nmore"
        )
        credentials = ExecCredentials(plugin, ClusterEntry(), FakeClock(), interactive_mode="Never")
        with pytest.raises(InputError, match=r"no such file or directory.*apt install it"):
            await credentials.current()

    asyncio.run(main())


def test_old_plugin_versions_are_refused() -> None:
    async def main() -> None:
        plugin = ExecPlugin(command="x", api_version="client.authentication.k8s.io/v1alpha1")
        with pytest.raises(InputError, match="v1alpha1"):
            ExecCredentials(plugin, ClusterEntry(), FakeClock())

    asyncio.run(main())
