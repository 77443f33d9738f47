"""Shared by all tests: examples are not timed, because machines are busy at times."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
