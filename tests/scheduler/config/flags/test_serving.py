"""Certificates, ciphers, and whom the endpoints ask."""

import pytest
from support.scheduler.config.fake_host_environment import FakeHostEnvironment

from podium.scheduler.config.flags.client_settings import TOKEN_FILE, StartRefused
from podium.scheduler.config.flags.options import Options, options_of
from podium.scheduler.config.flags.parser import parse_flags
from podium.scheduler.config.flags.tls_checks import (
    check_authentication,
    check_authorization,
    check_own_certificate,
    check_tls,
)


def block(label: str) -> str:
    return f"-----BEGIN {label}-----\nAAAA\n-----END {label}-----\n"


FILES = {
    "crt": block("CERTIFICATE"),
    "key": block("RSA PRIVATE KEY"),
    "text": "nothing\n",
    "empty": "",
    "request": block("CERTIFICATE REQUEST"),
    "certs/kube-scheduler.crt": block("CERTIFICATE"),
    "certs/kube-scheduler.key": block("PRIVATE KEY"),
    "half/kube-scheduler.key": block("PRIVATE KEY"),
    "wrong/kube-scheduler.crt": "x",
    "wrong/kube-scheduler.key": "x",
    "K": "clusters: [{name: c, cluster: {server: 'http://s'}}]\n"
    "contexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n",
}
FAKE = FakeHostEnvironment(FILES)


def options(*arguments: str) -> Options:
    return options_of(parse_flags(arguments))


def serving_refusal(*arguments: str) -> str:
    serving = options(*arguments).secure_serving
    try:
        check_own_certificate(serving, FAKE)
        check_tls(serving, FAKE)
    except StartRefused as problem:
        return str(problem)
    return ""


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], ""),
        (["--tls-cert-file=crt", "--tls-private-key-file=key"], ""),
        (["--tls-cert-file=crt"], "missing filename for serving cert"),
        (
            ["--tls-cert-file=no", "--tls-private-key-file=key"],
            "open no: no such file or directory",
        ),
        (
            ["--tls-cert-file=crt", "--tls-private-key-file=empty"],
            'missing content for serving cert "serving-cert::crt::empty"',
        ),
        (
            ["--tls-cert-file=text", "--tls-private-key-file=key"],
            "tls: failed to find any PEM data in certificate input",
        ),
        (
            ["--tls-cert-file=key", "--tls-private-key-file=crt"],
            "tls: failed to find certificate PEM data in certificate input, but did find a "
            "private key; PEM inputs may have been switched",
        ),
        (
            ["--tls-cert-file=request", "--tls-private-key-file=key"],
            'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM '
            "blocks of the following types: [CERTIFICATE REQUEST]",
        ),
        (
            ["--tls-cert-file=crt", "--tls-private-key-file=text"],
            "tls: failed to find any PEM data in key input",
        ),
        (
            ["--tls-cert-file=crt", "--tls-private-key-file=crt"],
            "tls: found a certificate rather than a key in the PEM for the private key",
        ),
        (
            ["--tls-cert-file=crt", "--tls-private-key-file=request"],
            'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after '
            "skipping PEM blocks of the following types: [CERTIFICATE REQUEST]",
        ),
        (["--cert-dir=certs"], ""),
        (["--cert-dir=certs/"], ""),
        (["--cert-dir=elsewhere"], ""),
        (
            ["--cert-dir=half"],
            "error creating self-signed certificates: error reading half/kube-scheduler.crt, "
            "certificate and key must be supplied as a pair",
        ),
        (["--cert-dir=wrong"], "tls: failed to find any PEM data in certificate input"),
        (["--tls-cipher-suites=TLS_AES_128_GCM_SHA256,TLS_RSA_WITH_RC4_128_SHA"], ""),
        (["--tls-cipher-suites=Nope"], "Cipher suite Nope not supported or doesn't exist"),
        (["--tls-curve-preferences=23,29,4588"], ""),
        (
            ["--tls-curve-preferences=0"],
            "curve preference 0 is out of range (must be 1-65535)",
        ),
        (["--tls-curve-preferences=23,23"], "duplicate curve preference 23"),
        (
            ["--tls-curve-preferences=22"],
            "curve preference 22 is not supported by the current Go version",
        ),
        (["--tls-min-version=VersionTLS13"], ""),
        (["--tls-min-version=1.3"], 'unknown tls version "1.3"'),
        (["--tls-sni-cert-key=crt,key:a.com"], ""),
        (
            ["--tls-sni-cert-key=crt,no"],
            "failed to load SNI cert and key: open no: no such file or directory",
        ),
        (
            ["--tls-sni-cert-key=crt,"],
            "failed to load SNI cert and key: missing filename for serving cert",
        ),
    ],
)
def test_what_cannot_be_served_is_refused(arguments: list[str], problem: str) -> None:
    assert serving_refusal(*arguments) == problem


