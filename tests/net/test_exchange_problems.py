"""Failures of an exchange in Go's words."""

import errno
import ssl

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey, RequestInfo
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from podium.net.exchange_problems import cause_of

KEY = ConnectionKey("extender.example", 8443, True, True, None, None, None)
V6 = ConnectionKey("fd00::17", 80, False, True, None, None, None)
REQUEST = RequestInfo(URL("http://h"), "POST", CIMultiDictProxy(CIMultiDict()), URL("http://h"))
X509 = "tls: failed to verify certificate: x509: "


def refused() -> OSError:
    return OSError(errno.ECONNREFUSED, "Connect call failed")


def unverified(code: int, message: str) -> aiohttp.ClientConnectorCertificateError:
    problem = ssl.SSLCertVerificationError(1, "certificate verify failed")
    problem.verify_code = code
    problem.verify_message = message
    return aiohttp.ClientConnectorCertificateError(KEY, problem)


def tls(reason: str) -> ssl.SSLError:
    problem = ssl.SSLError(1, "text")
    problem.reason = reason
    return problem


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (
            aiohttp.ClientConnectorError(KEY, refused()),
            "dial tcp extender.example:8443: connect: connection refused",
        ),
        (
            aiohttp.ClientConnectorError(V6, refused()),
            "dial tcp [fd00::17]:80: connect: connection refused",
        ),
        (
            aiohttp.ClientProxyConnectionError(KEY, refused()),
            "proxyconnect tcp: dial tcp extender.example:8443: connect: connection refused",
        ),
        (
            aiohttp.ClientConnectorDNSError(KEY, OSError(-2, "Name or service not known")),
            "dial tcp: lookup extender.example: no such host",
        ),
        (
            aiohttp.ClientHttpProxyError(REQUEST, (), status=403, message="Forbidden"),
            "Forbidden",
        ),
        (aiohttp.ConnectionTimeoutError("slow"), "dial tcp: i/o timeout"),
        (aiohttp.ServerDisconnectedError(), "EOF"),
        (aiohttp.ClientOSError(errno.EPIPE, "Broken pipe"), "read: broken pipe"),
        (unverified(20, "unable to get"), f"{X509}certificate signed by unknown authority"),
        (
            unverified(10, "certificate has expired"),
            f"{X509}certificate has expired or is not yet valid: it has expired",
        ),
        (
            unverified(62, "Hostname mismatch, certificate is not valid for 'x'."),
            f"{X509}certificate is not valid for extender.example: hostname mismatch, certificate"
            " is not valid for 'x'.",
        ),
        (unverified(26, "unsuitable certificate purpose"), f"{X509}unsuitable certificate purpose"),
        (
            aiohttp.ClientConnectorSSLError(KEY, tls("WRONG_VERSION_NUMBER")),
            "http: server gave HTTP response to HTTPS client",
        ),
        (
            aiohttp.ClientConnectorSSLError(KEY, tls("TLSV13_ALERT_CERTIFICATE_REQUIRED")),
            "remote error: tls: certificate required",
        ),
        (tls("UNSUPPORTED_PROTOCOL"), "tls: unsupported protocol"),
        (ValueError("something\nelse"), "something"),
        (ValueError(), "ValueError"),
    ],
    ids=lambda value: "" if isinstance(value, str) else type(value).__name__,
)
def test_a_failure_is_told_as_go_tells_it(problem: BaseException, text: str) -> None:
    assert cause_of(problem) == text


def test_a_tls_alert_that_comes_with_the_first_read_is_told() -> None:
    problem = aiohttp.ClientOSError(1, "ssl")
    problem.__cause__ = tls("TLSV13_ALERT_CERTIFICATE_REQUIRED")
    assert cause_of(problem) == "remote error: tls: certificate required"
