"""The kinds of the group `apiextensions.k8s.io`.

Definitions of custom resources are validated and given their defaults by the API server, which
reads the schemas in them.
"""

from typing import Final

from podium.kubernetes.kinds.record import Kind, WriteStrategy

KINDS: Final = (
    Kind(
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        ("crd", "crds"),
        description="A kind that users add to the server.",
        stored_in=("apiextensions.k8s.io", "v1beta1"),  # upstream: see admissionregistration
        namespaced=False,
        has_status=True,
        categories=("api-extensions",),
        strategy=WriteStrategy(counted=("spec",)),
    ),
)
