"""Exact discrete Laplace noise: whole numbers only, from the operating system's entropy.

The target. For a scale t/s (whole t, s >= 1) the noise Z takes each whole number z with
probability proportional to exp(-|z| s/t). Added to a whole-number statistic of L1 sensitivity D it
gives eps-differential privacy for t/s = D/eps: moving the statistic by at most D changes every
probability by a factor of at most exp(D s/t) = exp(eps).

The sampler is that of Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential
Privacy" (2020), algorithms 1 and 2. Why its output has exactly this law, given draws that are
independent and exactly uniform ("weights" are probabilities up to a common factor):

1.  *exp(-g) from coins.* Flip coins of chance g/1, g/2, g/3, ... (0 <= g <= 1) and let K be the
    first to fail. P(K > k) = g^k/k!, so P(K odd) = 1 - g + g^2/2! - g^3/3! + ... = exp(-g). A coin
    of chance g/k is one of chance g and, independently, one of chance 1/k.
2.  *Joining digits.* For whole a >= 1 let U in 0..a-1 have weights exp(-U/(ab)) and, independently,
    E >= 0 have weights exp(-E/b). Then X = U + aE has weights exp(-X/(ab)) on 0, 1, 2, ...: each X
    comes from one pair, and the exponents add up. U is a uniform draw, kept with that chance.
3.  *Dividing.* If X >= 0 has weights exp(-X/m), then Y = floor(X/c) has weights exp(-Y c/m): each Y
    collects c consecutive X, whose weights are those of X = 0..c-1 times this factor.
4.  *Sign.* Give Y >= 0 a fair sign and start again on "minus zero": z and -z get the weight of |z|,
    0 gets that of 0 once.

`discrete_laplace_reference` takes a = t and b = 1 in (2) and c = s in (3): m = t, so Y has weights
exp(-Y s/t). There E counts successes of chance exp(-1) before a failure, each by (1).
The vectorised sampler takes b = 16 and c = 16 s: m = 16 t, again exp(-Y s/t). U is kept with
chance exp(-U/(16 t)) by (1), and 15 times in 16 one coin of chance 1/16 already says so. E, which
depends on no scale, is looked up: see `_fine_geometric`.

Nothing is truncated: what would not fit 64 bits is computed with Python's integers. Rejected
elements are drawn again, alone and from fresh bytes (`entropy`).
"""

from __future__ import annotations

from functools import cache
from typing import Any, Callable, Optional, Protocol, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInputError
from .entropy import below, randbelow, words

IntArray = NDArray[np.int64]
Size = Optional[Union[int, Tuple[int, ...]]]

_FINE = 16  # b in (2); more would save little and bring 64-bit overflow nearer
_LAST = 128  # thresholds in the tables; one draw in 3000 goes beyond
_SHORT, _LONG = np.dtype(np.uint16), np.dtype(np.uint64)
_LIMIT = 1 << 63  # of int64
_ROOM = 1 << 62  # of a draw in int64: adding a truth below 2^62 cannot wrap around


class Noise(Protocol):
    """What a mechanism asks for; `discrete_laplace` is the only one a release may be drawn with."""

    def __call__(self, numerator: Any, denominator: Any, size: Size = None) -> IntArray: ...


