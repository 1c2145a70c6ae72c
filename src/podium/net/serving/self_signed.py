"""Certificates that nobody else vouches for: an authority of one's own, and what it signs.

Names, ages, kinds of keys and where files are kept are the caller's. What is in a certificate
beyond that is decided here, once: what its key may be used for, and the identifiers of keys without
which strict verification (`ssl.VERIFY_X509_STRICT`) refuses a chain.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


class Validity(NamedTuple):
    start: datetime
    end: datetime


class Authority(NamedTuple):
    """Who signs: a certificate and its key."""

    certificate: x509.Certificate
    key: PrivateKey


def make_authority(
    common_name: str, key: PrivateKey, validity: Validity, *, path_length: int | None = None
) -> Authority:
    """An authority that is signed by itself."""
    name = _name(common_name)
    certificate = (
        _builder(name, name, key, validity)
        .add_extension(x509.BasicConstraints(ca=True, path_length=path_length), critical=True)
        .add_extension(_key_usage(key, authority=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    return Authority(certificate, key)


def sign_server_certificate(
    authority: Authority,
    common_name: str,
    key: PrivateKey,
    names: Sequence[x509.GeneralName],
    validity: Validity,
) -> x509.Certificate:
    """A certificate for a server that answers to `names`."""
    builder = _end_entity(authority, common_name, key, validity, ExtendedKeyUsageOID.SERVER_AUTH)
    builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(authority.key, hashes.SHA256())


def sign_client_certificate(
    authority: Authority, common_name: str, key: PrivateKey, validity: Validity
) -> x509.Certificate:
    """A certificate for a client of that name."""
    builder = _end_entity(authority, common_name, key, validity, ExtendedKeyUsageOID.CLIENT_AUTH)
    return builder.sign(authority.key, hashes.SHA256())


def certificate_pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def key_pem(key: PrivateKey) -> bytes:
    """A key as files hold it: PKCS#1 for RSA, as client-go writes it, else PKCS#8."""
    form = (
        serialization.PrivateFormat.TraditionalOpenSSL
        if isinstance(key, rsa.RSAPrivateKey)
        else serialization.PrivateFormat.PKCS8
    )
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _end_entity(
    authority: Authority,
    common_name: str,
    key: PrivateKey,
    validity: Validity,
    usage: x509.ObjectIdentifier,
) -> x509.CertificateBuilder:
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key())
    return (
        _builder(_name(common_name), authority.certificate.subject, key, validity)
        .add_extension(identifier, critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(key, authority=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    )


def _builder(
    subject: x509.Name, issuer: x509.Name, key: PrivateKey, validity: Validity
) -> x509.CertificateBuilder:
    public = key.public_key()
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(validity.start)
        .not_valid_after(validity.end)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
    )


def _key_usage(key: PrivateKey, *, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        # Old cipher suites have the client encrypt with the server's RSA key.
        key_encipherment=isinstance(key, rsa.RSAPrivateKey),
        key_cert_sign=authority,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
