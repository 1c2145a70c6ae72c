"""TLS contexts: who is trusted, and that nothing given is not the same as nothing usable."""

import ssl
from pathlib import Path

import pytest

from podium.golang.errors import InputError
from podium.net.tls import (
    TLSConfigError,
    cached_client_context,
    client_context,
    server_context_of_files,
)


def test_an_authority_without_a_certificate_is_refused_and_not_taken_for_the_systems() -> None:
    with pytest.raises(TLSConfigError, match="unable to parse bytes as PEM block"):
        client_context(b"")


def test_whoever_does_not_verify_trusts_everybody_and_others_nobody_without_a_name() -> None:
    careless, careful = client_context(verifies=False), client_context()
    assert (careless.verify_mode, careless.check_hostname) == (ssl.CERT_NONE, False)
    assert (careful.verify_mode, careful.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert careful.minimum_version is ssl.TLSVersion.TLSv1_2


def test_contexts_are_kept_by_the_name_of_the_server() -> None:
    assert cached_client_context(None, "a") is cached_client_context(None, "a")
    assert cached_client_context(None, "a") is not cached_client_context(None, "b")


def test_an_empty_file_of_client_authorities_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "ca.crt"
    empty.touch()
    with pytest.raises(InputError, match="the certificates cannot be used"):
        server_context_of_files(tmp_path / "tls.crt", tmp_path / "tls.key", empty)
