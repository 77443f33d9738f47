"""Classes of a legend: few, with limits that people can read."""

import math

import numpy as np

#: more classes than these are not told apart by eye
MOST = 5


def rounded(value, digits=1):
    """A number with so many digits.

    >>> rounded(1234.0), rounded(0.0456, 2)
    (1000.0, 0.046)
    """
    if not value or not math.isfinite(value):
        return 0.0
    return float(round(value, digits - 1 - math.floor(math.log10(abs(value)))))


def class_limits(values, most=MOST):
    """Limits of classes with about as many values each: round, rising, around all values.

    >>> class_limits([1.0, 12.0, 55.0])
    [1.0, 10.0, 60.0]
    """
    known = np.sort([value for value in values if math.isfinite(value)])
    if not known.size:
        return [0.0, 1.0]
    count = min(most, len(np.unique(known)))
    inner = np.quantile(known, np.linspace(0, 1, count + 1)[1:-1])
    for digits in (1, 2, 3):
        limits = [_down(float(known[0]), digits)]
        limits += [rounded(float(value), digits) for value in inner]
        limits.append(_up(float(known[-1]), digits))
        rising = sorted(set(limits))
        if len(rising) == count + 1:
            break
    if len(rising) > 1 and 0 < rising[0] < rising[1] / 10:
        rising[0] = 0.0  # nearly nothing is read as nothing
    return rising if len(rising) > 1 else [rising[0], rising[0] + 1.0]


def _down(value, digits):
    near = rounded(value, digits)
    return near if near <= value else near - _step(value, digits)


def _up(value, digits):
    near = rounded(value, digits)
    return near if near >= value else near + _step(value, digits)


def _step(value, digits):
    return 10.0 ** (math.floor(math.log10(abs(value))) + 1 - digits) if value else 0.0


def log_steps(top, count):
    """Round numbers up to ``top`` over three powers of ten, with equal factors between them.

    >>> log_steps(1000.0, 3)
    [10.0, 100.0, 1000.0]
    """
    exact = [top / 1000 ** (1 - (step + 1) / count) for step in range(count)]
    return [rounded(value, 1 if count <= 3 else 2) for value in exact]
