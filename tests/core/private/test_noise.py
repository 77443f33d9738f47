"""The noise has exactly the law it claims. False-alarm rate of each statistical test: 1e-6."""

from __future__ import annotations

import ast
import inspect
import math
import os
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.private import entropy, noise
from dpsort_geo.core.private.noise import discrete_laplace, discrete_laplace_reference

FALSE_ALARM = 1e-6


def exact_bins(scale, parts=20):
    """Edges that cut the law into about 2 parts + 1 bins, and the exact chance of each bin."""
    ratio = math.exp(-1 / scale)
    edges = {max(1, math.ceil(-scale * math.log1p(-part / parts))) for part in range(1, parts)}
    edges = sorted(edges)
    beyond = np.array([ratio**edge for edge in edges] + [0.0]) / (1 + ratio)
    side = beyond[:-1] - beyond[1:]
    centre = 1 - 2 * beyond[0]
    return np.array(edges), np.concatenate([side[::-1], [centre], side])


def p_value(draws, scale):
    edges, chance = exact_bins(scale)
    signed = np.concatenate([1 - edges[::-1], edges])
    seen = np.bincount(np.searchsorted(signed, draws, side="right"), minlength=chance.size)
    assert chance.size == 2 * edges.size + 1
    assert (chance * len(draws)).min() > 5
    return stats.chisquare(seen, chance * len(draws)).pvalue


SCALES = [
    (1, 3),
    (1, 1),
    (2, 1),
    (5, 2),
    (40, 3),
    (1000, 1),
    (2**21 + 1, 1),
    (2**50 - 1, 2**29 + 1),
]


@pytest.mark.parametrize("t, s", SCALES)
def test_draws_follow_the_exact_law_and_a_scale_five_percent_off_is_noticed(t, s):
    draws = discrete_laplace(t, s, size=200_000)
    assert draws.dtype == np.int64
    assert p_value(draws, t / s) > FALSE_ALARM
    assert p_value(draws, 1.05 * t / s) < FALSE_ALARM
    assert p_value(draws, 0.95 * t / s) < FALSE_ALARM


def test_the_last_digits_of_large_noise_are_uniform():
    draws = discrete_laplace(2**40 + 1, 3, size=100_000)
    for digits in (16, 48):
        seen = np.bincount(draws % digits, minlength=digits)
        assert stats.chisquare(seen).pvalue > FALSE_ALARM


def test_each_element_has_its_own_scale():
    t, s = np.array([1, 5, 40, 100_000]), np.array([2, 2, 3, 7])
    draws = discrete_laplace(t, s, size=(50_000, 4))
    for column, scale in zip(draws.T, t / s):
        assert p_value(column, scale) > FALSE_ALARM
        assert p_value(column, 1.1 * scale) < FALSE_ALARM


def tail_p_value(draws, scale):
    """For scales so large that the chance of more, exp(-|z|/scale), is as good as uniform."""
    seen = np.histogram(np.exp(-np.abs(draws) / scale), bins=50, range=(0, 1))[0]
    signs = stats.binomtest(int((draws > 0).sum()), len(draws)).pvalue
    return 2 * min(stats.chisquare(seen).pvalue, signs)


def test_scales_that_all_differ():
    rng = np.random.default_rng(1)
    t, s = rng.integers(2**49, 2**50, 100_000), rng.integers(2**28, 2**29, 100_000)
    draws = discrete_laplace(t, s)
    assert tail_p_value(draws, t / s) > FALSE_ALARM
    assert tail_p_value(draws, 1.05 * t / s) < FALSE_ALARM


@pytest.mark.parametrize("t", [2**55 + 1, 2**62 - 1, 2**100 + 1])
def test_noise_beyond_int64_is_not_cut(t):
    draws = discrete_laplace(t, 1, size=20_000)
    assert (draws.dtype == object) == (t > 2**60)
    assert max(abs(int(z)) for z in draws) > 6 * t
    draws = np.array([float(z) for z in draws])
    assert tail_p_value(draws, float(t)) > FALSE_ALARM
    assert tail_p_value(draws, 1.15 * float(t)) < FALSE_ALARM


@pytest.mark.parametrize("t, s", [(2**62 + 1, 2**61 - 1), (2**100 + 1, 2**99)])
def test_small_scales_of_large_terms_follow_the_exact_law(t, s):
    draws = discrete_laplace(t, s, size=20_000)
    assert draws.dtype == np.int64
    assert p_value(draws, t / s) > FALSE_ALARM
    assert p_value(draws, 1.15 * t / s) < FALSE_ALARM


def test_large_terms_with_a_common_factor_are_reduced(monkeypatch):
    monkeypatch.setattr(noise, "discrete_laplace_reference", None)
    assert discrete_laplace(5 * 10**40, 10**40, size=10).dtype == np.int64


