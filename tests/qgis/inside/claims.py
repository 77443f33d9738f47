"""What the algorithms promise, tried in real QGIS. Run by ``test_algorithms.py``, not by pytest.

Names of tests, or of their classes, may be given; without any, all claims are tried.
"""

import os
import sys
import unittest
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

if __name__ == "__main__":
    chosen = unittest.TestSuite()
    for path in sorted(HERE.glob("claims_*.py")):
        found = unittest.defaultTestLoader.loadTestsFromModule(import_module(path.stem))
        for test in (test for group in found for test in group):
            if not sys.argv[1:] or any(name in test.id() for name in sys.argv[1:]):
                chosen.addTest(test)
    outcome = unittest.TextTestRunner(verbosity=2).run(chosen)
    sys.stdout.flush()
    sys.stderr.flush()
    # QGIS crashes when it is torn down with layers alive; there is nothing left to tear down
    os._exit(0 if outcome.wasSuccessful() else 1)
