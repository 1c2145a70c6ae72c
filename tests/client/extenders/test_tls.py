"""TLS to extenders: who is trusted, what is presented, and what cannot be built."""

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
import trustme
from support.addons.extenders.extender_servers import (
    answering,
    ask,
    filter_call,
    make_client,
    make_extender,
    serving,
)

from podium.client.extenders.tls import tls_clients
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.types import ExtenderTLSConfig
from podium.scheduler.framework.asking import CallFailed, ExtenderAnswer, FilterAnswer

GOOD = FilterAnswer(node_names=("n1",))
TLS = Callable[..., ExtenderTLSConfig]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def stranger() -> trustme.CA:
    return trustme.CA()


def asked(
    server: ssl.SSLContext, *, enable_https: bool = False, tls: ExtenderTLSConfig | None = None
) -> ExtenderAnswer:
    async def story() -> ExtenderAnswer:
        async with serving(answering(b'{"NodeNames": ["n1"]}'), server) as serving_:
            extender = make_extender(serving_.url, enable_https=enable_https, tls_config=tls)
            (answer,) = await ask(filter_call(extender))
            return answer

    return asyncio.run(story())


def server_of(authority: trustme.CA, name: str = "127.0.0.1") -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


def pem(certificate: trustme.LeafCert) -> tuple[bytes, bytes]:
    return certificate.cert_chain_pems[0].bytes(), certificate.private_key_pem.bytes()


# trust


def test_without_a_ca_https_is_not_verified_if_it_is_enabled(authority: trustme.CA) -> None:
    assert asked(server_of(authority), enable_https=True) == GOOD


def test_without_a_ca_https_is_verified_if_it_is_not_enabled(authority: trustme.CA) -> None:
    answer = asked(server_of(authority))
    assert isinstance(answer, CallFailed)
    assert "x509: certificate signed by unknown authority" in answer.problem


@pytest.mark.parametrize("enable_https", [True, False])
def test_a_given_ca_is_trusted(authority: trustme.CA, *, enable_https: bool) -> None:
    tls = ExtenderTLSConfig(ca_data=authority.cert_pem.bytes())
    assert asked(server_of(authority), enable_https=enable_https, tls=tls) == GOOD


def test_a_ca_comes_from_a_file_and_data_wins(
    authority: trustme.CA, stranger: trustme.CA, tmp_path: Path
) -> None:
    file = tmp_path / "ca.crt"
    stranger.cert_pem.write_to_path(str(file))
    by_file = ExtenderTLSConfig(ca_file=str(file))
    both = ExtenderTLSConfig(ca_file=str(file), ca_data=authority.cert_pem.bytes())
    assert asked(server_of(stranger), tls=by_file) == GOOD
    assert isinstance(asked(server_of(authority), tls=by_file), CallFailed)
    assert asked(server_of(authority), tls=both) == GOOD


def test_only_the_given_ca_is_trusted(authority: trustme.CA, stranger: trustme.CA) -> None:
    tls = ExtenderTLSConfig(ca_data=stranger.cert_pem.bytes())
    assert isinstance(asked(server_of(authority), tls=tls), CallFailed)


def test_insecure_trusts_anyone(authority: trustme.CA) -> None:
    assert asked(server_of(authority, "x.example"), tls=ExtenderTLSConfig(insecure=True)) == GOOD


def test_the_server_name_is_asked_for_and_verified(authority: trustme.CA) -> None:
    server = server_of(authority, "extender.example")
    heard: list[str | None] = []
    server.sni_callback = lambda _, name, __: heard.append(name)
    tls = ExtenderTLSConfig(ca_data=authority.cert_pem.bytes(), server_name="extender.example")
    assert asked(server, tls=tls) == GOOD
    assert heard == ["extender.example"]
    other = ExtenderTLSConfig(ca_data=authority.cert_pem.bytes(), server_name="other.example")
    assert isinstance(asked(server, tls=other), CallFailed)


# client certificates


@pytest.fixture
def demanding(authority: trustme.CA) -> ssl.SSLContext:
    """A server that wants to see a certificate."""
    context = server_of(authority)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    # The refusal comes with the handshake, not after it.
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    return context


def test_a_client_certificate_is_presented_from_data_or_files(
    authority: trustme.CA, demanding: ssl.SSLContext, tmp_path: Path
) -> None:
    certificate, key = pem(authority.issue_cert("scheduler"))
    cert_file, key_file = tmp_path / "tls.crt", tmp_path / "tls.key"
    cert_file.write_bytes(certificate)
    key_file.write_bytes(key)
    for given in (
        {"cert_data": certificate, "key_data": key},
        {"cert_file": str(cert_file), "key_file": str(key_file)},
        {"cert_file": str(cert_file), "key_data": key},
    ):
        tls = ExtenderTLSConfig(ca_data=authority.cert_pem.bytes(), **given)
        assert asked(demanding, tls=tls) == GOOD


def test_who_has_none_is_told_so(authority: trustme.CA, demanding: ssl.SSLContext) -> None:
    tls = ExtenderTLSConfig(ca_data=authority.cert_pem.bytes())
    answer = asked(demanding, tls=tls)
    assert isinstance(answer, CallFailed)
    assert answer.problem.endswith("read: connection reset by peer")


