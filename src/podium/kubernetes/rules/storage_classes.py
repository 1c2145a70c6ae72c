"""The class of claims that name none (`plugin/pkg/admission/storage/storageclass/setdefault`)."""

from collections.abc import Iterable
from typing import Final

from podium.kubernetes.kinds.meta import ObjectMeta

CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
"""The older way in which a claim names its class."""
DEFAULT_CLASS_MARKS: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


def default_storage_class(classes: Iterable[ObjectMeta]) -> str:
    """The name of the default class, from the metadata of all; empty if there is none.

    upstream: of several default classes the newest counts, then the first by name.
    """
    defaults = [
        each
        for each in classes
        if any(each.annotation(mark) == "true" for mark in DEFAULT_CLASS_MARKS)
    ]
    newest = max((each.creation_timestamp or "" for each in defaults), default="")
    names = (each.name for each in defaults if (each.creation_timestamp or "") == newest)
    return min(names, default="")
