# make demo:  a release, GeoJSON and a map page from data that comes with the project
# make quick: the tests that need neither QGIS nor a browser nor a minute
# make test:  everything, QGIS and the browser included (they need root once, to be installed)
PYTHON ?= python3
VENV ?= .venv
# for example NUMPY='==1.24.*'; empty takes what pip takes
NUMPY ?=
BIN := $(VENV)/bin
SYSTEM_PACKAGES := qgis python3-qgis chromium xvfb openbox xdotool postgresql postgresql-postgis \
  default-jre-headless strace iproute2
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile
QUICK := '(not slow and not qgis and not browser)'

.PHONY: demo quick test test-oldest qgis-new lint docs upload-check bench audit clean system-packages

demo: $(VENV)/demo.stamp
	$(BIN)/dpsort-geo demo demo-output

quick: $(VENV)/test.stamp
	$(PYTEST) -m $(QUICK)

# lines are counted in the quick tests only: counting doubles the time of the long loops of statistics
test: $(VENV)/test.stamp system-packages lint
	$(PYTEST) -m $(QUICK) --cov --cov-report=term:skip-covered
	$(PYTEST) -m 'slow or qgis or browser'

# the quick tests with the lowest versions that pyproject allows; old shapely warns of empty polygons
test-oldest:
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet uv
	$(VENV)-oldest/bin/uv pip install --quiet --python $(VENV)-oldest/bin/python --resolution lowest-direct \
	  --only-binary :all: --no-binary dpsort-geo --no-binary pyspark --editable '.[test]'
	$(VENV)-oldest/bin/python -m pytest -n 2 --dist loadfile -m $(QUICK) -W default::RuntimeWarning

# by hand, as root: the claims and the tour in QGIS 3.40 and in that of Debian testing, in a chroot
qgis-new:
	tests/qgis/newer.sh trixie /var/tmp/dpsort-qgis
	tests/qgis/newer.sh forky /var/tmp/dpsort-qgis

lint: $(VENV)/test.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/vulture

# in build/site; fails for links and anchors that lead nowhere
docs: $(VENV)/test.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# refuses while addresses are blank that whoever uploads has to fill in
upload-check: $(VENV)/bin/python
	$(BIN)/python qgis_plugin/upload_check.py

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
	$(BIN)/python -m pip install --quiet --editable '.[parquet,plot]'
	touch $@

$(VENV)/test.stamp: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[test]' 'numpy$(NUMPY)'
	touch $@ $(VENV)/demo.stamp

# Installed only where something is missing and we may; the tests that need them say so otherwise.
system-packages:
	@if dpkg --status $(SYSTEM_PACKAGES) >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	  apt-get install -y -qq --no-install-recommends $(SYSTEM_PACKAGES) >/dev/null; \
	else echo "Not root: the QGIS and browser tests will be skipped."; fi

clean:
	rm -rf $(VENV) build dist demo-output test-output *.egg-info .coverage
