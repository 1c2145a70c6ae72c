"""The generator draws what Go's `math/rand` draws; the numbers are from programs in Go."""

from podium.golang.math_rand import GoRandom


def test_values_are_those_of_go() -> None:
    random = GoRandom(42)
    assert random.int63() == 3440579354231278675
    assert [random.below(10), random.below(8), random.below(7)] == [7, 4, 1]


def test_shuffles_and_permutations_are_those_of_go() -> None:
    random = GoRandom(42)
    for _ in range(4):
        random.int63()
    items = list(range(10))
    random.shuffle(items)
    assert items == [1, 4, 9, 5, 8, 7, 2, 6, 3, 0]
    assert random.permutation(8) == [3, 4, 7, 2, 0, 6, 5, 1]


def test_the_generator_goes_around_its_array() -> None:
    random = GoRandom(42)
    for _ in range(4 + 9 + 8 + 2000):
        random.int63()
    assert [random.int63(), random.below(2**31 - 2)] == [462938181167165811, 1958225070]


def test_seed_0_is_a_seed_of_its_own() -> None:
    assert GoRandom(0).int63() == 8717895732742165505
