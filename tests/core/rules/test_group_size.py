"""The group sizes of the sort mechanism: the paper's table, and ours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsort_geo.core.rules.group_size import (
    PAPER_EPSILON,
    PAPER_GROUP_SIZE,
    PAPER_N,
    default_group_size,
    paper_group_size,
)

counts = st.integers(1, 10**8)
epsilons = st.floats(0.01, 10)


def test_the_paper_group_size_is_the_printed_table():
    # the paper's Table 1, copied once more from its source
    printed = """
        44 29 20 12
        59 37 27 18
        79 51 36 27
        121 83 61 41
        234 150 98 73
    """
    table = tuple(tuple(map(int, line.split())) for line in printed.strip().splitlines())
    assert table == PAPER_GROUP_SIZE
    for n, row in zip((2_000, 5_000, 10_000, 20_000, 100_000), table):
        assert tuple(paper_group_size(n, e) for e in (0.5, 1, 2, 3)) == row


def test_between_the_entries_the_paper_group_size_lies_between_them():
    for n, low, high in zip((3_000, 7_000, 15_000, 50_000), PAPER_N, PAPER_N[1:]):
        for epsilon in PAPER_EPSILON:
            around = paper_group_size(low, epsilon), paper_group_size(high, epsilon)
            assert around[0] < paper_group_size(n, epsilon) < around[1]
    # beyond them it goes on with the powers of the recipe
    assert paper_group_size(800_000, 0.5) == pytest.approx(2 * 234, abs=1)
    assert paper_group_size(2_000, 0.5 / 8) == pytest.approx(4 * 44, abs=1)


@given(counts, epsilons)
def test_group_sizes_are_between_one_and_n(n, epsilon):
    for size in (paper_group_size, default_group_size):
        assert 1 <= size(n, epsilon) <= n


def test_the_default_group_size_is_larger_than_the_papers():
    for n in PAPER_N:
        for epsilon in PAPER_EPSILON:
            assert default_group_size(n, epsilon) > paper_group_size(n, epsilon)
