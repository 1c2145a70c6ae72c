"""Certificates are made once, kept, and renewed when they no longer fit."""

import ssl
import stat
from pathlib import Path

import pytest
from cryptography import x509

from podium.apiserver.serving.certificates import ensure_certificates
from podium.apiserver.serving.kubeconfig import kubeconfig, write_kubeconfig
from podium.golang.errors import InputError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names_in(certificate_file: Path) -> x509.SubjectAlternativeName:
    certificate = x509.load_pem_x509_certificate(certificate_file.read_bytes())
    return certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value


def test_keys_are_for_their_owner_alone(tmp_path: Path) -> None:
    made = ensure_certificates(tmp_path / "c", "127.0.0.1")

    assert mode(made.key_file) == 0o600
    assert mode(tmp_path / "c" / "ca.key") == 0o600
    assert mode(tmp_path / "c") == 0o700


def test_the_certificate_can_be_served_and_is_trusted_by_its_authority(tmp_path: Path) -> None:
    made = ensure_certificates(tmp_path, "127.0.0.1")

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.certificate_file, made.key_file)
    client = ssl.create_default_context(cadata=made.authority.decode())
    assert client.verify_mode is ssl.CERT_REQUIRED


def test_what_is_there_is_kept(tmp_path: Path) -> None:
    first = ensure_certificates(tmp_path, "127.0.0.1")
    content = first.certificate_file.read_bytes()

    second = ensure_certificates(tmp_path, "127.0.0.1")

    assert second == first
    assert second.certificate_file.read_bytes() == content


def test_another_host_gets_a_new_certificate_of_the_same_authority(tmp_path: Path) -> None:
    first = ensure_certificates(tmp_path, "127.0.0.1")

    by_name = ensure_certificates(tmp_path, "node.example.com")
    names = names_in(by_name.certificate_file).get_values_for_type(x509.DNSName)
    by_address = ensure_certificates(tmp_path, "192.0.2.7")
    addresses = names_in(by_address.certificate_file).get_values_for_type(x509.IPAddress)

    assert "node.example.com" in names
    assert "192.0.2.7" in map(str, addresses)
    assert by_address.authority == first.authority


def test_a_certificate_of_a_lost_authority_is_replaced(tmp_path: Path) -> None:
    first = ensure_certificates(tmp_path, "127.0.0.1")
    (tmp_path / "ca.crt").unlink()

    second = ensure_certificates(tmp_path, "127.0.0.1")

    assert second.authority != first.authority


def test_the_kubeconfig_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "kubeconfig"
    write_kubeconfig(path, "https://127.0.0.1:1", "secret", b"PEM")
    path.chmod(0o644)
    write_kubeconfig(path, "https://127.0.0.1:1", "secret", b"PEM")

    assert mode(path) == 0o600
    assert "token: secret" in path.read_text()


def test_a_plain_servers_kubeconfig_has_no_token() -> None:
    config = kubeconfig("http://127.0.0.1:1", "secret", None)

    assert config["users"] == [{"name": "podium", "user": {}}]


def test_a_key_that_others_could_read_is_theirs_no_longer(tmp_path: Path) -> None:
    made = ensure_certificates(tmp_path, "127.0.0.1")
    for path in (made.key_file, tmp_path / "ca.key"):
        path.chmod(0o644)
    assert ensure_certificates(tmp_path, "127.0.0.1") == made
    assert mode(made.key_file) == mode(tmp_path / "ca.key") == 0o600


@pytest.mark.parametrize("name", ["ca.key", "ca.crt", "apiserver.key", "apiserver.crt"])
def test_no_key_or_certificate_is_written_through_a_link(tmp_path: Path, name: str) -> None:
    elsewhere, directory = tmp_path / "elsewhere", tmp_path / "c"
    directory.mkdir(mode=0o700)
    (directory / name).symlink_to(elsewhere)
    with pytest.raises(InputError, match=f"{name}: is a symbolic link"):
        ensure_certificates(directory, "127.0.0.1")
    assert not elsewhere.exists()


def test_certificates_are_not_kept_where_others_can_write(tmp_path: Path) -> None:
    tmp_path.chmod(0o775)
    with pytest.raises(InputError, match=r"others can write it \(mode 0775\)"):
        ensure_certificates(tmp_path, "127.0.0.1")


def test_a_key_that_is_none_is_told_with_what_helps(tmp_path: Path) -> None:
    ensure_certificates(tmp_path, "127.0.0.1")
    (tmp_path / "ca.key").write_text("none")
    with pytest.raises(InputError, match=r"cannot be read: .*; remove the files in it, and new"):
        ensure_certificates(tmp_path, "127.0.0.1")


def test_a_kubeconfig_is_for_its_owner_and_not_written_through_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "new" / "kubeconfig", tmp_path / "link"
    write_kubeconfig(path, "https://127.0.0.1:1", "t", b"PEM")
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="link: is a symbolic link"):
        write_kubeconfig(link, "https://127.0.0.1:1", "t", b"PEM")
    assert not (tmp_path / "elsewhere").exists()
