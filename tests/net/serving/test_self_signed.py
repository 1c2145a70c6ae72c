"""Certificates of one's own hold where clients look closely."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from podium.apiserver.serving.certificates import ensure_certificates
from podium.live.serving.tls import kept_pair
from podium.net.serving.self_signed import (
    PrivateKey,
    Validity,
    certificate_pem,
    key_pem,
    make_authority,
    sign_server_certificate,
)


def shake_hands(certificate: Path, key: Path, authority: bytes, host: str) -> None:
    """A handshake in memory with a client that verifies strictly. Raises ssl.SSLError."""
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(certificate, key)
    trusting = ssl.create_default_context(cadata=authority.decode())
    trusting.verify_flags |= ssl.VERIFY_X509_STRICT
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = serving.wrap_bio(up, down, server_side=True)
    client = trusting.wrap_bio(down, up, server_hostname=host)
    waiting = [client, server]
    while waiting:
        end = waiting.pop(0)
        try:
            end.do_handshake()
        except ssl.SSLWantReadError:
            waiting.append(end)


KEYS = {
    "elliptic": ec.generate_private_key(ec.SECP256R1()),
    "rsa": rsa.generate_private_key(65537, 2048),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_a_client_that_verifies_strictly_trusts_what_the_authority_signed(
    tmp_path: Path, key: PrivateKey
) -> None:
    now = datetime.now(UTC)
    validity = Validity(now - timedelta(hours=1), now + timedelta(hours=1))
    authority = make_authority("ca", key, validity)
    names = [x509.DNSName("here.example.com")]
    certificate = sign_server_certificate(authority, "server", key, names, validity)
    files = tmp_path / "c", tmp_path / "k"
    files[0].write_bytes(certificate_pem(certificate))
    files[1].write_bytes(key_pem(key))
    pem = certificate_pem(authority.certificate)
    shake_hands(*files, pem, "here.example.com")
    with pytest.raises(ssl.SSLCertVerificationError, match=r"here\.example\.org"):
        shake_hands(*files, pem, "here.example.org")


def test_the_api_servers_own_certificate_is_verified_strictly(tmp_path: Path) -> None:
    made = ensure_certificates(tmp_path, "127.0.0.1")
    for host in ("127.0.0.1", "localhost", "kubernetes.default.svc"):
        shake_hands(made.certificate_file, made.key_file, made.authority, host)


def test_the_schedulers_own_certificate_is_verified_strictly_by_who_has_its_chain(
    tmp_path: Path,
) -> None:
    certificate, key = kept_pair(str(tmp_path), "127.0.0.1", datetime.now(UTC).timestamp())
    _, authority = x509.load_pem_x509_certificates(certificate.read_bytes())
    for host in ("127.0.0.1", "localhost"):
        shake_hands(certificate, key, certificate_pem(authority), host)
