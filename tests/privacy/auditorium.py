"""An outside check: DP-Auditorium's testers on `dp.publish` itself, run by hand.

DP-Auditorium is somebody else's auditor (github.com/google/differential-privacy, folder
python/dp_auditorium). Its two testers for pure or approximate DP are run unchanged: one counts
outputs in a histogram, one trains a classifier to tell two data sets apart. They get what
`dp.publish` publishes, thousands of times each, for two neighbouring data sets. A property that
holds must not be rejected; half of the noise must be.

    pip install tensorflow-cpu absl-py etils typing-extensions
    PYTHONPATH=.:path/to/python/dp_auditorium python -m tests.privacy.auditorium [runs]
"""

from __future__ import annotations

import importlib.util
import math
import sys
import types
import warnings

import numpy as np


def _without_generators(name: str) -> None:
    """The package, without the parts of it that need services: generators of data sets."""
    found = importlib.util.find_spec(name)
    if found is None or not found.submodule_search_locations:
        raise SystemExit(f"{name} is not on PYTHONPATH; see the docstring.")
    package = types.ModuleType(name)
    package.__path__ = list(found.submodule_search_locations)
    sys.modules[name] = package


for _name in ("dp_auditorium", "dp_auditorium.testers"):
    _without_generators(_name)

from dp_auditorium.configs import privacy_property, property_tester_config
from dp_auditorium.testers import histogram_tester, hockey_stick_tester

import dpsort_geo as dp

DOMAIN = dp.Domain.from_bounds((0, 0, 4, 4), crs="EPSG:3857", order=1)
ONE = np.array([[0.5, 0.5], [0.6, 0.5], [3.5, 3.5]])
#: one point replaced, or one point less: the last along the curve, as the first is worth nothing in
#: a sorted sequence that is filled up with zeros
REPLACED, REMOVED = np.array([[0.5, 0.5], [3.6, 3.6], [3.5, 3.5]]), ONE[:2]
OTHER = {"replace": REPLACED, "add-remove": REMOVED}
#: chance that an honest mechanism is accused by one tester
FALSE_ALARM = 1e-6
#: delta: what a tester may take for pure DP
DELTA = 0.0


def samples(
    points: np.ndarray, epsilon: str, method: str, neighbours: str, runs: int
) -> np.ndarray:
    """Noisy integers of many releases, one row a release."""
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(runs):
            release = dp.publish(points, epsilon, DOMAIN, method=method, neighbours=neighbours)
            values = release.measured.arrays()
            noisy = np.concatenate([values[k] for k in ("counts", "value", "sums") if k in values])
            # the first answers of a tree; the end of a sequence, which is as long as the noisy n
            shown = noisy[:4] if "sums" not in values else noisy[-4:]
            rows.append([*[0] * (4 - shown.size), *shown, release.n])
    return np.array(rows, float)


def histogram(one: np.ndarray, other: np.ndarray, epsilon: float) -> tuple[float, bool]:
    """The lower bound on delta at this epsilon by counting outputs along the mean difference."""
    along = one.mean(0) - other.mean(0)
    along /= np.linalg.norm(along) or 1.0
    config = property_tester_config.HistogramPropertyTesterConfig(
        test_discrete_mechanism=False, histogram_size=6, min_value=-6.0, max_value=6.0,
        approximate_dp=privacy_property.ApproximateDp(epsilon=epsilon, delta=DELTA),
    )  # fmt: skip
    tester = histogram_tester.HistogramTester(config)
    bound = tester.estimate_lower_bound(one @ along, other @ along, FALSE_ALARM)
    return bound, tester.reject_property(bound)


def classifier(one: np.ndarray, other: np.ndarray, epsilon: float) -> tuple[float, bool]:
    """The lower bound on delta at this epsilon by a trained classifier."""
    config = property_tester_config.HockeyStickPropertyTesterConfig(
        training_config=hockey_stick_tester.make_default_hs_training_config(),
        approximate_dp=privacy_property.ApproximateDp(epsilon=epsilon, delta=DELTA),
    )
    model = hockey_stick_tester.make_default_hs_base_model()
    tester = hockey_stick_tester.HockeyStickPropertyTester(config, model)
    bound = tester.estimate_lower_bound(one, other, FALSE_ALARM)
    return bound, tester.reject_property(bound)


def main(runs: int, methods: tuple[str, ...] = ("adaptive", "sort", "hybrid")) -> int:
    """One row a case; exit code 1 when an honest release is rejected or a dishonest one is not."""
    wrong = 0
    print(f"{runs} releases of each data set, false alarm {FALSE_ALARM:g} a row")
    print("mechanism, neighbours, published at, tested for, tester, lower bound of delta, rejected")
    for method in methods:
        for neighbours, other in OTHER.items():
            # a release at four times the epsilon that is tested for has a quarter of the noise
            for published, tested in (("1", 1.0), ("4", 1.0)):
                a, b = (samples(p, published, method, neighbours, runs) for p in (ONE, other))
                found = [histogram(a, b, tested), classifier(a, b, tested)]
                for name, (bound, rejected) in zip(("histogram", "classifier"), found):
                    print(f"{method}, {neighbours}, {published}, {tested:g}, {name}, "
                          f"{bound:.4f}, {rejected}", flush=True)  # fmt: skip
                honest = math.isclose(float(published), tested)
                wrong += any(r for _, r in found) if honest else not any(r for _, r in found)
    print("as expected" if not wrong else f"{wrong} cases are not as expected")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 8_000))
