"""What the algorithms promise, tried in real QGIS. Run by ``test_algorithms.py``, not by pytest.

Names of tests, or of their classes, may be given; without any, all claims are tried. Each gets the
noise of its own name, the same every day; the desktop tour and qgis_process draw theirs.
"""

import os
import sys
import unittest
import zlib
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


class Steady(unittest.TextTestResult):
    """Gives each test the entropy of its own name."""

    def startTest(self, test):
        entropy = import_module("dpsort_qgis._vendor.dpsort_geo.private.entropy")
        rng = np.random.default_rng(zlib.crc32(test.id().encode()))
        entropy.os = SimpleNamespace(urandom=rng.bytes)
        super().startTest(test)


if __name__ == "__main__":
    chosen = unittest.TestSuite()
    for path in sorted(HERE.glob("claims_*.py")):
        found = unittest.defaultTestLoader.loadTestsFromModule(import_module(path.stem))
        for test in (test for group in found for test in group):
            if not sys.argv[1:] or any(name in test.id() for name in sys.argv[1:]):
                chosen.addTest(test)
    outcome = unittest.TextTestRunner(verbosity=2, resultclass=Steady).run(chosen)
    sys.stdout.flush()
    sys.stderr.flush()
    # QGIS crashes when it is torn down with layers alive; there is nothing left to tear down
    os._exit(0 if outcome.wasSuccessful() else 1)
