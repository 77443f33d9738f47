"""Step A of the paper: the only code that sees private points."""