def discrete_laplace(numerator: Any, denominator: Any, size: Size = None) -> IntArray:
    """Draw exact discrete Laplace noise of scale numerator/denominator.

    Parameters
    ----------
    numerator, denominator : int or array_like of int
        The scale of each draw as a fraction of whole numbers >= 1; broadcast together.
    size : int or tuple of int, optional
        Shape of the result; by default that of the two scales.

    Returns
    -------
    ndarray of int64
        Independent draws, P(z) proportional to exp(-abs(z) * denominator / numerator). Draws too
        large for int64 come as an array of Python integers, never cut.

    Examples
    --------
    >>> discrete_laplace(5, 2, size=4).shape
    (4,)
    >>> int(discrete_laplace(1, 1000))  # the chance of anything but 0 is below exp(-999)
    0
    """
    t, s = np.broadcast_arrays(
        _whole_numbers(numerator, "numerator"), _whole_numbers(denominator, "denominator")
    )
    if size is not None:
        t, s = np.broadcast_to(t, size), np.broadcast_to(s, size)
    shape, t, s = t.shape, t.reshape(-1), s.reshape(-1)
    if object in (t.dtype, s.dtype):
        common = np.gcd(t, s)
        t, s = _narrow(t // common), _narrow(s // common)
    if object in (t.dtype, s.dtype):
        draws = [discrete_laplace_reference(int(a), int(b), randbelow) for a, b in zip(t, s)]
        noise = np.array(draws, dtype=object)
    else:
        noise = _sample(t, s)
    return _narrow(noise, _ROOM).reshape(shape)


def discrete_laplace_reference(
    numerator: int, denominator: int, randbelow: Callable[[int], int]
) -> int:
    """Draw one value with Python's integers: slow, of any size, easy to check by eye.

    Parameters
    ----------
    numerator, denominator : int
        The scale as a fraction of whole numbers >= 1.
    randbelow : callable
        ``randbelow(n)`` is uniform on 0..n-1, independent at each call.

    Examples
    --------
    >>> import secrets
    >>> discrete_laplace_reference(1, 1000, secrets.randbelow)
    0
    """
    while True:
        drawn = _reference_attempt(numerator, denominator, randbelow)
        if drawn is not None:
            return drawn


def _reference_attempt(t: int, s: int, randbelow: Callable[[int], int]) -> Optional[int]:
    def bernoulli_exp(part: int, whole: int) -> bool:
        k = 1
        while randbelow(whole) < part and randbelow(k) == 0:
            k += 1
        return k % 2 == 1

    u = randbelow(t)
    if not bernoulli_exp(u, t):
        return None
    e = 0
    while bernoulli_exp(1, 1):
        e += 1
    y = (u + t * e) // s
    minus = randbelow(2) == 1
    if minus and y == 0:
        return None
    return -y if minus else y


def _sample(t: IntArray, s: IntArray) -> NDArray[Any]:
    """One draw of scale t/s for each element; only the rejected ones are drawn again."""
    noise: NDArray[Any] = np.zeros(t.size, np.int64)
    todo = np.arange(t.size)
    while todo.size:
        value, accepted = _attempt(t[todo], s[todo])
        if value.dtype == object:
            noise = noise.astype(object)
        noise[todo[accepted]] = value[accepted]
        todo = todo[~accepted]
    return noise


def _attempt(t: IntArray, s: IntArray) -> Tuple[NDArray[Any], NDArray[np.bool_]]:
    """One round for each element: its signed value, and whether it counts."""
    u = below(t, t.size)
    y = _quotient(u, t, s, _fine_geometric(t.size))
    minus = below(2, t.size) == 1
    accepted = _is_kept(u, t) & ~(minus & (y == 0))
    return np.where(minus, -y, y), accepted


def _is_kept(u: IntArray, t: IntArray) -> NDArray[np.bool_]:
    """True with chance exp(-u / (16 t)) for each element, by the coins of (1)."""
    odd = np.ones(u.size, bool)
    alive = np.arange(u.size)
    k = 1
    while alive.size:  # the k-th coin: one of chance 1/(16 k) and one of chance u/t
        alive = alive[below(_FINE * k, alive.size) == 0]
        alive = alive[below(t[alive], alive.size) < u[alive]]
        k += 1
        odd[alive] = k % 2 == 1
    return odd


def _quotient(u: IntArray, t: IntArray, s: IntArray, e: IntArray) -> NDArray[Any]:
    """floor((u + t e) / (16 s)), with t = q s + r so that the product t e is never formed."""
    q, r = np.divmod(t, s)
    most = int(e.max())
    if most * int(q.max()) + int(t.max()) + most * int(r.max()) < _LIMIT:
        return (e * q + (u + e * r) // s) // _FINE
    wide: NDArray[Any] = (u.astype(object) + t.astype(object) * e) // (_FINE * s.astype(object))
    return wide


def _fine_geometric(n: int) -> IntArray:
    """n draws of weights exp(-E/16), E = 0, 1, 2, ...

    Let x be uniform on [0, 1) and E the number of k = 1, 2, ... with x < exp(-k/16); then
    P(E >= k) = exp(-k/16). Of x we draw as many bits as it takes: if w are its first b bits and
    f = floor(2^b exp(-k/16)), then w < f means x < exp(-k/16), w > f means x > exp(-k/16), and only
    w = f leaves it open. A table settles all but one draw in 500 by 16 bits; 64 bits settle nearly
    all the others. The count stops at 128: since P(E >= 128 + k) = exp(-8) P(E >= k), a draw that
    gets there adds a fresh one.
    """
    table, floors = _short_table(), _floors()
    drawn = np.zeros(n, np.int64)
    todo = np.arange(n)
    while todo.size:
        short = words(todo.size, _SHORT)
        count = table[short].astype(np.int64)
        still = np.flatnonzero(count < 0)
        first = short[still].astype(_LONG) << np.uint64(48)
        first |= words(still.size, _LONG) >> np.uint64(16)
        place = np.searchsorted(floors, first, side="right")
        count[still] = _LAST - place
        for tie in np.flatnonzero(floors[place - 1] == first):
            at = still[tie]
            count[at] += _lies_below(int(count[at]) + 1, int(first[tie]))
        drawn[todo] += count
        todo = todo[count == _LAST]
    return drawn


def _lies_below(k: int, first: int) -> bool:
    """Whether x < exp(-k/16) when its first 64 bits leave it open: draw on, 64 bits at a time."""
    bits = 64
    while first == (floor := _exp_floor(k, bits)):
        first = first << 64 | int(words(1, _LONG)[0])
        bits += 64
    return first < floor


@cache
def _short_table() -> NDArray[np.int16]:
    """The count for each 16 first bits of x; -1 where they leave it open."""
    floors = _floors() >> np.uint64(48)
    first = np.arange(1 << 16, dtype=_LONG)
    count = _LAST - np.searchsorted(floors, first, side="right")
    return np.where(np.isin(first, floors), -1, count).astype(np.int16)


@cache
def _floors() -> NDArray[np.uint64]:
    """floor(2^64 exp(-k/16)) for k = 128, ..., 1: ascending."""
    return np.array([_exp_floor(k, 64) for k in range(_LAST, 0, -1)], np.uint64)


def _exp_floor(k: int, bits: int) -> int:
    """floor(2^bits exp(-k/16)), exactly.

    The series alternates, and its terms shrink from the one with n >= k/16 on: from there the limit
    lies between any two partial sums in a row. These are kept as whole numbers over 16^n n!, not
    rounded. Once two have the same floor, it is that of the limit; this comes to pass, because
    exp(-k/16) is irrational.
    """
    total = term = whole = 1
    n, floor = 0, -1
    while True:
        n += 1
        term *= -k
        whole *= _FINE * n
        total = total * _FINE * n + term
        before, floor = floor, (total << bits) // whole
        if _FINE * n >= k and floor == before:
            return floor


def _whole_numbers(values: Any, name: str) -> NDArray[Any]:
    array = np.asarray(values)
    wide = array.dtype == object and all(isinstance(value, int) for value in array.reshape(-1))
    if array.size and not (wide or array.dtype.kind in "iu"):
        raise BadInputError(
            f"The {name} of the noise scale must be a whole number or an array of them."
        )
    if array.size and array.min() < 1:
        raise BadInputError(f"The {name} of the noise scale must be at least 1.")
    return _narrow(array)


def _narrow(values: NDArray[Any], limit: int = _LIMIT) -> NDArray[Any]:
    """As int64 if all values fit, else as Python integers."""
    fits = not values.size or (int(values.min()) >= -limit and int(values.max()) < limit)
    return values.astype(np.int64 if fits else object, copy=False)
