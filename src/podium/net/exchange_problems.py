"""Why an exchange failed, in the words of Go's net and crypto packages.

Operators search for these texts. Addresses of the own side, which Go adds to some of them, are left
out: they mean nothing to anyone but a packet capture.
"""

import os
import ssl
from typing import Final

import aiohttp

_X509: Final = "tls: failed to verify certificate: x509: "
_UNKNOWN_AUTHORITY: Final = f"{_X509}certificate signed by unknown authority"
# OpenSSL's X509_V_ERR codes.
_VERIFY_CODES: Final = {
    2: _UNKNOWN_AUTHORITY,
    9: f"{_X509}certificate has expired or is not yet valid: it is not valid yet",
    10: f"{_X509}certificate has expired or is not yet valid: it has expired",
    18: _UNKNOWN_AUTHORITY,
    19: _UNKNOWN_AUTHORITY,
    20: _UNKNOWN_AUTHORITY,
    21: _UNKNOWN_AUTHORITY,
}


def cause_of(problem: BaseException) -> str:
    match problem:
        case aiohttp.ClientHttpProxyError():
            return problem.message or f"proxy answered with status {problem.status}"
        case aiohttp.ClientConnectorCertificateError(certificate_error=cause):
            return _verification(cause, problem.host)
        case aiohttp.ClientConnectorDNSError():
            return f"dial tcp: lookup {problem.host}: no such host"
        case aiohttp.ClientConnectorSSLError():
            return _tls(problem.os_error)
        case aiohttp.ClientProxyConnectionError():
            return f"proxyconnect tcp: {_dial(problem)}"
        case aiohttp.ClientConnectorError():
            return _dial(problem)
        case TimeoutError():
            return "dial tcp: i/o timeout"
        case aiohttp.ServerDisconnectedError():
            return "EOF"
        case aiohttp.ClientResponseError():
            return f"net/http: HTTP/1.x transport connection broken: {_first_line(problem.message)}"
        case ssl.SSLError():
            return _tls(problem)
        case OSError():
            return _system(problem)
    return _first_line(str(problem)) or type(problem).__name__


def _dial(problem: aiohttp.ClientConnectorError) -> str:
    if isinstance(problem.os_error, ConnectionResetError):
        # The connection was there, and ended in the TLS handshake.
        return "read: connection reset by peer"
    host = f"[{problem.host}]" if ":" in problem.host else problem.host
    return f"dial tcp {host}:{problem.port}: connect: {_reason(problem.os_error)}"


def _system(problem: OSError) -> str:
    inner = problem.__cause__ or problem.__context__
    if isinstance(inner, ssl.SSLError):
        return _tls(inner)
    return f"read: {_reason(problem)}"


def _reason(problem: OSError) -> str:
    text = os.strerror(problem.errno) if problem.errno and problem.errno > 0 else str(problem)
    return _first_line(text).lower()


def _verification(problem: Exception, host: str) -> str:
    code = getattr(problem, "verify_code", 0)
    if code in _VERIFY_CODES:
        return _VERIFY_CODES[code]
    message = _first_line(getattr(problem, "verify_message", "") or str(problem))
    if code in (62, 64):
        return f"{_X509}certificate is not valid for {host}: {message.lower()}"
    return f"{_X509}{message}"


def _tls(problem: OSError) -> str:
    reason = getattr(problem, "reason", None) or ""
    if reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST"):
        return "http: server gave HTTP response to HTTPS client"
    _, alert, said = reason.partition("_ALERT_")
    if alert:
        return f"remote error: tls: {said.replace('_', ' ').lower()}"
    return f"tls: {(reason or _first_line(str(problem))).replace('_', ' ').lower()}"


def _first_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[0].rstrip(":") if lines else ""
