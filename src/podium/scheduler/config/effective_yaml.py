"""An effective configuration as YAML, the same in files, in the log and on screens.

Text is quoted wherever a reader of Kubernetes' YAML would take it for something else, and keys are
sorted, as kube-scheduler writes them.
"""

from collections.abc import Mapping
from typing import Any

import yaml

from podium.golang.printable_documents import dump_yaml
from podium.golang.yaml_scalars import ScalarError, plain


def effective_yaml(document: Mapping[str, Any]) -> str:
    return dump_yaml(document, _Dumper, sort_keys=True)


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes text in quotes wherever a reader of Kubernetes' YAML would take it for more."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _represent_text(dumper: Any, text: str) -> Any:
    try:
        is_text = plain(text) == text and isinstance(plain(text), str)
    except ScalarError:
        is_text = False
    style = None if is_text and text != "<<" and text.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)
