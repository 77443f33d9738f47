"""Step B of the paper: everything that can be read from a release, by anybody."""
