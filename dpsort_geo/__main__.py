"""``python -m dpsort_geo`` is the command ``dpsort-geo``."""

from .cli import main

if __name__ == "__main__":
    main()
