"""Integer programs and their solution by HiGHS, with one seed, one thread and a limit of time.

A program is rows of whole-number or continuous variables; an `Expression` is a sum of them. Several
objectives are solved one after the other, each within what the ones before have found. Contract:
the same program gives the same answer unless the time limit is hit, which the answer says. HiGHS
measures the time itself, over all solutions of one program.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from podium.golang.errors import InputError

if TYPE_CHECKING:
    import highspy

INSTALL: Final = "pip install 'podium[optimum]'"
_SLACK: Final = 1e-6
"""How far a value of HiGHS may be from a whole number."""

Expression = Mapping[int, float]
"""Variable -> its coefficient."""


def require_solver() -> Any:
    """The module of HiGHS; raises InputError where it is not installed."""
    try:
        import highspy
    except ImportError:
        raise InputError("the solver HiGHS is not installed", remedy=INSTALL) from None
    return highspy


def add_up(terms: Iterable[tuple[int, float]]) -> dict[int, float]:
    """A sum in which variables may come several times."""
    found: dict[int, float] = {}
    for variable, coefficient in terms:
        found[variable] = found.get(variable, 0) + coefficient
    return found


@dataclass(frozen=True, slots=True)
class Objective:
    """What is made as large as possible, or as small."""

    name: str
    expression: Expression
    is_maximised: bool = True


@dataclass(frozen=True, slots=True)
class ObjectiveStage:
    """What came of one objective; `bound` is what no solution can better."""

    name: str
    is_maximised: bool
    value: float
    bound: float
    is_proven: bool


@dataclass(frozen=True, slots=True)
class Solution:
    """Values of all variables, whole where they have to be; None if there is no solution or none
    was found in time (`is_infeasible` tells which)."""

    values: tuple[float, ...] | None
    stages: tuple[ObjectiveStage, ...]
    timed_out: bool
    is_infeasible: bool = False

    @property
    def is_proven(self) -> bool:
        return self.values is not None and all(stage.is_proven for stage in self.stages)


@dataclass(slots=True)
class IntegerProgram:
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    rows: list[tuple[Expression, float, float]] = field(default_factory=list)
    spent_s: float = 0.0

    def add_variable(self, upper: float, *, lower: float = 0.0, whole: bool = True) -> int:
        self.lower.append(lower)
        self.upper.append(upper)
        self.whole.append(whole)
        return len(self.lower) - 1

    def add_row(
        self, expression: Expression, *, at_least: float = -math.inf, at_most: float = math.inf
    ) -> None:
        self.rows.append((expression, at_least, at_most))

    def highest(self, expression: Expression) -> float:
        """No more than this can a sum be by the bounds of its variables alone."""
        return math.fsum(
            factor * (self.upper[variable] if factor > 0 else self.lower[variable])
            for variable, factor in expression.items()
        )

    def indicate(self, expression: Expression) -> int:
        """A variable that is 1 wherever a sum of counts is above 0."""
        flag = self.add_variable(1)
        self.add_row(add_up([*expression.items(), (flag, -self.highest(expression))]), at_most=0)
        return flag

    def solve(
        self, objectives: Iterable[Objective], time_limit_s: float, start: Expression | None = None
    ) -> Solution:
        """One objective after the other. `start` is a solution that is known, by variable."""
        if not self.lower:  # HiGHS has a status of its own for nothing
            nothing = (
                ObjectiveStage(each.name, each.is_maximised, 0.0, 0.0, True) for each in objectives
            )
            return Solution((), tuple(nothing), timed_out=False)
        highs = self._load()
        stages: list[ObjectiveStage] = []
        values: tuple[float, ...] | None = None
        timed_out = False
        known = start
        for objective in objectives:
            left = time_limit_s - self.spent_s
            if left <= 0:
                timed_out = True
                break
            found = self._solve_one(highs, objective, left, known)
            if found.values is None:
                return Solution(values, tuple(stages), found.timed_out, found.is_infeasible)
            values = found.values
            known = dict(enumerate(values))
            (stage,) = found.stages
            stages.append(stage)
            timed_out |= found.timed_out
            self._keep(highs, objective, stage.value)
        return Solution(values, tuple(stages), timed_out)

    def _solve_one(
        self, highs: "highspy.Highs", objective: Objective, left_s: float, known: Expression | None
    ) -> Solution:
        module = require_solver()
        size = len(self.lower)
        costs = np.zeros(size)
        for variable, factor in objective.expression.items():
            costs[variable] = factor
        highs.changeColsCost(size, np.arange(size, dtype=np.int32), costs)
        sense = module.ObjSense.kMaximize if objective.is_maximised else module.ObjSense.kMinimize
        highs.changeObjectiveSense(sense)
        before = highs.getRunTime()
        highs.setOptionValue("time_limit", before + left_s)
        if known is not None:
            self._start_from(highs, known)
        highs.run()
        self.spent_s += highs.getRunTime() - before
        status = highs.getModelStatus()
        if status == module.HighsModelStatus.kInfeasible:
            return Solution(None, (), timed_out=False, is_infeasible=True)
        info = highs.getInfo()
        is_optimal = status == module.HighsModelStatus.kOptimal
        if info.primal_solution_status != module.SolutionStatus.kSolutionStatusFeasible:
            return Solution(None, (), timed_out=not is_optimal)
        values = self._round(highs.getSolution().col_value)
        value = math.fsum(factor * values[at] for at, factor in objective.expression.items())
        bound = value if is_optimal else self._bound(info, objective, value)
        stage = ObjectiveStage(objective.name, objective.is_maximised, value, bound, is_optimal)
        return Solution(values, (stage,), timed_out=not is_optimal)

    def _bound(self, info: Any, objective: Objective, value: float) -> float:
        """What is proven of a search that was not finished."""
        bound = float(info.mip_dual_bound) if any(self.whole) else math.inf
        if not math.isfinite(bound):
            factors = objective.expression
            if not objective.is_maximised:
                factors = {at: -factor for at, factor in factors.items()}
            bound = self.highest(factors) * (1 if objective.is_maximised else -1)
        if objective.is_maximised:
            return max(bound, value)
        return min(bound, value)

    def _keep(self, highs: "highspy.Highs", objective: Objective, value: float) -> None:
        """Later objectives leave an earlier one as good as it is."""
        expression = {at: factor for at, factor in objective.expression.items() if factor}
        if not expression:
            return
        slack = _SLACK * max(1.0, abs(value))
        lowest, highest = (
            (value - slack, math.inf) if objective.is_maximised else (-math.inf, value + slack)
        )
        _add_row(highs, expression, lowest, highest)

    def _start_from(self, highs: "highspy.Highs", known: Expression) -> None:
        indices = np.array(list(known), dtype=np.int32)
        highs.setSolution(len(indices), indices, np.array(list(known.values()), dtype=np.double))

    def _round(self, found: Iterable[float]) -> tuple[float, ...]:
        return tuple(
            float(round(value)) if whole else value
            for value, whole in zip(found, self.whole, strict=True)
        )

    def _load(self) -> "highspy.Highs":
        module = require_solver()
        highs: highspy.Highs = module.Highs()
        for option, value in (
            ("output_flag", False),
            ("random_seed", 0),
            ("threads", 1),
            ("mip_rel_gap", 0.0),
            ("mip_abs_gap", 1e-9),
        ):
            highs.setOptionValue(option, value)
        model = module.HighsLp()
        model.num_col_ = len(self.lower)
        model.num_row_ = len(self.rows)
        model.col_cost_ = np.zeros(len(self.lower))
        model.col_lower_ = np.array(self.lower, dtype=np.double)
        model.col_upper_ = np.array(self.upper, dtype=np.double)
        model.row_lower_ = np.array([row[1] for row in self.rows], dtype=np.double)
        model.row_upper_ = np.array([row[2] for row in self.rows], dtype=np.double)
        starts, indices, factors = [0], list[int](), list[float]()
        for expression, _, _ in self.rows:
            indices.extend(expression)
            factors.extend(expression.values())
            starts.append(len(indices))
        model.a_matrix_.format_ = module.MatrixFormat.kRowwise
        model.a_matrix_.start_ = np.array(starts, dtype=np.int32)
        model.a_matrix_.index_ = np.array(indices, dtype=np.int32)
        model.a_matrix_.value_ = np.array(factors, dtype=np.double)
        kinds = (module.HighsVarType.kContinuous, module.HighsVarType.kInteger)
        model.integrality_ = [kinds[whole] for whole in self.whole] if any(self.whole) else []
        highs.passModel(model)
        return highs


def _add_row(highs: "highspy.Highs", expression: Expression, low: float, high: float) -> None:
    indices = np.array(list(expression), dtype=np.int32)
    values = np.array(list(expression.values()), dtype=np.double)
    highs.addRow(low, high, len(indices), indices, values)
