"""Step B of the paper: what anybody can read from a release."""
