# make demo: a release, GeoJSON and a map page from data that comes with the project
# make test: everything, QGIS and the browser included (they need root once, to be installed)
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SYSTEM_PACKAGES := qgis python3-qgis chromium xvfb openbox xdotool

.PHONY: demo test lint bench audit clean system-packages

demo: $(VENV)/demo.stamp
	$(BIN)/dpsort-geo demo demo-output

test: $(VENV)/test.stamp system-packages lint
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(VENV)/test.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/test.stamp
	$(BIN)/python benchmarks/speed.py --quick
	$(BIN)/python benchmarks/arena.py --quick

audit: $(VENV)/test.stamp
	$(BIN)/python -m tests.privacy.audit

# Debian keeps venv in a package of its own
$(VENV)/bin/python:
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -qq && \
	  apt-get install -y -qq --no-install-recommends python3-venv >/dev/null; } || \
	  { echo "Python has no venv module; install python3-venv first."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[parquet]'
	touch $@

$(VENV)/test.stamp: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@ $(VENV)/demo.stamp

# Installed only where something is missing and we may; the tests that need them say so otherwise.
system-packages:
	@if dpkg --status $(SYSTEM_PACKAGES) >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	  apt-get install -y -qq --no-install-recommends $(SYSTEM_PACKAGES) >/dev/null; \
	else echo "Not root: the QGIS and browser tests will be skipped."; fi

clean:
	rm -rf $(VENV) build dist demo-output test-output *.egg-info
