"""The cost of a checked tree: what its nodes cost, and how often loops may turn.

Upstream expands macros into folds before it counts. Here they are nodes of their own, so each has
a formula that says what its fold would have cost; the parts are named where they are added up.
Only the most that something may cost is kept: nothing depends on the least.
"""

from typing import Final, NamedTuple

from podium.kubernetes.cel.checker import Checker
from podium.kubernetes.cel.costs.calls import Called, Operand, cost_of_call, sort_list
from podium.kubernetes.cel.costs.sizes import (
    FOLD_COSTS,
    INDICES,
    ITEMS,
    KEYS,
    LIST_BASE,
    MAP_BASE,
    ONE,
    STRUCT_BASE,
    UNKNOWN,
    VALUES,
    Size,
    SizeOfPath,
    fixed_size,
    saturated_product,
    saturated_sum,
)
from podium.kubernetes.cel.syntax import (
    BindExpr,
    CallExpr,
    Comprehension,
    Expr,
    IdentExpr,
    ListLiteral,
    LiteralExpr,
    MapLiteral,
    OptionalMap,
    SelectExpr,
    StructLiteral,
)
from podium.kubernetes.cel.types import Type

_EMPTY_LIST: Final = LIST_BASE
"""What binding a variable costs: upstream folds over nothing."""
_SCALARS: Final = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})


class _Entry(NamedTuple):
    """Sizes of what a list or map holds."""

    is_list: bool
    key: Size
    value: Size

    def union(self, other: "_Entry") -> "_Entry":
        return _Entry(self.is_list, self.key.union(other.key), self.value.union(other.value))


class _Local(NamedTuple):
    path: tuple[str, ...]
    size: Size | None
    entry: _Entry | None = None


def estimate_cost(tree: Expr, checker: Checker, size_of_path: SizeOfPath) -> int:
    """The most that an expression may cost."""
    return _Estimator(checker, size_of_path).cost(tree)