def test_a_certificate_without_its_key_is_not_used(authority: trustme.CA) -> None:
    certificate, _ = pem(authority.issue_cert("scheduler"))
    tls = ExtenderTLSConfig(cert_data=certificate, insecure=True)
    assert asked(server_of(authority), tls=tls) == GOOD


# what cannot be built

NO_CERTIFICATE = b"-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n"


def refusal(**fields: object) -> str:
    extender = make_extender("https://x", tls_config=ExtenderTLSConfig(**fields))  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError) as caught:
        tls_clients([make_extender("http://y"), extender])
    assert caught.value.problems[0].path == "extenders[1].tlsConfig"
    text = str(caught.value)
    assert text.startswith("couldn't build extenders: ")
    return text.removeprefix("couldn't build extenders: ")


def test_a_ca_and_insecure_exclude_each_other(authority: trustme.CA) -> None:
    said = "specifying a root certificates file with the insecure flag is not allowed"
    assert refusal(ca_data=authority.cert_pem.bytes(), insecure=True) == said


@pytest.mark.parametrize("field", ["ca_file", "cert_file", "key_file"])
def test_a_file_that_is_missing_is_named(field: str) -> None:
    given = {"cert_file": __file__, "key_file": __file__, field: "missing.crt"}
    assert refusal(**given) == "open missing.crt: no such file or directory"


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    assert refusal(ca_file=str(tmp_path)) == f"read {tmp_path}: is a directory"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"nonsense", "unable to parse bytes as PEM block"),
        (NO_CERTIFICATE, "failed to parse certificate: x509: malformed certificate"),
        (
            NO_CERTIFICATE.replace(b"CERTIFICATE", b"PUBLIC KEY"),
            "no valid certificate authority data seen",
        ),
    ],
)
def test_roots_that_are_none_are_refused(data: bytes, said: str) -> None:
    assert refusal(ca_data=data) == f"unable to load root certificates: {said}"


def test_pairs_that_do_not_fit_are_refused(authority: trustme.CA) -> None:
    certificate, key = pem(authority.issue_cert("a"))
    _, other = pem(authority.issue_cert("b"))
    assert refusal(cert_data=b"x", key_data=key) == (
        "tls: failed to find any PEM data in certificate input"
    )
    assert refusal(cert_data=certificate, key_data=b"x") == (
        "tls: failed to find any PEM data in key input"
    )
    assert refusal(cert_data=key, key_data=key) == (
        "tls: failed to find certificate PEM data in certificate input, but did find a private "
        "key; PEM inputs may have been switched"
    )
    assert refusal(cert_data=certificate, key_data=certificate) == (
        "tls: found a certificate rather than a key in the PEM for the private key"
    )
    assert refusal(cert_data=certificate, key_data=other) == (
        "tls: private key does not match public key"
    )
    assert refusal(cert_data=NO_CERTIFICATE, key_data=key) == (
        "tls: failed to parse certificate or private key"
    )


def test_one_good_root_among_bad_ones_is_enough(authority: trustme.CA) -> None:
    tls = ExtenderTLSConfig(ca_data=NO_CERTIFICATE + authority.cert_pem.bytes())
    assert asked(server_of(authority), tls=tls) == GOOD


# through a proxy


def through_proxy(authority: trustme.CA, *, lets_pass: bool) -> tuple[ExtenderAnswer, list[str]]:
    """Ask `extender.example` behind a proxy, which leads to a server of that name."""
    asked_for: list[str] = []

    async def story() -> ExtenderAnswer:
        target = serving(answering(b'{"NodeNames": ["n1"]}'), server_of(authority, "e.example"))
        async with target as behind, asyncio.TaskGroup() as group:

            async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                while data := await reader.read(65536):
                    writer.write(data)
                writer.close()

            async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                head = await reader.readuntil(b"\r\n\r\n")
                asked_for.append(head.decode().splitlines()[0])
                if not lets_pass:
                    writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                    writer.close()
                    return
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                port = int(behind.url.rpartition(":")[2])
                there, away = await asyncio.open_connection("127.0.0.1", port)
                group.create_task(copy(there, writer))
                group.create_task(copy(reader, away))

            proxy = await asyncio.start_server(tunnel, "127.0.0.1", 0)
            address = f"127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
            tls = ExtenderTLSConfig(ca_data=authority.cert_pem.bytes())
            extender = make_extender("https://e.example/x", tls_config=tls)
            client = make_client(extender, environment={"https_proxy": address})
            (answer,) = await client.ask((filter_call(extender),))
            await client.close()
            proxy.close()
        return answer

    return asyncio.run(story()), asked_for


def test_tls_goes_through_a_proxy_unopened(authority: trustme.CA) -> None:
    answer, asked_for = through_proxy(authority, lets_pass=True)
    assert answer == GOOD
    assert asked_for == ["CONNECT e.example:443 HTTP/1.1"]


def test_a_proxy_that_refuses_is_told(authority: trustme.CA) -> None:
    answer, _ = through_proxy(authority, lets_pass=False)
    assert answer == CallFailed('Post "https://e.example/x/filter": Forbidden')
