"""The packing rules as C, so that a policy is written once for the CPU and for GPUs.

`packing_rules.py` is read as text; what comes out is plain C but for the words of CUDA. Names have
the type of what is assigned first; a division of whole numbers is one of floats, `//` rounds down.
Contract: operations and their order are those of the Python text, and whatever it says beyond the
few words that are known here is an error that names the line.

Numba has a target for CUDA (numba-cuda 0.30.4), which compiles the same functions for a GPU. On an
H200 it placed 882 runs of six policies in 1.29 s, the kernel made from this text in 1.46 s with the
draws of the workload, so it is not slower. But 85 of these runs were not the same to the bit:
`cuda.jit` has no option that keeps multiplications and additions apart, and a fused one rounds once
where the CPU rounds twice. It also compiles for two to six seconds in each process, needs LLVM
beside the compiler that is there anyway, and cannot be imported with numpy 2.5. What is written
here gives all of 1,029 runs to the bit as the kernel did that was written by hand, in 1.52 s where
that took 1.48 s.

    def tag_of(milli: int, gpus: int) -> int:   __device__ static int tag_of(int milli, int gpus) {
        if gpus == 0:                               if (gpus == 0) {
            return 0                                    return 0;
"""

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

_PRELUDE: Final = """\
typedef long long i64;
typedef unsigned long long u64;
__device__ static inline int floor_div(int a, int b) {
    return a >= 0 ? a / b : -((b - 1 - a) / b);
}
__device__ static inline int max_int(int a, int b) { return a > b ? a : b; }
__device__ static inline double max_double(double a, double b) { return a > b ? a : b; }
"""
_TYPES: Final = {
    "int": "int",
    "float": "double",
    "Bits": "i64",
    "Ints": "const int *",
    "BitsColumn": "const i64 *",
    "Floats": "const double *",
    "OutInts": "int *",
    "OutSmallInts": "signed char *",
}
_ELEMENTS: Final = {
    "const int *": "int",
    "const i64 *": "i64",
    "const double *": "double",
    "int *": "int",
    "signed char *": "int",
}
_OPERATORS: Final[dict[type[ast.AST], str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.And: "&&",
    ast.Or: "||",
    ast.USub: "-",
    ast.Not: "!",
}


class UnknownWord(Exception):
    """The rules say something that has no counterpart here."""


class _Code(NamedTuple):
    text: str
    type: str


def cuda_rules(rules: str, constants: Mapping[str, int | float]) -> str:
    """The functions and tuples of a module as C; `constants` are the names that it imports."""
    module = ast.parse(rules)
    whole = [f"{name} = {value}" for name, value in constants.items() if isinstance(value, int)]
    parts = [_PRELUDE, f"enum {{ {', '.join(whole)} }};\n"]
    parts += [f"#define {n} {v!r}\n" for n, v in constants.items() if isinstance(v, float)]
    structs = {
        node.name: {field.target.id: field.annotation.id for field in _fields(node)}
        for node in module.body
        if isinstance(node, ast.ClassDef)
    }
    for name, fields in structs.items():
        lines = [f"    {_declare(_TYPES[kind], field)};" for field, kind in fields.items()]
        parts.append("\n".join(("typedef struct {", *lines, f"}} {name};\n")))
    functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
    results = {node.name: _result_type(node) for node in functions}
    writer = _Writer(structs, results, constants)
    parts += [writer.write_function(node) for node in functions]
    return "\n".join(parts)


class _Field(NamedTuple):
    target: ast.Name
    annotation: ast.Name


def _fields(node: ast.ClassDef) -> Iterable[_Field]:
    for line in node.body:
        if isinstance(line, ast.AnnAssign):
            assert isinstance(line.target, ast.Name)
            assert isinstance(line.annotation, ast.Name)
            yield _Field(line.target, line.annotation)


def _declare(kind: str, name: str) -> str:
    return f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}"


def _result_type(node: ast.FunctionDef) -> str:
    if not isinstance(node.returns, ast.Name):
        raise _unknown(node)
    return _TYPES[node.returns.id]


def _unknown(node: ast.AST) -> UnknownWord:
    line = getattr(node, "lineno", 0)
    said = ast.unparse(node).partition("\n")[0]
    return UnknownWord(f"line {line}: {said!r} has no counterpart in C")


