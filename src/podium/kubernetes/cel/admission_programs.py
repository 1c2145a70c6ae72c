"""The expressions of a policy as programs, and the variables that they see.

`object`, `oldObject` and `params` are of any type; `request` and `namespaceObject` have fields;
`authorizer` answers what the user may do, to everything but the expressions of messages;
`variables` has those that the policy defines, each of which may speak of those before it and is
worked out when it is first asked for. What changes objects can make objects.

Expressions of patches have one function of their own, `jsonpatch.escapeKey`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.cel import CompileError, types
from podium.kubernetes.cel.environment import RULE_FUNCTIONS, Environment, Program
from podium.kubernetes.cel.functions.authorization import AUTHORIZATION, AUTHORIZER, RESOURCE_CHECK
from podium.kubernetes.cel.library import Functions, reading_cost
from podium.kubernetes.cel.structs import find_patch_type, no_structs
from podium.kubernetes.cel.types import Type

JSON_PATCHES = Functions()


@JSON_PATCHES.define("jsonpatch.escapeKey(string) -> string", cost=reading_cost)
def _escape_key(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


_TEXTS: Final = types.list_of(types.STRING)
_TEXT_MAP: Final = types.map_of(types.STRING, types.STRING)
_GROUP_VERSION_KIND: Final = types.object_type("kubernetes.GroupVersionKind")
_GROUP_VERSION_RESOURCE: Final = types.object_type("kubernetes.GroupVersionResource")
_USER: Final = types.object_type("kubernetes.UserInfo")
_REQUEST: Final = types.object_type("kubernetes.AdmissionRequest")
_NAMESPACE: Final = types.object_type("kubernetes.Namespace")
_NAMESPACE_METADATA: Final = types.object_type("kubernetes.NamespaceMetadata")
_NAMESPACE_SPEC: Final = types.object_type("kubernetes.NamespaceSpec")
_NAMESPACE_STATUS: Final = types.object_type("kubernetes.NamespaceStatus")
_NAMESPACE_CONDITION: Final = types.object_type("kubernetes.NamespaceCondition")
_VARIABLES: Final = types.object_type("kubernetes.variables")

_FUNCTIONS: Final = Functions(RULE_FUNCTIONS, AUTHORIZATION)
_PATCH_FUNCTIONS: Final = Functions(_FUNCTIONS, JSON_PATCHES)
_FIELDS: Final[Mapping[Type, Mapping[str, Type]]] = {
    AUTHORIZER: {"requestResource": RESOURCE_CHECK},
    _GROUP_VERSION_KIND: dict.fromkeys(("group", "version", "kind"), types.STRING),
    _GROUP_VERSION_RESOURCE: dict.fromkeys(("group", "version", "resource"), types.STRING),
    _USER: {
        "username": types.STRING,
        "uid": types.STRING,
        "groups": _TEXTS,
        "extra": types.map_of(types.STRING, _TEXTS),
    },
    _REQUEST: {
        "kind": _GROUP_VERSION_KIND,
        "resource": _GROUP_VERSION_RESOURCE,
        "subResource": types.STRING,
        "requestKind": _GROUP_VERSION_KIND,
        "requestResource": _GROUP_VERSION_RESOURCE,
        "requestSubResource": types.STRING,
        "name": types.STRING,
        "namespace": types.STRING,
        "operation": types.STRING,
        "userInfo": _USER,
        "dryRun": types.BOOL,
        "options": types.DYN,
    },
    _NAMESPACE: {
        "metadata": _NAMESPACE_METADATA,
        "spec": _NAMESPACE_SPEC,
        "status": _NAMESPACE_STATUS,
    },
    _NAMESPACE_METADATA: {
        **dict.fromkeys(
            ("name", "generateName", "namespace", "UID", "resourceVersion"), types.STRING
        ),
        "labels": _TEXT_MAP,
        "annotations": _TEXT_MAP,
        "creationTimestamp": types.TIMESTAMP,
        "deletionTimestamp": types.TIMESTAMP,
        "deletionGracePeriodSeconds": types.INT,
        "generation": types.INT,
        "finalizers": _TEXTS,
    },
    _NAMESPACE_SPEC: {"finalizers": _TEXTS},
    _NAMESPACE_STATUS: {"conditions": types.list_of(_NAMESPACE_CONDITION), "phase": types.STRING},
    _NAMESPACE_CONDITION: {
        **dict.fromkeys(("status", "type", "message", "reason"), types.STRING),
        "lastTransitionTime": types.TIMESTAMP,
    },
}
BOOL: Final = (types.BOOL,)
TEXT: Final = (types.STRING,)
TEXT_OR_NULL: Final = (types.STRING, types.NULL)
_SHOWN: Final = {types.NULL: "null_type"}


class WrongResult(Exception):
    """An expression compiles, but its value is of another type than is requested."""


@dataclass(slots=True)
class Programs:
    """Compiles the expressions of one policy; variables first, in their order."""

    has_params: bool
    variables: dict[str, Type]
    always_has_variables: bool = False
    """Whether `variables` is there even when there are none."""

    @classmethod
    def of(cls, spec: JsonObject, *, always_has_variables: bool = False) -> "Programs":
        return cls(spec.get("paramKind") is not None, {}, always_has_variables)

    def add_variable(self, name: str, source: str) -> Program:
        """Raises CompileError; then the variable is of any type."""
        try:
            program = self._environment(with_variables=True).compile(source)
        except CompileError:
            self.variables[name] = types.DYN
            raise
        self.variables[name] = program.result
        return program

    def compile(
        self,
        source: str,
        results: tuple[Type, ...],
        *,
        with_variables: bool = True,
        with_authorizer: bool = True,
        with_patch_types: bool = False,
    ) -> Program:
        """Raises CompileError or WrongResult."""
        environment = self._environment(
            with_variables=with_variables,
            with_authorizer=with_authorizer,
            with_patch_types=with_patch_types,
        )
        program = environment.compile(source)
        if program.result not in results:
            raise WrongResult(_wrong(program.result, results))
        return program

    def _environment(
        self,
        *,
        with_variables: bool,
        with_authorizer: bool = True,
        with_patch_types: bool = False,
    ) -> Environment:
        names = {
            "object": types.DYN,
            "oldObject": types.DYN,
            "request": _REQUEST,
            "namespaceObject": _NAMESPACE,
            "params": types.DYN,
            "variables": _VARIABLES,
            "authorizer": AUTHORIZER,
        }
        if not with_authorizer:
            del names["authorizer"]
        if not self.has_params:
            del names["params"]
        if not with_variables or not (self.variables or self.always_has_variables):
            del names["variables"]
        return Environment(
            names,
            {**_FIELDS, _VARIABLES: self.variables},
            _PATCH_FUNCTIONS if with_patch_types else _FUNCTIONS,
            structs=find_patch_type if with_patch_types else no_structs,
            is_metered=True,
            has_bindings=False,
        )


def _wrong(found: Type, wanted: tuple[Type, ...]) -> str:
    shown = [_SHOWN.get(each, str(each)) for each in wanted]
    told = shown[0] if len(shown) == 1 else f"one of [{' '.join(shown)}]"
    return f"must evaluate to {told} but got {_SHOWN.get(found, found)}"


def problem_of(programs: Programs, source: str, results: tuple[Type, ...], **how: bool) -> str:
    """What is wrong with an expression, as validation tells it; empty if nothing is."""
    try:
        programs.compile(source, results, **how)
    except CompileError as problem:
        return f"compilation failed: {problem}"
    except WrongResult as problem:
        return str(problem)
    return ""