def test_the_reference_follows_the_exact_law():
    draws = [discrete_laplace_reference(5, 2, entropy.randbelow) for _ in range(20_000)]
    assert p_value(np.array(draws), 2.5) > FALSE_ALARM
    assert p_value(np.array(draws), 2.5 * 1.15) < FALSE_ALARM


def test_opendp_draws_from_the_same_law():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    theirs = np.array(dp.m.make_laplace(*space, scale=3.0)([0] * 50_000))

    def two_sample_p_value(ours):
        counts = [np.bincount(np.clip(z, -12, 12) + 12, minlength=25) for z in (ours, theirs)]
        return stats.chi2_contingency(counts).pvalue

    assert two_sample_p_value(discrete_laplace(3, 1, size=50_000)) > FALSE_ALARM
    assert two_sample_p_value(discrete_laplace(330, 100, size=50_000)) < FALSE_ALARM


# Enumeration: every path of the algorithm, with its exact chance.


class NeedsChoice(Exception):
    pass


def every_path(run, least):
    """Exact chance of each result of run(choose), over paths of chance >= least, and the rest."""
    law, rest, todo = Counter(), Fraction(0), [((), Fraction(1))]
    while todo:
        path, chance = todo.pop()
        ahead = iter(path)

        def choose(n, ahead=ahead):
            for choice in ahead:
                return choice
            raise NeedsChoice(n)

        try:
            law[run(choose)] += chance
        except NeedsChoice as needed:
            n = needed.args[0]
            if chance / n < least:
                rest += chance
            else:
                todo += [(path + (choice,), chance / n) for choice in range(n)]
    return law, rest


@pytest.mark.parametrize("t, s", [(1, 1), (2, 1), (1, 2), (3, 2)])
def test_all_paths_of_the_reference_add_up_to_the_law(t, s):
    law, rest = every_path(lambda choose: noise._reference_attempt(t, s, choose), least=1e-6)
    accepted = 1 - law.pop(None)  # and of this, at most `rest` is not

    def brackets(scale):
        ratio = math.exp(-1 / scale)
        for z in range(-3, 4):
            exact = (1 - ratio) / (1 + ratio) * ratio ** abs(z)
            yield law[z] / accepted <= exact <= (law[z] + rest) / (accepted - rest)

    assert all(brackets(t / s))
    assert not all(brackets(1.05 * t / s)) and not all(brackets(0.95 * t / s))


@pytest.mark.parametrize("t", [1, 2, 3, 5])
def test_all_paths_of_the_acceptance_add_up_to_its_chance(t, monkeypatch):
    for u in range(t):

        def run(choose, u=u):
            def below(bound, n):
                return np.array([choose(int(b)) for b in np.broadcast_to(bound, n)], np.int64)

            monkeypatch.setattr(noise, "below", below)
            return bool(noise._is_kept(np.array([u]), np.array([t]))[0])

        law, rest = every_path(run, least=1e-10)
        assert rest < 1e-5
        assert law[True] <= math.exp(-u / (16 * t)) <= law[True] + rest