class _Estimator:
    def __init__(self, checker: Checker, size_of_path: SizeOfPath) -> None:
        self._checker = checker
        self._size_of_path = size_of_path
        self._paths: dict[int, tuple[str, ...]] = {}
        self._sizes: dict[int, Size] = {}
        self._entries: dict[int, _Entry] = {}
        self._locals: dict[str, list[_Local]] = {}

    def cost(self, node: Expr) -> int:
        match node:
            case LiteralExpr():
                return 0
            case IdentExpr():
                local = self._local(node)
                self._paths[id(node)] = local.path if local is not None else (node.name,)
                return 1
            case SelectExpr():
                return self._select(node)
            case CallExpr():
                return self._call(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case StructLiteral():
                return saturated_sum(STRUCT_BASE, *(self.cost(each.value) for each in node.fields))
            case Comprehension():
                return self._sort_by(node) if node.kind == "sortBy" else self._fold(node)
            case BindExpr():
                return self._bind(node)
            case OptionalMap():
                return self._optional_map(node)
            case _:
                raise AssertionError(f"unchecked node {node!r}")

    # --- what is known of a node --------------------------------------------------------------

    def _type(self, node: Expr) -> Type:
        return self._checker.type_of(node)

    def _local(self, node: Expr) -> _Local | None:
        found = self._locals.get(node.name) if isinstance(node, IdentExpr) else None
        return found[-1] if found else None

    def _path(self, node: Expr) -> tuple[str, ...]:
        local = self._local(node)
        return local.path if local is not None else self._paths.get(id(node), ())

    def _size(self, node: Expr) -> Size | None:
        found = self._sizes.get(id(node)) or _literal_size(node)
        if found is not None:
            return found
        path = self._path(node)
        found = self._size_of_path(path) if path else None
        if found is not None:
            self._sizes[id(node)] = found
            return found
        if _is_scalar(self._type(node)):
            return ONE
        local = self._local(node)
        return local.size if local is not None else None

    def _size_or_unknown(self, node: Expr) -> Size:
        return self._size(node) or UNKNOWN

    def _entry(self, node: Expr) -> _Entry | None:
        found = self._entries.get(id(node))
        if found is None:
            local = self._local(node)
            found = local.entry if local is not None else None
        return found

    def _keep(self, node: Expr, size: Size | None, entry: _Entry | None = None) -> None:
        if size is not None:
            self._sizes[id(node)] = size
        if entry is not None:
            self._entries[id(node)] = entry

    def _operand(self, node: Expr) -> Operand:
        return Operand(node, self._type(node), self._path(node), self._size(node))

    # --- nodes --------------------------------------------------------------------------------

    def _select(self, node: SelectExpr) -> int:
        if id(node) in self._checker.type_idents:
            return 1
        cost = self.cost(node.operand)
        if node.test:
            return cost
        if node.optional:
            return saturated_sum(cost, 1)
        self._paths[id(node)] = (*self._path(node.operand), node.field)
        target = self._type(node.operand)
        has_fields = target.kind == "map" or self._checker.has_fields(target)
        return saturated_sum(cost, 1) if has_fields else cost

    def _list(self, node: ListLiteral) -> int:
        costs = [self.cost(item) for item in node.elements]
        self._keep(node, None, _Entry(True, ONE, self._union(node.elements)))
        return saturated_sum(LIST_BASE, *costs)

    def _map(self, node: MapLiteral) -> int:
        costs = [self.cost(part) for entry in node.entries for part in entry]
        keys = self._union([key for key, _ in node.entries])
        self._keep(node, None, _Entry(False, keys, self._union([v for _, v in node.entries])))
        return saturated_sum(MAP_BASE, *costs)

    def _union(self, nodes: list[Expr]) -> Size:
        sizes = [self._size_or_unknown(node) for node in nodes] or [Size(0, 0)]
        return Size(min(size.min for size in sizes), max(size.max for size in sizes))

    def _call(self, node: CallExpr) -> int:
        costs = [self.cost(arg) for arg in node.args]
        target_cost = self.cost(node.target) if node.target is not None else 0
        match node.function:
            case "_&&_" | "_||_":
                return saturated_sum(*costs)
            case "dyn":
                self._keep(node, self._size(node.args[0]), self._entry(node.args[0]))
                return saturated_sum(1, *costs)
            case "_?_:_":
                return self._choice(node, costs)
        target = self._operand(node.target) if node.target is not None else None
        args = [self._operand(arg) for arg in node.args]
        most, size = 0, None
        for overload in self._checker.overloads[id(node)]:
            found = cost_of_call(Called(overload, target, args, self._size_of_path))
            most = max(most, found.cost)
            if found.size is not None:
                size = found.size if size is None else size.union(found.size)
            if node.function == "_+_":
                self._keep_added(node)
            elif node.function == "_[_]" and overload.params[0].kind in ("list", "map"):
                size = self._index(node, is_list=overload.params[0].kind == "list")
            if size is None:
                size = self._size(node)
        self._keep(node, size)
        return saturated_sum(most, target_cost, *costs)

    def _keep_added(self, node: CallExpr) -> None:
        left, right = self._entry(node.args[0]), self._entry(node.args[1])
        if left is not None and right is not None:
            self._entries[id(node)] = left.union(right)

    def _index(self, node: CallExpr, *, is_list: bool) -> Size | None:
        container = node.args[0]
        self._paths[id(node)] = (*self._path(container), ITEMS if is_list else VALUES)
        entry = self._entry(container)
        return entry.value if entry is not None else None

    def _choice(self, node: CallExpr, costs: list[int]) -> int:
        _, then, otherwise = node.args
        size = self._size_or_unknown(then).union(self._size_or_unknown(otherwise))
        first, second = self._entry(then), self._entry(otherwise)
        both = first.union(second) if first is not None and second is not None else None
        self._keep(node, size, both)
        return saturated_sum(costs[0], max(costs[1], costs[2]))

    # --- macros -------------------------------------------------------------------------------

    def _fold(self, node: Comprehension) -> int:
        over = self.cost(node.range)
        self._push_variables(node)
        condition = self.cost(node.condition) if node.condition is not None else 0
        body = self.cost(node.body) if node.body is not None else 0
        made = self._loop_size(node) if node.body is None else self._size_or_unknown(node.body)
        for name in node.names:
            self._locals[name].pop()
        count = self._size_or_unknown(node.range)
        match node.kind:
            case "all" | "exists" | "exists_one":
                self._keep(node, ONE)
            case "transformMap" | "transformMapEntry":
                self._keep(node, count)
            case _:
                self._keep(node, count, _Entry(True, ONE, Size(0, made.max)))
        fold = FOLD_COSTS[node.kind]
        turn = saturated_sum(fold.turn, fold.chosen, condition, body)
        return saturated_sum(over, fold.start, saturated_product(count.max, turn))

    def _loop_size(self, node: Comprehension) -> Size:
        variable = self._locals[node.names[0]][-1]
        found = self._size_of_path(variable.path) if variable.path else None
        over = self._type(node.range)
        if found is None and over.params and _is_scalar(over.params[0]):
            return ONE
        return found or variable.size or UNKNOWN

    def _push_variables(self, node: Comprehension) -> None:
        entry, path = self._entry(node.range), self._path(node.range)
        is_list = entry.is_list if entry is not None else self._type(node.range).kind == "list"
        key = entry.key if entry is not None else None
        value = entry.value if entry is not None else None
        if len(node.names) == 2:
            self._push(node.names[0], _Local((*path, INDICES if is_list else KEYS), key))
            self._push(node.names[1], _Local((*path, ITEMS if is_list else VALUES), value))
        elif is_list:
            self._push(node.names[0], _Local((*path, ITEMS), value))
        else:
            self._push(node.names[0], _Local((*path, KEYS), key))

    def _push(self, name: str, local: _Local) -> None:
        self._locals.setdefault(name, []).append(local)

    def _bind(self, node: BindExpr) -> int:
        value = self.cost(node.value)
        self._push(
            node.name,
            _Local(self._path(node.value), self._size(node.value), self._entry(node.value)),
        )
        body = self.cost(node.body)
        size, entry = self._size(node.body), self._entry(node.body)
        self._locals[node.name].pop()
        self._keep(node, size, entry)
        return saturated_sum(_EMPTY_LIST, value, body)

    def _optional_map(self, node: OptionalMap) -> int:
        """`t.hasValue() ? optional.of(bind(name, t.value(), body)) : optional.none()`."""
        target = self.cost(node.target)
        held = self._type(node.target)
        is_scalar = bool(held.params) and _is_scalar(held.params[0])
        self._push(node.name, _Local((), ONE if is_scalar else None))
        body = self.cost(node.body)
        self._locals[node.name].pop()
        self._keep(node, ONE if _is_scalar(self._type(node)) else UNKNOWN)
        bound = saturated_sum(_EMPTY_LIST, target, 1, body)
        return saturated_sum(target, 1, bound, 0 if node.flat else 1)

    def _sort_by(self, node: Comprehension) -> int:
        """`bind(input, range, input.sortByKeys(input.map(name, body)))`."""
        over = self.cost(node.range)
        self._push_variables(node)
        body = self.cost(node.body) if node.body is not None else 0
        kind = self._type(node.body).kind if node.body is not None else ""
        for name in node.names:
            self._locals[name].pop()
        count = self._size_or_unknown(node.range)
        fold = FOLD_COSTS[node.kind]
        turn = saturated_sum(fold.turn, fold.chosen, body)
        keys = saturated_sum(1, fold.start, saturated_product(count.max, turn))
        sorting = sort_list(count, "" if kind in _SCALARS else "string")
        self._keep(node, sorting.size)
        return saturated_sum(_EMPTY_LIST, over, 1, keys, sorting.cost)


def _literal_size(node: Expr) -> Size | None:
    match node:
        case LiteralExpr():
            return fixed_size(len(node.value)) if isinstance(node.value, str | bytes) else ONE
        case ListLiteral():
            return fixed_size(len(node.elements))
        case MapLiteral():
            return fixed_size(len(node.entries))
    return None


def _is_scalar(found: Type) -> bool:
    if found.kind == "optional":
        return _is_scalar(found.params[0])
    return found.kind in _SCALARS
