"""TLS towards services that objects name: whom to trust is in the object, too."""

import ssl
from functools import lru_cache
from typing import Final

from podium.extenders.tls import client_context, trust

_MAX_CONTEXTS: Final = 64


@lru_cache(maxsize=_MAX_CONTEXTS)
def trusting_context(bundle: bytes, name: str, *, verifies: bool = True) -> ssl.SSLContext:
    """Trusts the bundle, or what the system trusts; `name` keeps servers of two names apart.

    Raises Unbuildable. Without `verifies` everybody is trusted.
    """
    del name
    context = client_context()
    if not verifies:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif bundle:
        trust(context, bundle)
    else:
        context.load_default_certs()
    return context
