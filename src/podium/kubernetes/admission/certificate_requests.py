"""Who may not be certified: nobody becomes a member of `system:masters` by a certificate.

The rule of kube-apiserver's plugin CertificateSubjectRestriction; members of that group pass every
authorisation, and a certificate cannot be taken back.
"""

import base64
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import Resource

_SIGNER: Final = "kubernetes.io/kube-apiserver-client"
_MASTERS: Final = "system:masters"


def refuse_masters(resource: Resource, request: JsonObject) -> None:
    """Refuse a new request of a client's certificate for that group; it is known to be readable."""
    spec = request["spec"]
    if spec.get("signerName") != _SIGNER:
        return
    # Only here: reading certificates is a large part of a library.
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    name = request["metadata"]["name"]
    try:
        parsed = x509.load_pem_x509_csr(base64.b64decode(spec.get("request") or ""))
        groups = parsed.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    except ValueError as problem:
        told = f"failed to parse CSR: {problem}"
        raise status_errors.forbidden(resource, name, told) from None
    if any(group.value == _MASTERS for group in groups):
        told = f"use of {_SIGNER} signer with {_MASTERS} group is not allowed"
        raise status_errors.forbidden(resource, name, told)
