"""What a server without TLS and without a token takes from whom.

Whoever reaches it may do everything, and it is only reached from the machine it runs on. That
includes every web page that is open in a browser there: a page can give its own name the address of
the loopback, and can send forms anywhere. So requests must name the loopback as their host, must
not come from a page of another origin, and must say that their body is none of a form's.
"""

from podium.apiserver.http.messages import Request
from podium.kubernetes.status_errors import StatusError, forbidden_path, unsupported_media_type
from podium.net.serving.foreign_pages import (
    FORM_TYPES,
    find_foreign_origin,
    is_loopback,
    read_host_name,
    read_media_type,
)


def refuse_browsers(request: Request) -> None:
    """Raises StatusError for what only a page of somebody else would send."""
    host = request.header(b"host")
    if not is_loopback(read_host_name(host)):
        raise _refused(f"the host {host!r} is not this machine's loopback")
    origin = find_foreign_origin(request.header_values(b"origin"), host)
    if origin is not None:
        raise _refused(f"a page of {origin!r} may not ask")
    if _has_body(request):
        found = read_media_type(request.header(b"content-type"))
        if not found or found in FORM_TYPES:
            raise unsupported_media_type(
                "a server without TLS takes bodies with a Content-Type such as application/json"
                " only"
            )


def _has_body(request: Request) -> bool:
    announced = request.header(b"content-length")
    return announced not in ("", "0") or bool(request.header(b"transfer-encoding"))


def _refused(why: str) -> StatusError:
    return forbidden_path(
        f"{why}; a server without TLS takes requests to localhost, 127.0.0.1 or [::1] only: leave"
        " out --plain to serve others"
    )
