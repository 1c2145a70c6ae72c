"""The kinds of the group `authentication.k8s.io`: questions, of which nothing is stored."""

from typing import Final

from podium.kubernetes.kinds.record import Kind

_GROUP: Final = "authentication.k8s.io"

KINDS: Final = (
    Kind(_GROUP, "SelfSubjectReview", "selfsubjectreviews", namespaced=False, verbs=("create",)),
    Kind(_GROUP, "TokenReview", "tokenreviews", namespaced=False, verbs=("create",)),
)
