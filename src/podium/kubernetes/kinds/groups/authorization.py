"""The kinds of the group `authorization.k8s.io`: questions, of which nothing is stored."""

from typing import Final

from podium.kubernetes.kinds.record import Kind

_GROUP: Final = "authorization.k8s.io"
_CREATE: Final = ("create",)

KINDS: Final = (
    Kind(_GROUP, "LocalSubjectAccessReview", "localsubjectaccessreviews", verbs=_CREATE),
    Kind(
        _GROUP,
        "SelfSubjectAccessReview",
        "selfsubjectaccessreviews",
        namespaced=False,
        verbs=_CREATE,
    ),
    Kind(
        _GROUP, "SelfSubjectRulesReview", "selfsubjectrulesreviews", namespaced=False, verbs=_CREATE
    ),
    Kind(_GROUP, "SubjectAccessReview", "subjectaccessreviews", namespaced=False, verbs=_CREATE),
)
