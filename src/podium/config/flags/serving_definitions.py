"""The flags of kube-scheduler 1.36 about its own endpoints: who listens, who may ask, and what.

Contract: names, types and defaults are upstream's
(`staging/src/k8s.io/apiserver/pkg/server/options` at v1.36.4).
"""

from typing import Final

from podium.golang.durations import Duration
from podium.config.flags.flag import Flag, Section
from podium.config.flags.kinds import BOOL, CERTIFICATES, DURATION, INT, INT32S, IP, STRING, STRINGS

_NO_HTTP2: Final = "Podium serves HTTP/1.1 only"
_TEN_SECONDS: Final = Duration.of_seconds(10)

SECURE_SERVING: Final = Section(
    "secure serving",
    (
        Flag(
            "bind-address",
            IP,
            "0.0.0.0",
            "Address to listen on for --secure-port; an unspecified one means all.",
        ),
        Flag("cert-dir", STRING, "", "Directory with kube-scheduler.crt and kube-scheduler.key."),
        Flag("disable-http2-serving", BOOL, False, "Serve no HTTP/2.", idle=_NO_HTTP2),
        Flag(
            "http2-max-streams-per-connection",
            INT,
            0,
            "Streams that a client may have on one HTTP/2 connection.",
            idle=_NO_HTTP2,
        ),
        Flag("permit-address-sharing", BOOL, False, "Bind with SO_REUSEADDR."),
        Flag("permit-port-sharing", BOOL, False, "Bind with SO_REUSEPORT."),
        Flag("secure-port", INT, 10259, "Port for HTTPS; 0 serves nothing."),
        Flag("tls-cert-file", STRING, "", "The server's certificate and its chain."),
        Flag(
            "tls-cipher-suites", STRINGS, (), "Cipher suites to offer, by their names in Go's tls."
        ),
        Flag(
            "tls-curve-preferences",
            INT32S,
            (),
            "Key exchanges to offer, by Go's numbers (CurveID).",
            idle="the TLS library chooses the key exchange",
        ),
        Flag(
            "tls-min-version",
            STRING,
            "",
            "Oldest TLS version to speak: VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13.",
        ),
        Flag("tls-private-key-file", STRING, "", "The private key for --tls-cert-file."),
        Flag(
            "tls-sni-cert-key",
            CERTIFICATES,
            (),
            "A certificate and its key for some host names: crt,key[:name,...]. May be repeated.",
        ),
    ),
)
AUTHENTICATION: Final = Section(
    "authentication",
    (
        Flag(
            "authentication-kubeconfig",
            STRING,
            "",
            "Kubeconfig for asking the API server about tokens; without it nobody's is checked.",
        ),
        Flag(
            "authentication-skip-lookup",
            BOOL,
            False,
            "Do not look up missing authentication settings in the cluster.",
        ),
        Flag(
            "authentication-token-webhook-cache-ttl",
            DURATION,
            _TEN_SECONDS,
            "How long an answer about a token counts.",
        ),
        Flag(
            "authentication-tolerate-lookup-failure",
            BOOL,
            True,
            "Go on when authentication settings cannot be looked up in the cluster.",
        ),
        Flag("client-ca-file", STRING, "", "Authorities for client certificates."),
        Flag(
            "requestheader-allowed-names",
            STRINGS,
            (),
            "Common names of client certificates that may pass on user names in headers.",
        ),
        Flag(
            "requestheader-client-ca-file",
            STRING,
            "",
            "Authorities for certificates of proxies that pass on user names.",
        ),
        Flag(
            "requestheader-extra-headers-prefix",
            STRINGS,
            ("x-remote-extra-",),
            "Prefixes of headers with further facts about the user.",
        ),
        Flag(
            "requestheader-group-headers",
            STRINGS,
            ("x-remote-group",),
            "Headers with the user's groups.",
        ),
        Flag("requestheader-uid-headers", STRINGS, (), "Headers with the user's UID."),
        Flag(
            "requestheader-username-headers",
            STRINGS,
            ("x-remote-user",),
            "Headers with the user's name.",
        ),
    ),
)
AUTHORIZATION: Final = Section(
    "authorization",
    (
        Flag(
            "authorization-always-allow-paths",
            STRINGS,
            ("/healthz", "/readyz", "/livez"),
            "Paths that everybody may get; a trailing * stands for anything.",
        ),
        Flag(
            "authorization-kubeconfig",
            STRING,
            "",
            "Kubeconfig for asking the API server about permissions.",
        ),
        Flag(
            "authorization-webhook-cache-authorized-ttl",
            DURATION,
            _TEN_SECONDS,
            "How long a permission counts.",
        ),
        Flag(
            "authorization-webhook-cache-unauthorized-ttl",
            DURATION,
            _TEN_SECONDS,
            "How long a refusal counts.",
        ),
    ),
)
