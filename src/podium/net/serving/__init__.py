"""A web server that strangers may connect to: what every listener of Podium is made of.

    limits           how much of everything a client may take
    server           a socket to listen on, connections, TLS; start, serve, stop
    protocol         HTTP/1.1 on one connection; its parts: head_buffer, response_cycle
    asgi             what an application reads: bodies, and the parameters of a query
    loop_calls       how an application asks the event loop of another thread

Knows nothing of Kubernetes: what is asked and who may ask is the application's business.
"""

from podium.net.serving.asgi import (
    BadQuery,
    BodyTooLarge,
    ClientGone,
    Message,
    Receive,
    Scope,
    Send,
    parse_query,
    read_body,
)
from podium.net.serving.limits import Limits
from podium.net.serving.server import WebServer, bind_listener, listen, run_until_signal

__all__ = [
    "BadQuery",
    "BodyTooLarge",
    "ClientGone",
    "Limits",
    "Message",
    "Receive",
    "Scope",
    "Send",
    "WebServer",
    "bind_listener",
    "listen",
    "parse_query",
    "read_body",
    "run_until_signal",
]
