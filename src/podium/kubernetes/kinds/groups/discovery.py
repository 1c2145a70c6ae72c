"""The kinds of the group `discovery.k8s.io`."""

from typing import Final

from podium.kubernetes.defaulting.core import set_endpoint_slice_defaults
from podium.kubernetes.kinds.record import Kind, Validation, Warnings, WriteStrategy
from podium.kubernetes.tables.cluster import ENDPOINT_SLICE
from podium.kubernetes.validation import endpoints
from podium.kubernetes.warnings.networking import about_endpoint_slice

KINDS: Final = (
    Kind(
        "discovery.k8s.io",
        "EndpointSlice",
        "endpointslices",
        description="Addresses behind a service.",
        defaults=set_endpoint_slice_defaults,
        validation=Validation(endpoints.slice_create_errors, endpoints.slice_update_errors),
        strategy=WriteStrategy(
            counted=("addressType", "endpoints", "ports", "labels"), null_list=("endpoints",)
        ),
        printer=ENDPOINT_SLICE,
        warnings=Warnings(create=about_endpoint_slice),
    ),
)