def asked(host: FakeHostEnvironment, *arguments: str) -> tuple[str, list[str]]:
    """(refusal, warnings)"""
    warnings: list[str] = []
    given = options(*arguments)
    try:
        check_authentication(given.authentication, host, warnings.append)
        check_authorization(given.authorization, host, warnings.append)
    except StartRefused as problem:
        return str(problem), warnings
    return "", warnings


def test_without_an_api_server_to_ask_there_are_warnings() -> None:
    problem, warnings = asked(FAKE)
    assert problem == ""
    assert [warning.split(",")[0] for warning in warnings] == [
        "No authentication-kubeconfig provided in order to lookup client-ca-file in "
        "configmap/extension-apiserver-authentication in kube-system",
        "No authentication-kubeconfig provided in order to lookup requestheader-client-ca-file in "
        "configmap/extension-apiserver-authentication in kube-system",
        "No authorization-kubeconfig provided",
    ]


def test_nothing_is_missing_with_a_kubeconfig_for_each() -> None:
    flags = ("--authentication-kubeconfig=K", "--authorization-kubeconfig=K")
    assert asked(FAKE, *flags) == ("", [])


def test_a_pod_asks_its_own_cluster() -> None:
    variables = {"KUBERNETES_SERVICE_HOST": "h", "KUBERNETES_SERVICE_PORT": "1"}
    assert asked(FakeHostEnvironment({TOKEN_FILE: "t"}, variables)) == ("", [])
    _, warnings = asked(FakeHostEnvironment({}, variables))
    assert warnings[0] == (
        "failed to read in-cluster kubeconfig for delegated authentication: "
        f"open {TOKEN_FILE}: no such file or directory"
    )


def test_authorities_from_files_need_no_lookup() -> None:
    flags = ("--client-ca-file=crt", "--requestheader-client-ca-file=crt")
    assert len(asked(FAKE, *flags)[1]) == 1
    assert len(asked(FAKE, "--authentication-skip-lookup")[1]) == 1


@pytest.mark.parametrize(
    ("argument", "problem"),
    [
        (
            "--authentication-kubeconfig=no",
            "failed to get delegated authentication kubeconfig: failed to get delegated "
            "authentication kubeconfig: stat no: no such file or directory",
        ),
        (
            "--authorization-kubeconfig=no",
            "failed to get delegated authorization kubeconfig: stat no: no such file or directory",
        ),
        (
            "--client-ca-file=no",
            "unable to load client CA provider: open no: no such file or directory",
        ),
        (
            "--client-ca-file=empty",
            "unable to load client CA provider: missing content for CA bundle "
            '"client-ca-bundle::empty"',
        ),
        (
            "--requestheader-client-ca-file=text",
            "unable to create request header authentication config: error loading CA bundle for "
            '"request-header::text": data does not contain any valid RSA or ECDSA certificates',
        ),
        ("--authorization-always-allow-paths=/a*b", 'only trailing * allowed in "a*b"'),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(argument: str, problem: str) -> None:
    assert asked(FAKE, argument)[0] == problem


def test_a_path_may_end_in_anything() -> None:
    assert asked(FAKE, "--authorization-always-allow-paths=/,/healthz*,metrics")[0] == ""
