"""Certificates of the endpoints and of those who come: shown, renewed, believed."""

import asyncio
import os
import ssl
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme
from cryptography import x509
from support.live.management_pages import STARTED_AT, FakeApi, reviewed_by
from support.live.management_server import Run, answer_of, ask, blind, server

from podium.live.serving.authentication import ACCESS_REVIEWS
from podium.live.serving.tls import PUBLISHED
from podium.scheduler.config.flags.client_settings import StartRefused

# --- the certificate that it shows ------------------------------------------------------------


def test_without_a_certificate_it_makes_one(run: Run) -> None:
    heard = run(answer_of(server(), "/healthz", blind()))
    assert (heard.status, heard.body) == (200, "ok")
    assert "cache-control: no-cache, private" in heard.head
    shown = x509.load_der_x509_certificate(heard.certificate)
    now = int(STARTED_AT + 3725)
    assert shown.subject.rfc4514_string() == f"CN=localhost@{now}"
    assert shown.issuer.rfc4514_string() == f"CN=localhost-ca@{now}"
    assert int(shown.not_valid_before_utc.timestamp()) == now - 3600
    assert (shown.not_valid_after_utc - shown.not_valid_before_utc).days == 365
    names = shown.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert [str(a) for a in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"] * 2


@dataclass
class OwnPair:
    """A certificate of one's own in files."""

    authority: trustme.CA
    certificate: Path
    key: Path

    @property
    def flags(self) -> tuple[str, str]:
        return f"--tls-cert-file={self.certificate}", f"--tls-private-key-file={self.key}"

    def renew(self) -> None:
        issued = self.authority.issue_cert("localhost", "127.0.0.1")
        for path, content in (
            (self.certificate, b"".join(pem.bytes() for pem in issued.cert_chain_pems)),
            (self.key, issued.private_key_pem.bytes()),
        ):
            fresh = path.with_suffix(".new")
            fresh.write_bytes(content)
            fresh.replace(path)

    def trusting(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        self.authority.configure_trust(context)
        return context


@pytest.fixture
def own_pair(tmp_path: Path) -> OwnPair:
    pair = OwnPair(trustme.CA(), tmp_path / "tls.crt", tmp_path / "tls.key")
    pair.renew()
    return pair


def test_a_certificate_from_files_is_one_that_clients_can_check(
    run: Run, own_pair: OwnPair
) -> None:
    heard = run(answer_of(server(*own_pair.flags), "/healthz", own_pair.trusting()))
    assert heard.status == 200


def test_files_that_change_are_read_again(run: Run, own_pair: OwnPair) -> None:
    async def look() -> list[int]:
        serials: list[int] = []
        async with server(*own_pair.flags) as endpoints:
            for renewed in (False, False, True):
                if renewed:
                    own_pair.renew()
                heard = await ask(endpoints, "/healthz", own_pair.trusting())
                serials.append(x509.load_der_x509_certificate(heard.certificate).serial_number)
        return serials

    first, second, third = run(look())
    assert first == second != third


def test_a_change_for_the_worse_is_passed_over(run: Run, own_pair: OwnPair) -> None:
    async def look() -> list[int]:
        statuses: list[int] = []
        async with server(*own_pair.flags) as endpoints:
            own_pair.key.write_text("not a key")
            statuses.append((await ask(endpoints, "/healthz", own_pair.trusting())).status)
            own_pair.certificate.unlink()
            statuses.append((await ask(endpoints, "/healthz", own_pair.trusting())).status)
            own_pair.renew()
            statuses.append((await ask(endpoints, "/healthz", own_pair.trusting())).status)
        return statuses

    assert run(look()) == [200, 200, 200]


def test_a_key_of_another_certificate_is_refused(own_pair: OwnPair) -> None:
    other = trustme.CA().issue_cert("localhost")
    own_pair.key.write_bytes(other.private_key_pem.bytes())
    with pytest.raises(StartRefused, match="the serving certificate cannot be used"):
        server(*own_pair.flags)


def test_a_directory_keeps_the_certificate_that_was_made(tmp_path: Path) -> None:
    directory = tmp_path / "certificates"
    flag = f"--cert-dir={directory}"

    async def look() -> list[bytes]:
        return [(await answer_of(server(flag), "/healthz", blind())).certificate for _ in range(2)]

    first, second = asyncio.run(look())
    assert first == second
    assert sorted(os.listdir(directory)) == ["kube-scheduler.crt", "kube-scheduler.key"]
    assert (directory / "kube-scheduler.key").stat().st_mode & 0o777 == 0o600


def test_a_directory_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StartRefused, match="error creating self-signed certificates"):
        server(f"--cert-dir={tmp_path / 'file' / 'below'}")


@pytest.mark.parametrize("name", ["kube-scheduler.crt", "kube-scheduler.key"])
def test_no_pair_is_written_through_a_link(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StartRefused, match=f"{name}: is a symbolic link"):
        server(f"--cert-dir={tmp_path}")
    assert not (tmp_path / "elsewhere").exists()


def test_clients_may_ask_for_a_certificate_by_name(
    run: Run, own_pair: OwnPair, tmp_path: Path
) -> None:
    other = trustme.CA().issue_cert("scheduler.example.com", "*.wild.example.com")
    other.cert_chain_pems[0].write_to_path(str(tmp_path / "sni.crt"))
    other.private_key_pem.write_to_path(str(tmp_path / "sni.key"))
    flag = f"--tls-sni-cert-key={tmp_path / 'sni.crt'},{tmp_path / 'sni.key'}"
    serial = x509.load_pem_x509_certificate(other.cert_chain_pems[0].bytes()).serial_number

    async def look() -> list[bool]:
        async with server(flag, *own_pair.flags) as endpoints:
            return [
                x509.load_der_x509_certificate(
                    (await ask(endpoints, "/healthz", blind(), name=name)).certificate
                ).serial_number
                == serial
                for name in (
                    "scheduler.example.com",
                    "a.wild.example.com",
                    "a.b.wild.example.com",
                    "localhost",
                )
            ]

    assert run(look()) == [True, True, False, False]


# --- versions and ciphers ---------------------------------------------------------------------


def test_old_versions_of_tls_are_refused(run: Run) -> None:
    context = blind()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    assert run(answer_of(server(), "/healthz", context)).status == 200
    with pytest.raises(OSError):
        run(answer_of(server("--tls-min-version=VersionTLS13"), "/healthz", context))


def test_ciphers_can_be_limited(run: Run) -> None:
    flag = "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_AES_128_GCM_SHA256"
    context = blind()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("ECDHE-RSA-AES128-GCM-SHA256")
    assert run(answer_of(server(flag), "/healthz", context)).status == 200
    context.set_ciphers("ECDHE-RSA-AES256-GCM-SHA384")
    with pytest.raises(OSError):
        run(answer_of(server(flag), "/healthz", context))


def test_where_no_older_cipher_is_allowed_the_newest_version_is_served(run: Run) -> None:
    flag = "--tls-cipher-suites=TLS_AES_128_GCM_SHA256"
    assert run(answer_of(server(flag), "/healthz", blind())).status == 200
    old = blind()
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises(OSError):
        run(answer_of(server(flag), "/healthz", old))


def test_a_curve_can_be_preferred(run: Run) -> None:
    heard = run(answer_of(server("--tls-curve-preferences=4588,24"), "/healthz", blind()))
    assert heard.status == 200


# --- client certificates ----------------------------------------------------------------------


def test_a_client_certificate_names_a_user(run: Run, tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    context = blind()
    issued = authority.issue_cert(common_name="jane", organization_name="monitors")
    issued.configure_cert(context)
    api = FakeApi({ACCESS_REVIEWS: {"status": {"allowed": True}}})
    flags = (f"--client-ca-file={tmp_path / 'ca.pem'}", "--authentication-skip-lookup")
    endpoints = server(*flags, reviewers=reviewed_by(api))
    assert run(answer_of(endpoints, "/metrics", context)).status == 200
    assert api.asked[0][1]["spec"]["user"] == "jane"


def test_without_one_a_client_is_anonymous(run: Run, tmp_path: Path) -> None:
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    endpoints = server(f"--client-ca-file={tmp_path / 'ca.pem'}")
    heard = run(answer_of(endpoints, "/metrics", blind()))
    assert heard.status == 403
    assert "system:anonymous" in heard.body


def test_one_that_nobody_vouches_for_does_not_get_in(run: Run, tmp_path: Path) -> None:
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    context = blind()
    trustme.CA().issue_cert(common_name="mallory").configure_cert(context)
    endpoints = server(f"--client-ca-file={tmp_path / 'ca.pem'}")
    with pytest.raises((OSError, IndexError)):
        run(answer_of(endpoints, "/healthz", context))


def test_client_authorities_may_change_while_it_runs(run: Run, tmp_path: Path) -> None:
    old, new = trustme.CA(), trustme.CA()
    bundle = tmp_path / "ca.pem"
    old.cert_pem.write_to_path(str(bundle))
    context = blind()
    administrator = new.issue_cert(common_name="root", organization_name="system:masters")
    administrator.configure_cert(context)

    async def look() -> int:
        async with server(f"--client-ca-file={bundle}") as endpoints:
            bundle.write_bytes(old.cert_pem.bytes() + new.cert_pem.bytes())
            return (await ask(endpoints, "/metrics", context)).status

    assert run(look()) == 200


def test_authorities_of_the_cluster_are_looked_up_before_it_starts_if_they_must_be() -> None:
    flag = "--authentication-tolerate-lookup-failure=false"
    with pytest.raises(StartRefused, match="nobody listens there"):
        asyncio.run(answer_of(server(flag, reviewers=reviewed_by(FakeApi())), "/healthz"))


def test_authorities_that_the_cluster_publishes_are_believed(run: Run) -> None:
    authority = trustme.CA()
    published = {"data": {"client-ca-file": authority.cert_pem.bytes().decode()}}
    api = FakeApi({ACCESS_REVIEWS: {"status": {"allowed": True}}, PUBLISHED: published})
    context = blind()
    authority.issue_cert(common_name="jane").configure_cert(context)
    flag = "--authentication-tolerate-lookup-failure=false"
    heard = run(answer_of(server(flag, reviewers=reviewed_by(api)), "/metrics", context))
    assert heard.status == 200
    assert api.asked[-1][1]["spec"]["user"] == "jane"


def test_a_cluster_that_publishes_nothing_does_not_hold_up_the_start(run: Run) -> None:
    heard = run(answer_of(server(reviewers=reviewed_by(FakeApi())), "/healthz", blind()))
    assert heard.status == 200