def test_joined_digits_divide_into_the_law_of_the_scale():
    """Steps 2 and 3 of the proof, summed: u + t E over 16 s falls off by exp(-s/t) a step."""
    for t, s in [(1, 1), (3, 2), (5, 7)]:
        e = np.arange(16 * 40)
        u = np.arange(t)[:, None] + 0 * e
        whole = [np.broadcast_to(part, u.shape).reshape(-1) for part in (u, t, s, e)]
        y = noise._quotient(*whole)
        mass = np.bincount(y, weights=np.exp(-(whole[0] + t * whole[3]) / (16 * t)))
        steps = min(20, y.max() // 2)
        np.testing.assert_allclose(mass[1:steps] / mass[: steps - 1], math.exp(-s / t), rtol=1e-9)


@given(
    st.integers(1, 2**63 - 1).flatmap(lambda t: st.tuples(st.just(t), st.integers(0, t - 1))),
    st.integers(1, 2**63 - 1),
    st.integers(0, 10_000),
)
def test_the_quotient_is_that_of_unbounded_integers(term, s, e):
    t, u = term
    y = noise._quotient(*(np.array([part]) for part in (u, t, s, e)))
    assert int(y[0]) == (u + t * e) // (16 * s)


def exact_exp_floor(k, bits):
    with localcontext() as context:
        context.prec = 120
        return int((Decimal(-k) / 16).exp() * 2**bits)


@pytest.mark.parametrize("bits", [16, 64, 128])
def test_thresholds_are_the_exact_floors(bits):
    for k in range(1, 129):
        assert noise._exp_floor(k, bits) == exact_exp_floor(k, bits)


def test_each_of_the_16_bit_words_is_settled_rightly_or_left_open():
    floors = [2**16] + [exact_exp_floor(k, 16) for k in range(1, 129)]
    table = noise._short_table()
    for word in range(2**16):
        count = table[word]
        if word in floors:
            assert count == -1
        else:
            assert word < floors[count] and (count == 128 or word > floors[count + 1])


@pytest.mark.parametrize("k", [1, 17, 127])
@pytest.mark.parametrize("last_word, extra", [(0, 0), (2**64 - 1, -1)])
def test_open_words_are_settled_by_further_bits(k, last_word, extra, monkeypatch):
    floor = exact_exp_floor(k, 192)  # x agrees with exp(-k/16) in its first 128 bits
    low48 = (floor >> 128) % 2**48
    queue = [floor >> 176, low48 << 16, (floor >> 64) % 2**64, last_word]
    monkeypatch.setattr(
        noise, "words", lambda n, word: np.array([queue.pop(0) for _ in range(n)], word)
    )
    assert noise._fine_geometric(1).tolist() == [k + extra]
    assert not queue


def test_a_count_that_reaches_the_last_threshold_goes_on(monkeypatch):
    queue = [0, 0, 2**16 - 1]  # twice below every threshold, then above all
    monkeypatch.setattr(
        noise, "words", lambda n, word: np.array([queue.pop(0) for _ in range(n)], word)
    )
    assert noise._fine_geometric(1).tolist() == [128 + 128 + 0]


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 15, 17, 1000, 4095])
def test_every_word_counted_draws_below_a_bound_are_uniform(bound, monkeypatch):
    """Feed all words once; words that are drawn again get the word 0."""
    calls = []

    def words(n, word):
        calls.append(n)
        n_words = 2 ** (8 * word.itemsize)
        return np.arange(n_words).astype(word) if len(calls) == 1 else np.zeros(n, word)

    monkeypatch.setattr(entropy, "words", words)
    n = 256 if bound < 16 else 65536
    seen = np.bincount(entropy.below(bound, n), minlength=bound)
    expected = np.full(bound, n // bound)
    expected[0] += n % bound
    np.testing.assert_array_equal(seen, expected)


@pytest.mark.parametrize("bound", [2**40 + 1, 2**62 - 57, 2**63 - 1])
def test_large_bounds_keep_whole_blocks_only(bound, monkeypatch):
    whole = 2**64 // bound * bound
    queue = [whole - 1, whole, 2**64 - 1, 7, 8]
    monkeypatch.setattr(
        entropy, "words", lambda n, word: np.array([queue.pop(0) for _ in range(n)], word)
    )
    assert entropy.below(np.full(3, bound), 3).tolist() == [bound - 1, 7, 8]


def test_all_randomness_comes_from_the_operating_system(monkeypatch):
    def seeded():
        rng = np.random.default_rng(5)
        monkeypatch.setattr(os, "urandom", rng.bytes)
        return [discrete_laplace(7, 2, 1_000).tolist(), discrete_laplace(2**90, 1, 9).tolist()]

    assert seeded() == seeded()
    monkeypatch.undo()
    assert discrete_laplace(7, 2, 1_000).tolist() != discrete_laplace(7, 2, 1_000).tolist()


def test_the_source_has_no_float_no_division_and_no_pseudo_random_numbers():
    trees = [ast.parse(inspect.getsource(module)) for module in (entropy, noise)]
    modules, names = set(), set()
    for node in (node for tree in trees for node in ast.walk(tree)):
        assert not isinstance(getattr(node, "op", None), (ast.Div, ast.Pow))
        assert not isinstance(getattr(node, "value", None), (float, complex))
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(node.module)
        elif isinstance(node, (ast.Name, ast.Attribute)):
            names.add(node.id if isinstance(node, ast.Name) else node.attr)
    assert modules == {
        "__future__", "os", "functools", "typing", "numpy", "numpy.typing", "errors", "entropy",
    }  # fmt: skip
    for banned in ("random", "float", "exp", "log", "sqrt", "true_divide", "divide", "mean"):
        assert not any(name == banned or name.startswith(banned + "_") for name in names)
    assert not any("float" in name for name in names)


def test_shapes_broadcast():
    assert discrete_laplace(3, 2).shape == ()
    assert discrete_laplace([3, 4], [[1], [2], [3]]).shape == (3, 2)
    assert discrete_laplace(3, 2, size=0).shape == (0,)
    assert discrete_laplace([], []).shape == (0,)
    assert discrete_laplace(2**70, [1, 2], size=(3, 2)).shape == (3, 2)


@pytest.mark.parametrize(
    "bad", [0, -1, 1.5, float("nan"), "3", None, [1, 0], True, 2.0, Fraction(1, 2)]
)
def test_scales_that_are_no_positive_fraction_are_refused(bad):
    with pytest.raises(BadInputError):
        discrete_laplace(bad, 1)
    with pytest.raises(BadInputError):
        discrete_laplace(1, bad)
