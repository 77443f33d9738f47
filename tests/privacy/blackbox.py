"""A black-box auditor: how much privacy loss can be shown by running a mechanism many times?

It runs the mechanism on two neighbouring data sets, tells them apart by the best threshold on the
likelihood-ratio statistic (chosen on one half of the runs, judged on the other), and turns the
two error rates into a lower bound on epsilon with Clopper-Pearson limits. A bound above the
promised epsilon proves a hole; a bound below it proves nothing, so this is a smoke test.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import beta

from tests.privacy.replay import Replay

#: chance that the auditor accuses an honest mechanism
FALSE_ALARM = 1e-6


class InBulk:
    """A noise sampler that is called rarely, for many runs at once, and handed out call by call."""

    def __init__(self, noise, runs=5000):
        self.noise, self.runs, self.stock = noise, runs, {}

    def __call__(self, numerator, denominator, size):
        scale = [np.broadcast_to(np.asarray(part), size) for part in (numerator, denominator)]
        key = tuple(tuple(part.tolist()) for part in scale)
        if not self.stock.get(key):
            self.stock[key] = list(self.noise(*scale, (self.runs, size)))
        return self.stock[key].pop()


def shown_epsilon(publish, noise, one, other, runs, fixed=True):
    """Lower bound on epsilon from ``runs`` runs of ``publish(cells, noise)`` on each table.

    What a release says is forced onto both tables (see `replay`): that gives what each would have
    answered to the same questions, and so the likelihood ratio of this release. ``fixed`` says
    that the questions are the same in every run, so that one replay is enough.
    """
    noise, known, scores = InBulk(noise), None, []
    for cells in (one, other):
        score = np.empty(runs)
        for run in range(runs):
            values = _published(publish(cells, noise))
            asked = known or _asked(publish, values, one, other)
            known = asked if fixed else None
            rates, mine, yours = asked
            score[run] = (np.abs(values - yours) - np.abs(values - mine)) @ rates
        scores.append(score)
    return max(_bound(scores[0], scores[1]), _bound(-scores[1], -scores[0]))


def _asked(publish, values, one, other):
    truths = []
    for cells in (one, other):
        replay = Replay(outputs=values.tolist(), count=cells.n)
        publish(cells, replay)
        truths.append(np.array(replay.truths, np.int64))
    return np.array([float(rate) for rate in replay.rates]), *truths


def _published(release):
    """The published numbers in the order in which they were drawn."""
    order = {"adaptive": ["value"], "sort": ["sums"], "hybrid": ["counts", "sums"]}[release.kind]
    if release.measured.settings().get("variant") == 1:
        order = order[::-1]
    noisy_n = [release.n] if release.neighbours == "add-remove" else []
    parts = [noisy_n, *(release.measured.arrays()[name] for name in order)]
    return np.concatenate(parts).astype(np.int64)


def _bound(likely, unlikely):
    """Bound from the event score >= threshold, more probable under the first."""
    half = len(likely) // 2
    thresholds = np.unique(np.quantile(likely[:half], np.linspace(0.02, 0.98, 49)) - 1e-9)
    best = max(thresholds, key=lambda t: _ratio(likely[:half] >= t, unlikely[:half] >= t))
    return _ratio(likely[half:] >= best, unlikely[half:] >= best)


def _ratio(often, seldom):
    # Four limits are drawn in all (two directions, two rates): each may fail a quarter as often.
    level = FALSE_ALARM / 4
    hits, tries = int(often.sum()), often.size
    low = beta.ppf(level, hits, tries - hits + 1) if hits else 0.0
    hits, tries = int(seldom.sum()), seldom.size
    high = beta.isf(level, hits + 1, tries - hits) if hits < tries else 1.0
    return math.log(low / high) if low > 0 else -math.inf