class _Writer:
    def __init__(
        self,
        structs: Mapping[str, Mapping[str, str]],
        results: Mapping[str, str],
        constants: Mapping[str, int | float],
    ) -> None:
        self._structs = structs
        self._results = results
        self._constants = {
            name: "int" if isinstance(value, int) else "double" for name, value in constants.items()
        }
        self._types: dict[str, str] = {}
        self._declared: list[str] = []

    def write_function(self, node: ast.FunctionDef) -> str:
        self._types, self._declared = {}, []
        parameters = []
        for each in node.args.args:
            if not isinstance(each.annotation, ast.Name):
                raise _unknown(each)
            kind = each.annotation.id
            self._types[each.arg] = _TYPES.get(kind, f"const {kind} *")
            parameters.append(_declare(self._types[each.arg], each.arg))
        body = self._write_block(node.body, "    ")
        locals_ = [f"    {self._types[name]} {name} = 0;" for name in self._declared]
        head = f"__device__ static {_result_type(node)} {node.name}({', '.join(parameters)}) {{"
        return "\n".join((head, *locals_, *body, "}\n"))

    # --- statements -----------------------------------------------------------------------------

    def _write_block(self, body: Sequence[ast.stmt], indent: str) -> list[str]:
        return [indent + line for each in body for line in self._write(each)]

    def _write(self, node: ast.stmt) -> Iterable[str]:
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                return
            case ast.Assign(targets=targets, value=value):
                found = self._read(value)
                yield f"{' = '.join(self._target(each, found) for each in targets)} = {found.text};"
            case ast.AugAssign(target=target, op=op, value=value):
                yield f"{self._read(target).text} {_operator(op, node)}= {self._read(value).text};"
            case ast.Return(value=ast.expr() as value):
                yield f"return {self._read(value).text};"
            case ast.Continue():
                yield "continue;"
            case ast.If(test=test, body=body, orelse=orelse):
                yield f"if ({self._read(test).text}) {{"
                yield from self._write_block(body, "    ")
                if orelse:
                    yield "} else {"
                    yield from self._write_block(orelse, "    ")
                yield "}"
            case ast.While(test=test, body=body, orelse=[]):
                yield f"while ({self._read(test).text}) {{"
                yield from self._write_block(body, "    ")
                yield "}"
            case ast.For(
                target=ast.Name(id=name),
                iter=ast.Call(func=ast.Name(id="range"), args=[end]),
                body=body,
                orelse=[],
            ):
                self._target(node.target, _Code("0", "int"))
                yield f"for ({name} = 0; {name} < {self._read(end).text}; {name}++) {{"
                yield from self._write_block(body, "    ")
                yield "}"
            case _:
                raise _unknown(node)

    def _target(self, node: ast.expr, value: _Code) -> str:
        if isinstance(node, ast.Name) and node.id not in self._types:
            self._types[node.id] = value.type
            self._declared.append(node.id)
        return self._read(node).text

    # --- expressions ----------------------------------------------------------------------------

    def _read(self, node: ast.expr) -> _Code:
        match node:
            case ast.Constant(value=int() | float() as value):
                return _Code(repr(value), "double" if isinstance(value, float) else "int")
            case ast.Name(id=name) if name in self._types:
                return _Code(name, self._types[name])
            case ast.Name(id=name) if name in self._constants:
                return _Code(name, self._constants[name])
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                fields = self._structs[self._types[owner].removeprefix("const ").removesuffix(" *")]
                return _Code(f"{owner}->{name}", _TYPES[fields[name]])
            case ast.Subscript(value=column, slice=index):
                found = self._read(column)
                return _Code(f"{found.text}[{self._read(index).text}]", _ELEMENTS[found.type])
            case ast.BinOp(left=left, op=op, right=right):
                return self._join(self._read(left), op, self._read(right), node)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                compared = self._join(self._read(left), op, self._read(right), node)
                return _Code(compared.text, "int")
            case ast.BoolOp(op=op, values=values):
                words = f" {_operator(op, node)} ".join(self._read(each).text for each in values)
                return _Code(f"({words})", "int")
            case ast.UnaryOp(op=op, operand=operand):
                found = self._read(operand)
                return _Code(f"({_operator(op, node)}{found.text})", found.type)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                yes, no = self._read(body), self._read(orelse)
                text = f"({self._read(test).text} ? {yes.text} : {no.text})"
                return _Code(text, _wider(yes, no))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._call(name, [self._read(each) for each in arguments], node)
        raise _unknown(node)

    def _join(self, left: _Code, op: ast.AST, right: _Code, node: ast.expr) -> _Code:
        kind = _wider(left, right)
        if isinstance(op, ast.Div):
            return _Code(f"((double){left.text} / (double){right.text})", "double")
        if isinstance(op, ast.FloorDiv) and kind == "int":
            return _Code(f"floor_div({left.text}, {right.text})", "int")
        return _Code(f"({left.text} {_operator(op, node)} {right.text})", kind)

    def _call(self, name: str, arguments: Sequence[_Code], node: ast.expr) -> _Code:
        words = ", ".join(each.text for each in arguments)
        if name == "int" and len(arguments) == 1:
            return _Code(f"(int){words}", "int")
        if name == "max" and len(arguments) == 2:
            kind = _wider(*arguments)
            return _Code(f"max_{kind}({words})", kind)
        if name not in self._results:
            raise _unknown(node)
        return _Code(f"{name}({words})", self._results[name])


def _operator(op: ast.AST, node: ast.AST) -> str:
    found = _OPERATORS.get(type(op))
    if found is None:
        raise _unknown(node)
    return found


def _wider(left: _Code, right: _Code) -> str:
    kinds = {left.type, right.type}
    return next((kind for kind in ("double", "i64") if kind in kinds), "int")
