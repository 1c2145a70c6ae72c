"""Integer programs: objectives in turn, bounds, and what cannot be solved."""

from podium.offline.optimum.integer_program import IntegerProgram, Objective


def test_later_objectives_choose_among_what_earlier_ones_leave() -> None:
    program = IntegerProgram()
    x, y = program.add_variable(5), program.add_variable(5)
    program.add_row({x: 2.0, y: 3.0}, at_most=12)

    solution = program.solve([Objective("both", {x: 1.0, y: 1.0}), Objective("y", {y: 1.0})], 10.0)

    assert solution.values == (3.0, 2.0)
    assert [(stage.value, stage.bound) for stage in solution.stages] == [(5.0, 5.0), (2.0, 2.0)]
    assert solution.is_proven


def test_a_flag_is_up_where_something_is_there() -> None:
    program = IntegerProgram()
    x = program.add_variable(3)
    flag = program.indicate({x: 1.0})
    program.add_row({x: 1.0}, at_least=2)

    solution = program.solve([Objective("flag", {flag: 1.0}, is_maximised=False)], 10.0)

    assert solution.values is not None
    assert solution.values[flag] == 1


def test_what_has_no_solution_says_so() -> None:
    program = IntegerProgram()
    x = program.add_variable(1)
    program.add_row({x: 1.0}, at_least=2)

    solution = program.solve([Objective("x", {x: 1.0})], 10.0)

    assert solution.values is None
    assert solution.is_infeasible


def test_a_program_of_nothing_is_solved() -> None:
    solution = IntegerProgram().solve([Objective("nothing", {})], 10.0)

    assert solution.values == ()
    assert solution.is_proven
